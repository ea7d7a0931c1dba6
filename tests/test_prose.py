"""How the prose of the book reads is measured, and pages that were rewritten keep their level."""

from __future__ import annotations

import re

import pytest

from bookkit.chapters import every_chapter
from tests import prose
from tests.prose import (
    house_words,
    markdown,
    measure,
    minutes,
    page,
    paragraphs,
    sentences,
    words,
)  # fmt: skip

CHAPTERS = tuple(chapter.name for chapter in every_chapter())
PAGES = (
    "at_what_scale",
    "beyond/index",
    "calculator",
    "cube/index",
    "findings/index",
    "findings/variables",
    "how_to_read",
    "index",
    "lengthfree/index",
    "notation",
    "retrieval/index",
    "sensitive/index",
    "sharper/index",
    "teaching",
    "variables/index",
)
MOST_SHORT = 0.12
LEAST_CONNECTED = 0.2
MEDIAN = 15, 20
LONG_PROOF = 100


@pytest.mark.parametrize("name", CHAPTERS + PAGES)
def test_a_page_that_was_rewritten_keeps_its_level(name):
    """Few short sentences, many that say how they follow, and none of the house's words."""
    text = markdown(page(name))
    level = measure(text)
    short = [s for s in sentences(text) if words(s) <= prose.SHORT]
    assert level.short <= MOST_SHORT, short
    assert level.connected >= LEAST_CONNECTED
    low, high = MEDIAN
    assert low <= level.median <= high
    assert house_words(text) == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_says_why_and_begins_with_an_example(name):
    """A reason and an example by hand stand before the first statement and the first proof.

    A chapter that states nothing, because it only measures, has them before its first figure.
    """
    text = markdown(page(name))
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings[0] == "Why one should care"
    stated = text.find("```{prf:")
    assert text.index(f"## {headings[1]}") < (stated if stated >= 0 else text.index("fig-"))
    dropdown = re.search(r"^```\{dropdown\}[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if dropdown and len(dropdown[1].split()) > LONG_PROOF:
        assert re.search(r"\b[Ii]dea\b", text[: dropdown.start()])


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_has_exercises_that_climb_and_one_that_is_run(name):
    text = markdown(page(name))
    exercises = re.findall(r"^```\{exercise\}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    kinds = [re.search(r"^\*([^*]+)\.\*", e, re.MULTILINE) for e in exercises]
    assert all(kinds), "an exercise without a word on its kind"
    names = [kind[1] for kind in kinds if kind]
    assert len(names) >= 3
    assert names[-1] == "To think about"
    run = [e for e, kind in zip(exercises, names, strict=True) if kind == "With the computer"]
    assert len(run) == 1
    assert "python -m bookkit.run" in run[0]
    label = re.search(r":label: (\S+)", run[0])
    assert label
    assert f"{{solution-start}} {label[1]}" in text


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_says_how_long_it_takes_to_read(name):
    """Within a minute or a sixth, so that not every new sentence changes the number."""
    text = markdown(page(name))
    said = re.search(r"^\*\*Needs\*\*.*\*\*Read\*\* (\d+) min\.", text, re.MULTILINE)
    assert said
    found = minutes(text)
    assert abs(int(said[1]) - found) <= max(1, found / 6), f"{found} min by `python -m tests.prose`"


def test_what_is_folded_takes_no_time():
    read = "word " * 390 + "ends."
    folded = (
        "```{dropdown} Proof\n" + "word " * 900 + "ends.\n```\n"
        "```{solution-start} ex\n:class: dropdown\n```\n" + "word " * 900 + "ends.\n"
        "```{solution-end}\n```\n"
    )
    assert minutes(read) == minutes(f"{read}\n\n{folded}\n{read[:40]}.") == 2
    assert minutes("It is short.") == 1


def test_a_formula_a_number_and_a_reference_are_one_word_each():
    text = "So $a + b = c$ is {glue:text}`c:.2f` times {ref}`ch-x`, see [the page](http://x.y)."
    assert [words(s) for s in sentences(text)] == [9]


def test_a_display_belongs_to_its_sentence():
    ends = "We get\n\n$$a = b .$$\n\nThe next one stands alone."
    goes_on = "We get\n\n$$a = b ,$$\n\nwhich ends here."
    assert [words(s) for s in sentences(ends)] == [3, 5]
    assert [words(s) for s in sentences(goes_on)] == [6]


def test_headings_tables_code_labels_and_sources_are_no_prose():
    text = (
        "(here)=\n# A heading\n\n**Needs** nothing. **Read** 5 min.\n\n"
        "| a | b |\n|:--|:--|\n| 1 | 2 |\n\n```python\nx = 1\n```\n\n"
        "```{prf:lemma} Lemma 1\n:label: one\n*(Quoted.)* It holds.\n```\n\n"
        "**Claim.** It is true.\n\nterm\n: What it means.\n"
    )
    assert sentences(text) == ["It holds.", "It is true."]


def test_what_is_measured_is_what_is_written():
    text = "It is short. This one is longer than that, because it gives a reason.\n\n* So is this."
    level = measure(text)
    assert level.sentences == 3
    assert level.short == pytest.approx(2 / 3)
    assert level.connected == pytest.approx(2 / 3)
    assert level.median == 3


def test_the_words_of_the_house_are_found():
    assert house_words("The bound says nothing. It comes out.") == ["says nothing", "comes out"]
    assert paragraphs("`says nothing` is code") == ["\x00 is code"]


def test_it_prints_a_line_for_each_page(capsys):
    prose.main(["how_to_read", "retrieval/pointer_heads"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["how_to_read", "retrieval/pointer_heads"]


def test_it_prints_a_line_for_every_page_if_none_is_named(capsys):
    prose.main([])
    named = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert {"index", "code/cube", "beyond/your_network"} <= named  # the second has no sentence
