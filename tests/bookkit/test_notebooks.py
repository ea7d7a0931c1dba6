"""Lint of the stored notebooks: what strict nbval cannot see. Needs no kernel."""

from __future__ import annotations

import ast
import contextlib
import re
from pathlib import Path

import jupytext
import nbformat
import pytest

from bookkit.chapters import Chapter, every_chapter, read_record
from bookkit.claims import Claim
from bookkit.findings import load_findings
from bookkit.maps import reading_order
from bookkit.register import every_entry
from tests.order import pytest_collection_modifyitems, seconds

CHAPTERS = every_chapter()


@pytest.fixture(params=CHAPTERS, ids=lambda c: c.name)
def chapter(request) -> Chapter:
    return request.param


@pytest.fixture
def notebook(chapter):
    assert chapter.notebook.exists(), f"{chapter.name} was never executed: make run"
    return nbformat.read(chapter.notebook, 4)


def code_cells(notebook):
    return [c for c in notebook.cells if c.cell_type == "code"]


def page_metadata(cell):
    """What the page shows by; Jupytext adds how many blank lines follow a cell."""
    return {k: v for k, v in cell.metadata.items() if k != "lines_to_next_cell"}


def test_there_are_chapters():
    assert len(CHAPTERS) >= 6


def test_the_pair_is_in_sync(chapter, notebook):
    source = jupytext.read(chapter.source)
    assert [c.source for c in notebook.cells] == [c.source for c in source.cells]
    assert [page_metadata(c) for c in notebook.cells] == [page_metadata(c) for c in source.cells]
    assert notebook.metadata.jupytext.formats == "ipynb,py:percent"


def test_the_cells_were_run_in_order_without_error(notebook):
    cells = code_cells(notebook)
    assert [c.execution_count for c in cells] == list(range(1, len(cells) + 1))
    assert all(o.output_type != "error" for c in cells for o in c.outputs)


def test_the_key_is_current(chapter, notebook):
    assert notebook.metadata.book.parameters == {}, "the book shows a chapter's own parameters"
    assert chapter.stale() == [], f"{chapter.name} is stale: make run"


def test_no_cell_shows_an_object_that_it_happened_to_return(notebook):
    """A cell's last value is printed with all its digits, compared, and shown to readers."""
    shown = [
        o for c in code_cells(notebook) for o in c.outputs if o.output_type == "execute_result"
    ]
    assert not shown, f"the last line of a cell returns {shown[0].data['text/plain'][:60]}"


def test_no_cell_warns(notebook):
    for cell in code_cells(notebook):  # a warning names files of the machine that it came from
        assert not [o.text for o in cell.outputs if o.get("name") == "stderr"]


def test_every_number_of_the_prose_comes_from_the_run(notebook):
    outputs = [o for c in code_cells(notebook) for o in c.outputs]
    glued = {
        o.metadata["scrapbook"]["name"] for o in outputs if "scrapbook" in o.get("metadata", {})
    }
    prose = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    assert set(re.findall(r"\{glue:text\}`(\w+)[:`]", prose)) <= glued


def test_no_text_for_the_prose_is_taken_for_a_list(notebook):
    """The page reads "21,701" as Python does, as two numbers, and would show them in brackets."""
    read_as_a_list = {}
    for output in (o for c in code_cells(notebook) for o in c.outputs):
        name = output.get("metadata", {}).get("scrapbook", {}).get("name")
        text = output.data["application/papermill.record/text/plain"] if name else ""
        with contextlib.suppress(SyntaxError, ValueError):
            if isinstance(ast.literal_eval(text), (tuple, list, dict, set)):
                read_as_a_list[name] = text
    assert not read_as_a_list


def test_every_parameter_has_a_word_on_it(chapter):
    assert all(p.comment for p in chapter.parameters.values())


def test_every_figure_has_a_caption_a_name_and_an_alternative_text(notebook):
    for cell in code_cells(notebook):
        if any("image/png" in o.get("data", {}) for o in cell.outputs):
            (data,) = (o.data for o in cell.outputs if "image/png" in o.get("data", {}))
            assert data["text/csv"].startswith("panel,kind,series,x,y"), "a figure without numbers"
            others = [
                o
                for o in cell.outputs
                if o.output_type == "display_data"
                and not {"image/png", "application/papermill.record/text/plain"} & set(o.data)
            ]
            assert not others, "beside a figure, each output would get its caption and name"
            look = cell.metadata.get("mystnb", {})
            assert look.get("figure", {}).get("caption"), "a figure without caption"
            assert look.get("figure", {}).get("name"), "a figure that cannot be referred to"
            assert len(look.get("image", {}).get("alt", "")) >= 40, "a figure without alt text"
            assert cell.source.rstrip().endswith("figures.show()")


def test_the_page_says_what_would_falsify_it_and_cites(chapter):
    headings = [line[5:] for line in chapter.text.splitlines() if line.startswith("# ## ")]
    assert any("falsif" in heading.lower() for heading in headings)
    assert headings[-1] == "References"
    assert "What the authors' code does differently" in headings
    for word in ("**Claim.**", "**Needs**"):
        assert word in chapter.text
    assert 0 < seconds(chapter.notebook) <= 180


def test_tests_come_first_and_then_the_longest_notebooks():
    class Item:
        def __init__(self, path):
            self.path = path

    items = [Item(c.notebook) for c in CHAPTERS] + [
        Item(Path("test_a.py")),
        Item(Path("test_b.py")),
    ]
    pytest_collection_modifyitems(items)
    assert [item.path.name for item in items[:2]] == ["test_a.py", "test_b.py"]
    times = [seconds(item.path) for item in items[2:]]
    assert times == sorted(times, reverse=True)
    assert times[0] > times[-1]


def test_the_verdicts_are_those_of_the_numbers(chapter):
    record = read_record(chapter.notebook)
    assert record is not None, "no ledger was shown"
    assert record["chapter"] == chapter.name
    for entry in record["claims"]:
        claim = Claim(**entry)
        assert claim.decisive, f"{claim.id}: its control does not turn it round"
        assert claim.satisfied == (claim.verdict in ("holds", "repaired", "reproduced"))
        assert claim.id.rpartition(".")[2] in chapter.text


def test_the_chapter_pays_what_the_register_says_it_owes(chapter):
    """Each claim is of a row that names the chapter; a row without one shows open."""
    owed = {e.id for e in every_entry().values() if e.chapter == chapter.name}
    paid = {claim["id"] for claim in (read_record(chapter.notebook) or {}).get("claims", [])}
    elsewhere = {"sharper.thm10"} if chapter.name == "sharper/pac_bayes" else set()
    assert paid <= owed | elsewhere
    assert paid


TOLD = {told for finding in load_findings() for told in finding.about}


def test_what_is_refuted_is_told(chapter):
    """A refuted claim about a result has a finding, of its own or one that tells of it too."""
    refuted = {
        claim["id"]
        for claim in (read_record(chapter.notebook) or {}).get("claims", [])
        if claim["verdict"] == "refuted" and claim["about"] == "statement"
    }
    assert refuted <= TOLD


def test_a_preset_names_parameters_that_exist(chapter):
    if not chapter.preset.exists():
        pytest.skip("no parameters at the paper's scale")
    assert chapter.with_preset()


def test_the_table_of_contents_lists_every_chapter():
    assert sorted(reading_order()) == sorted(c.name for c in CHAPTERS)
