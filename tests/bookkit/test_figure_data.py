"""A figure's files: its numbers read from the axes, and a drawing that is the same each time."""

import csv
import io
import re

import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("agg")

import matplotlib.pyplot as plt

from bookkit import figures
from bookkit.figure_data import as_csv


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def drawn():
    """A figure with a mark of every kind."""
    figure, (left, middle, right) = figures.new(1, 3)
    left.set_title("Both\nsides")
    left.plot([1, 2, 3], figures.gaps([1 / 3, np.nan, 3e7]), label="a curve")
    figures.level(left, 2)
    figures.interval(left, [1, 2], [0, -1], [1, 2], label="between")
    left.errorbar([1, 2], [5, 6], yerr=[[1, 2], [3, 4]], label="mean", capsize=2)
    middle.bar(["u", "v"], [1, -2], label="bars")
    middle.bar(["u"], [4], bottom=[1])
    middle.scatter([0, 1], [1, 2], c=[0.1, 0.2])
    middle.errorbar([1], [2], xerr=0.5, yerr=0.25, fmt="none")
    middle.hlines([7], 0, 1)
    ratios = pd.DataFrame([[1.0, 100.0]], index=["r"], columns=["p", "q"])
    figures.ratio_map(right, ratios, "Ratios", ("", ""))
    figure.colorbar(right.images[0], ax=right, label="the logarithm")
    return figure


ROWS = """\
Both sides,error bar of y,mean,1,5,4,8,
Both sides,error bar of y,mean,2,6,4,10,
Both sides,line,a curve,1,0.333333,,,
Both sides,line,a curve,3,3e+07,,,
Both sides,line,,,2,,,
Both sides,band,between,1,,0,1,
Both sides,band,between,2,,-1,2,
panel 2,bar,bars,u,1,,,
panel 2,bar,bars,v,-2,,,
panel 2,bar,,u,5,1,5,
panel 2,error bar of x,,1,2,0.5,1.5,
panel 2,error bar of y,,1,2,1.75,2.25,
panel 2,point,,0,1,,,0.1
panel 2,point,,1,2,,,0.2
panel 2,segment,,0,7,,,
panel 2,segment,,1,7,,,
Ratios,cell,,p,r,,,0
Ratios,cell,,q,r,,,2
"""


def test_every_mark_is_a_row():
    assert as_csv(drawn()) == f"panel,kind,series,x,y,low,high,value\n{ROWS}"


def test_columns_that_a_figure_does_not_use_are_left_out():
    _, ax = figures.new()
    ax.plot([0, 1], [2, 3], label="one, two")
    assert as_csv(plt.gcf()) == (
        'panel,kind,series,x,y\npanel 1,line,"one, two",0,2\npanel 1,line,"one, two",1,3\n'
    )


def test_an_image_is_read_in_its_own_coordinates():
    _, (upper, lower) = figures.new(1, 2)
    upper.imshow(figures.gaps([[1.0, 2.0], [3.0, np.nan]]))
    lower.imshow([[1.0], [2.0]], origin="lower", extent=(0, 4, 10, 20))
    rows = [row[3:] for row in csv.reader(io.StringIO(as_csv(plt.gcf())))][1:]
    assert rows[:3] == [["0", "0", "1"], ["1", "0", "2"], ["0", "1", "3"]]
    assert rows[3:] == [["2", "12.5", "1"], ["2", "17.5", "2"]]


def test_what_is_cut_says_so():
    lines = as_csv(drawn(), most=3).splitlines()
    assert lines[1:4] == ROWS.splitlines()[:3]
    assert lines[4:] == ["These are the first 3 of 18 rows."]


@pytest.fixture
def shown(monkeypatch):
    """What a notebook is given to show."""
    found = []
    monkeypatch.setattr("IPython.get_ipython", lambda: object())
    monkeypatch.setattr("IPython.display.display", lambda data, raw: found.append(data))
    return found


def test_a_figure_is_the_same_bytes_each_time_and_leads_nowhere(shown):
    for _ in range(2):
        drawn()
        figures.show()
    assert shown[0] == shown[1]
    assert sorted(shown[0]) == ["image/png", "image/svg+xml", "text/csv", "text/plain"]
    svg = shown[0]["image/svg+xml"]
    assert svg.startswith("<svg")
    assert not re.search(r"<script|<metadata|<text|<![A-Z]|\bon\w+=|url\((?!#)|@import", svg)
    assert set(re.findall(r'href="(#|data:image/png|.)', svg)) == {"#", "data:image/png"}
    addresses = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"\w+://[^\"]+", svg)) == addresses
    ground = svg.partition("<path")[2].partition("/>")[0]
    assert 'style="fill: #ffffff"' in ground, "opaque, in the dark too"


def test_a_figure_whose_drawing_is_too_large_is_stored_as_a_sharp_picture(shown, monkeypatch):
    sizes = []
    for largest in (figures.LARGEST, 1000):
        monkeypatch.setattr(figures, "LARGEST", largest)
        drawn()
        figures.show()
        sizes.append(len(shown[-1]["image/png"]))
    assert "image/svg+xml" not in shown[1]
    assert shown[1]["text/csv"] == shown[0]["text/csv"]
    assert sizes[1] > 1.3 * sizes[0]
