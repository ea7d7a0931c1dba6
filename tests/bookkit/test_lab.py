"""Pages as notebooks in plain Markdown, block by block."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from docutils import nodes
from sphinx.addnodes import download_reference

from bookkit.lab import Plain, plain_notebook

ENV = SimpleNamespace(
    found_docs={"book/part/other", "book/page"},
    doc2path=lambda name: f"/somewhere/{name}.{'md' if name.endswith('page') else 'ipynb'}",
    toc_fignumbers={"book/part/tiny": {"lemma": {"lem-a": (2, 1)}, "figure": {"fig-a": (2, 3)}}},
)


def told(*blocks, base=""):
    """The blocks of a page in plain Markdown."""
    return list(Plain(ENV, "book/part/tiny", base).blocks(nodes.section("", *blocks)))


def words(*parts, base=""):
    (line,) = told(nodes.paragraph("", "", *parts), base=base)
    return line


def link(uri, text="there"):
    return nodes.reference("", text, refuri=uri)


def test_words_keep_their_marks_and_text_has_none():
    parts = nodes.strong("", "so"), nodes.emphasis("", "x"), nodes.literal("", "a_b")
    text = words(nodes.Text("a_b\nfor $5: "), *parts, nodes.math("", "x_1\n+ 1"))
    assert text == r"a\_b for \$5: **so***x*`a_b`$x_1 + 1$"


@pytest.mark.parametrize(
    ("uri", "plain", "published"),
    [
        (
            "other.html#ch-x",
            "[there](other.ipynb)",
            "[there](https://b.org/book/part/other.html#ch-x)",
        ),
        ("../page.html", "[there](../page.md)", "[there](https://b.org/book/page.html)"),
        ("https://c.org/x", "[there](https://c.org/x)", "[there](https://c.org/x)"),
        ("#lem-a", "there", "there"),
    ],
)
def test_a_reference_is_a_link_where_it_leads_to_another_page(uri, plain, published):
    assert words(link(uri)) == plain
    assert words(link(uri), base="https://b.org") == published


def test_a_program_is_linked_in_the_repository():
    file = download_reference("", "x.py", reftype="download", reftarget="/counterexamples/x.py")
    assert words(file) == "[x.py](../../counterexamples/x.py)"


def test_a_box_is_a_quotation_under_its_number():
    box = nodes.admonition(
        "",
        nodes.title("", " (Someone)"),
        nodes.section("", nodes.paragraph("", "One."), nodes.math_block("", "x", number=7)),
        realtype="lemma",
        countertype="lemma",
        ids=["lem-a"],
    )
    assert told(box) == ["> **Lemma 2.1 (Someone)**\n>\n> One.\n>\n> $$x \\tag{7}$$"]
    assert told(nodes.admonition("", nodes.title("", "Verdict"))) == ["> **Verdict**"]


def test_a_formula_stands_in_one_line_and_is_split_where_it_has_several():
    assert told(nodes.math_block("", "a\n= b")) == ["$$a = b$$"]
    lines = "a &= b \\\\\n&= c"
    assert told(nodes.math_block("", lines)) == [r"$$\begin{split}a &= b \\ &= c\end{split}$$"]
    assert told(nodes.math_block("", lines, nowrap=True)) == [r"$$a &= b \\ &= c$$"]


def test_a_table_has_no_bar_in_its_formulas():
    def row(*texts):
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", t)) for t in texts))

    rows = row(nodes.Text("a"), nodes.Text("b")), row(nodes.math("", r"|x| \|y\|"), nodes.Text("1"))
    table = "| a | b |\n|---|---|\n| $\\vert x\\vert  \\Vert y\\Vert $ | 1 |"
    assert told(nodes.table("", nodes.tgroup("", *rows))) == [table]


def test_lists_and_code():
    inner = nodes.bullet_list("", nodes.list_item("", nodes.paragraph("", "b")))
    items = nodes.list_item("", nodes.paragraph("", "a"), inner), nodes.list_item("")
    assert told(nodes.enumerated_list("", *items)) == ["1. a\n\n   * b\n2. "]
    assert told(nodes.literal_block("", "x = 1", language="python")) == ["```python\nx = 1\n```"]
    assert told(nodes.raw("", "<button>", format="html"), nodes.comment("", "x")) == []


def cell(index, *inner):
    return nodes.container("", *inner, cell_index=index)


def test_cells_stand_between_the_words_and_keep_their_captions():
    caption = nodes.figure("", nodes.caption("", "A cube."), ids=["fig-a"])
    solution = nodes.admonition(
        "", nodes.title("", "Solution"), cell(2), nodes.paragraph("", "So.")
    )
    page = nodes.document(None, None)
    page += nodes.section("", nodes.title("", "Tiny"), cell(1, caption), solution)
    code = [{"cell_type": "code", "metadata": {}, "source": f"{i}"} for i in range(3)]
    code[1]["metadata"] = {"tags": ["hide-input"]}
    stored = {"cells": code, "metadata": {"jupytext": {}, "kernelspec": {}}, "nbformat": 4}
    made = plain_notebook(stored, Plain(ENV, "book/part/tiny"), page)
    told = ["# Tiny", "1", "**Figure 2.3.** A cube.\n\n> **Solution**", "2", "So."]
    assert [c["source"] for c in made["cells"]] == [*told[:4], "> So."]
    assert made["cells"][1]["metadata"]["jupyter"] == {"source_hidden": True}
    assert (made["metadata"], made["nbformat"]) == ({"kernelspec": {}}, 4)
