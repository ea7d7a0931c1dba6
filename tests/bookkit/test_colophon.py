"""What stands at the foot of every page: the edition, and how to cite a chapter."""

import subprocess

import jinja2
import pytest

from bookkit.chapters import BOOK
from bookkit.colophon import Edition, edition

SMALL = vars(Edition("A Book", "1.0", "2026-02-03", "abc1234"))
CITED = "title: A Book\nversion: 1.0.0\ndate-released: 2026-02-03\n"
ADDRESS = "https://example.org/a"


def rendered(name, **given):
    folder = jinja2.FileSystemLoader(BOOK / "_templates")
    return jinja2.Environment(loader=folder).get_template(name).render(edition=SMALL, **given)


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


def test_a_folder_within_another_repository_does_not_take_its_commit(tmp_path):
    git = ["git", "-C", tmp_path, "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    book = tmp_path / "unpacked"
    book.mkdir()
    (book / "CITATION.cff").write_text(CITED)
    assert edition(book) == Edition("A Book", "1.0.0", "2026-02-03", "")


def test_a_book_that_says_nothing_of_itself_has_no_edition(tmp_path):
    with pytest.raises(OSError, match=r"CITATION\.cff"):
        edition(tmp_path)


def test_links_need_the_address():
    bare, linked = rendered("edition.html"), rendered("edition.html", theme_repository_url=ADDRESS)
    assert bare == '<p class="edition">Version 1.0, 2026-02-03 · abc1234</p>'
    assert f'href="{ADDRESS}/commit/abc1234"' in linked
    assert f'href="{ADDRESS}/issues/new"' in linked


def test_an_entry_is_text_on_the_page():
    cited = {"key": "part-name", "title": "A < B"}
    page = rendered("cite.html", cited=cited, theme_repository_url=ADDRESS)
    entry = page[page.index("@") : page.index("</pre>")]
    assert entry == (
        "@incollection{part-name,\n"
        "  author = {{The authors of A Book}},\n"
        "  title = {A &lt; B},\n"
        "  booktitle = {A Book},\n"
        "  edition = {1.0 of 2026-02-03, abc1234},\n"
        "  year = {2026},\n"
        f"  url = {{{ADDRESS}}}\n}}\n"
    )
    assert not rendered("cite.html").strip()
