"""A report as a figure, as a Series and as JSON."""

import dataclasses
import json
import math

import matplotlib.pyplot as plt
import pytest
from torch import nn

from helpers.probe import Measured, probe
from helpers.probe.bounds import strings_asked


@pytest.fixture(scope="module")
def report():
    return probe(nn.Linear(3, 1), 3, "first", samples=16, draws=2)


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_a_figure_shows_what_was_measured(report):
    fig = report.figure()
    assert [ax.get_xlabel() for ax in fig.axes] == ["position", "degree", "step in the weights"]
    bars = [[bar.get_height() for bar in ax.patches] for ax in fig.axes[:2]]
    assert bars[0] == pytest.approx(report.influences)
    assert bars[1] == pytest.approx(report.weight_by_degree)
    x, y = fig.axes[2].lines[0].get_data()
    assert list(x) == list(report.direction_sharpness)
    assert list(y) == [m.value for m in report.direction_sharpness.values()]
    fig.draw_without_rendering()


def test_what_was_not_measured_has_no_panel():
    report = probe(lambda x: x.prod(-1), 21, samples=30)
    assert "weight by degree" not in dict(report.rows())
    fig = report.figure()
    assert fig.axes[0].get_ylim()[1] == pytest.approx(1.05 * max(report.influences))
    assert [ax.get_xlabel() for ax in fig.axes] == ["position"]
    assert len(probe(lambda x: x.prod(-1), 1).figure().axes) == 2


def test_a_zero_is_said_and_what_is_not_finite_is_refused(report):
    still = {0.0: Measured(0.0), 0.1: Measured(0.0), 1.0: Measured(2.0, 0.1)}
    fig = dataclasses.replace(report, direction_sharpness=still).figure()
    titles = [fig.axes[2].get_title(where) for where in ("left", "center", "right")]
    assert "2 of 3 are 0" in titles  # where a style puts it
    for field, value in [
        ("influences", (0.1, math.nan, 0.2)),
        ("direction_sharpness", {0.1: Measured(math.inf)}),
        ("direction_sharpness", {0.1: Measured(1.0, math.nan)}),
    ]:
        with pytest.raises(ValueError, match=r"must be finite to be drawn, got (nan|inf)"):
            dataclasses.replace(report, **{field: value}).figure()


def test_a_series_has_every_number_under_its_name(report):
    found = report.series()
    assert found["influences, x1"] == report.influences[0]
    assert found["weight by degree, 0"] == report.weight_by_degree[0]
    assert found["direction sharpness, 0.1"] == report.direction_sharpness[0.1].value
    assert found["direction sharpness, 0.1, error"] == report.direction_sharpness[0.1].error
    assert found["error rate, low"] == report.error_rate[1]
    assert found["trace, Gauss-Newton, all"] == report.trace["Gauss-Newton, all"].value
    assert found["norms, all weights"] == report.norms["all weights"]


def test_json_has_no_number_that_json_has_not(report):
    odd = dataclasses.replace(report, blow_up={"norm": (math.inf, 1.0)})
    text = json.dumps(odd.as_dict(), allow_nan=False)
    assert json.loads(text)["blow_up"] == {"norm": ["inf", 1.0]}


def test_the_table_names_the_four_largest_influences_first(report):
    moved = dataclasses.replace(report, influences=(0.1, 0.5, 0.3, 0.2, 0.4))
    assert dict(moved.rows())["largest influences"] == "x2: 0.5, x5: 0.4, x3: 0.3, x4: 0.2"


def test_a_series_tells_the_largest_blow_up_from_the_mean():
    found = probe(nn.Sequential(nn.LayerNorm(3), nn.Linear(3, 1)), 3, samples=16, draws=2)
    series = found.series()
    ends = [name.rpartition(", ")[2] for name in series.index if name.startswith("blow up")]
    assert ends == ["largest", "mean"]


def test_a_part_that_is_called_all_keeps_its_norm():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.all, self.out = nn.Linear(3, 2), nn.Linear(2, 1)

        def forward(self, x):
            return self.out(self.all(x))

    model = Model()
    report = probe(model, 3, samples=16, draws=2)
    sizes = {
        k: sum(p.square().sum().item() for p in m.parameters()) for k, m in model._modules.items()
    }
    assert report.norms["all"] == pytest.approx(math.sqrt(sizes["all"]))
    assert report.norms["all weights"] == pytest.approx(math.sqrt(sum(sizes.values())))
    asked = report.not_applicable["P1, Theorem 2"]
    assert (
        f"{strings_asked(sum(sizes.values()), report.trace['Gauss-Newton, all'].value):.2g}"
        in asked
    )
