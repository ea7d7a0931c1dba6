"""README's picture: drawn from a page of the book, and named where it cannot be."""

from __future__ import annotations

from PIL import Image

from bookkit.chapters import ROOT
from tests import picture

PAGE = "<style>html{background:#fff}h1{color:#0072b2}</style><main><h1>A chapter</h1></main>"


def test_the_picture_is_the_page(tmp_path, browser):
    page, out = tmp_path / "part.html", tmp_path / "page.png"
    page.write_text(PAGE)
    picture.draw(browser, page, out)
    with Image.open(out) as found:
        assert found.size == (picture.SIZE["width"], picture.SIZE["height"])
        colours = {colour for _, colour in found.convert("RGB").getcolors(2**24)}
    assert (255, 255, 255) in colours
    assert any(blue > red + 80 for red, _, blue in colours), "the heading is not on it"


def test_a_page_that_was_not_built_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(picture.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert picture.main(["--site", str(tmp_path), "--out", str(tmp_path / "page.png")]) == 1
    assert "average_sensitivity.html is not there; run make book first" in capsys.readouterr().err
    assert not (tmp_path / "page.png").exists()


def test_readme_shows_the_chapter_that_is_drawn():
    assert (ROOT / f"{picture.CHAPTER}.py").is_file()
    path = picture.PICTURE.relative_to(ROOT).as_posix()
    assert f"]({path})" in (ROOT / "README.md").read_text(encoding="utf-8")
