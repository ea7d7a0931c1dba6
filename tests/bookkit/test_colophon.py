"""What stands below every page: the edition, and how to cite a chapter."""

import subprocess

import pytest

from bookkit.colophon import Edition, bibtex, colophon, edition

BOOK = Edition("A Book", "1.0", "2026-02-03", "abc1234")
CITED = "title: A Book\nversion: 1.0.0\ndate-released: 2026-02-03\n"


def test_the_edition_is_that_of_the_last_commit(tmp_path):
    (tmp_path / "CITATION.cff").write_text(CITED)
    git = ["git", "-C", tmp_path, "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    said = subprocess.run([*git, "log", "-1", "--format=%h"], capture_output=True, text=True)
    found = edition(tmp_path)
    assert found.commit == said.stdout.strip()
    assert found.date > "2026-02-03"


def test_outside_a_repository_the_release_is_dated(tmp_path, monkeypatch):
    (tmp_path / "CITATION.cff").write_text(CITED)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert edition(tmp_path) == Edition("A Book", "1.0.0", "2026-02-03", "")


def test_a_book_that_says_nothing_of_itself_has_no_edition(tmp_path):
    with pytest.raises(OSError, match=r"CITATION\.cff"):
        edition(tmp_path)


def test_links_need_the_address():
    assert "href" not in colophon(BOOK)
    assert 'href="https://example.org/a/commit/abc1234"' in colophon(BOOK, "https://example.org/a")
    assert "issues/new" in colophon(BOOK, "https://example.org/a")


def test_an_entry_is_text_on_the_page():
    entry = bibtex("part/name", "A < B", BOOK, "https://example.org/a")
    assert "  url = {https://example.org/a}\n}" in entry
    assert "A &lt; B" in colophon(BOOK, "", entry)
    assert "Cite" not in colophon(BOOK)
