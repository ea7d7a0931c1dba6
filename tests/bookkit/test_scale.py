"""The page on scale names every experiment of the papers and every stored table."""

import json
import re
import shlex
from functools import partial

import pytest
from scipy import stats

from bookkit import run, scale
from bookkit.chapters import ROOT
from bookkit.register import load_register
from bookkit.results import fingerprint, load
from bookkit.scale import stored_tables

OF_NO_PAPER = {
    "beyond/from_flatness_to_counting.rungs",
}
LISTED = scale.load_scale()


def test_every_stored_table_is_told_once_and_none_that_is_missing():
    told = [name for experiment in LISTED for name in experiment.stored]
    assert len(told) == len(set(told))
    assert set(told) == set(scale.stored_tables(ROOT / "results")) - OF_NO_PAPER


def test_every_experiment_of_a_paper_is_listed():
    rows = [e for paper, rows in load_register().items() if not paper.own for e in rows]
    owed = {e.id for e in rows if e.kind == "experiment"}
    parts = {part.id: e.id for e in rows for part in e.parts}
    listed = {parts.get(e.id, e.id) for e in LISTED}
    figures_of_one_run = {"lengthfree.fig2", "lengthfree.fig3", "variables.fig2_right"}
    without_a_size = {"sharper.appA", "sharper.rem3"}
    assert owed - figures_of_one_run - without_a_size <= listed
    ours = {e.id for paper, rows in load_register().items() if paper.own for e in rows}
    assert {e.id for e in LISTED} <= {e.id for e in rows} | set(parts) | ours


def test_a_section_has_a_line_for_each_and_the_commands_of_what_is_stored():
    made = scale.section("variables")
    assert made.count("\n| {doc}") == 2
    assert "bookkit.run variables/sample_complexity_of_and --preset paper" in made
    stored = ROOT / "results" / "variables" / "sample_complexity_of_and.trials.json"
    assert f"({scale.took(json.loads(stored.read_text())['seconds'])})" in made


@pytest.mark.parametrize("part", ["nothing", *sorted({e.id.split(".")[0] for e in LISTED})])
def test_commands_are_told_where_something_is_stored(part):
    stored = any(e.stored for e in LISTED if e.id.startswith(f"{part}."))
    assert ("Commands of what is stored" in scale.section(part)) == stored


def test_times_are_told_as_a_reader_wants_them():
    assert [scale.took(v) for v in (40, 720, 5040, 5400)] == ["40 s", "12 min", "84 min", "1.5 h"]


def test_the_size_of_a_page_is_that_of_its_parameters():
    (one,) = (e for e in LISTED if e.id == "sensitive.fig3")
    rows = {e.id: e for rows in load_register().values() for row in rows for e in (row, *row.parts)}
    entry = rows[one.id]
    assert re.match(r"\d+ bits, \d+ columns, \d+ steps", scale.size_of_page(one, entry))
    wrong = scale.Experiment("a.b", "", "{bits} bits")
    with pytest.raises(
        ValueError, match=r"a\.b: sensitive/training_dynamics has no parameter 'bits'"
    ):
        scale.size_of_page(wrong, entry)
    lists = scale.Experiment("a.b", "", "{decays}")
    assert scale.size_of_page(lists, entry).endswith(" and 0.3")


@pytest.mark.parametrize(
    "text", ["a.b: {size: 20}", "a.b: {paper: 20}", "a.b: {paper: 20, page: 3, cost: 3}"]
)
def test_a_list_with_an_unknown_field_is_refused_by_name(tmp_path, text):
    file = tmp_path / "scale.yml"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"a\.b needs 'paper' and 'page'"):
        scale.load_scale(file)


def test_an_experiment_needs_no_more_than_two_sizes(tmp_path):
    file = tmp_path / "scale.yml"
    file.write_text("a.b: {paper: 20 bits, page: 3 bits}")
    assert scale.load_scale(file) == [scale.Experiment("a.b", "20 bits", "3 bits")]


STORED = stored_tables(ROOT / "results")


@pytest.mark.parametrize("name", STORED)
def test_a_command_that_the_page_prints_is_one_that_the_runner_takes(name):
    python, flag, module, *words = shlex.split(STORED[name]["command"])
    assert (python, flag, module) == ("python", "-m", "bookkit.run")
    assert run.main([*words, "--check"]) in (0, 1)


def table_of(results, seed, losses):
    """A stored table as a run of that seed would leave it, in place of the one before."""
    text = "n,seed,loss\n" + "".join(f"{n},{seed},{loss}\n" for n, loss in losses)
    (results / "part").mkdir(parents=True, exist_ok=True)
    (results / "part" / "chapter.runs.csv").write_text(text)
    (results / "part" / "chapter.runs.json").write_text(json.dumps(fingerprint(text)))


def test_runs_with_other_seeds_are_compared_setting_by_setting(tmp_path, monkeypatch, capsys):
    compared = {"part/chapter.runs": {"of": "loss", "by": ["n"], "where": "n > 2"}}
    compared["part/chapter.runs"]["called"] = "loss, $n$ = {n}"
    listed = [scale.Experiment("a.b", "", "", compare=compared)]
    monkeypatch.setattr(scale, "load_scale", lambda: listed)
    monkeypatch.setattr(scale, "load", partial(load, folder=tmp_path))
    monkeypatch.setattr(scale, "FIRST", tmp_path / "first_seeds.csv")
    table_of(tmp_path, 0, [(2, 9), (4, 1), (4, 3), (6, 5)])
    for _ in range(2):  # written twice, it stands there once
        assert scale.main(["part/chapter.runs"]) == 0
    assert len(scale.FIRST.read_text().splitlines()) == 3
    assert "loss" not in scale.replications()  # not made anew yet: it would equal itself
    table_of(tmp_path, 1, [(2, 9), (4, 5), (4, 7), (6, 83500)])
    made = scale.replications()
    four, six = (line for line in made.splitlines() if "$n$ = " in line)
    assert "| loss, $n$ = 4 | 2 (2) | 6 (2) | 2.8 standard errors |" in four
    assert "| 5 (1) | 83,500 (1) | no standard error |" in six
    assert "Of 1 settings with several runs, 0 differ by 3 or more." in made
    table_of(tmp_path, 2, [(4, 6), (4, 8), (6, 5)])
    (named,) = (line for line in scale.replications().splitlines() if line.startswith("- "))
    expected = stats.ttest_ind([1, 3], [6, 8], equal_var=False).pvalue
    assert named == f"- loss, $n$ = 4 (3.5 standard errors, $p$ = {expected:.2g})"
    assert scale.main(["part/chapter.others"]) == 2
    assert "no stored table 'part/chapter.others'" in capsys.readouterr().err
    (tmp_path / "part" / "chapter.runs.csv").unlink()
    with pytest.raises(ValueError, match=r"first_seeds\.csv tells of part/chapter\.runs"):
        scale.replications()


def test_no_column_name_and_no_raw_number_stands_among_the_replications():
    made = scale.replications()
    assert made.count("\n|") > 100
    told = re.sub(r"\{(doc|div|dropdown)\}|`[^`]*`|\$[^$]*\$", "", made)
    assert not re.findall(r"\w_\w|\de[+-]\d|(?<!')\b[b-zB-Z]\b|[{}]| (?:at|=) \w+ = ", told)
