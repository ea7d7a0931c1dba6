"""A figure is its narrow form in a narrow window, and says where its panels stand there."""

import base64
import hashlib
import io
import json
import os

from PIL import Image

from bookkit import narrow
from bookkit.chapters import every_chapter


def png(width, height):
    made = io.BytesIO()
    Image.new("RGB", (width, height)).save(made, "PNG")
    return made.getvalue()


BODY = (
    '<p>Left, right.</p><figure><a href="../_images/ab.png"><img src="../_images/ab.png"></a>'
    "<figcaption>Left: a. Right: the term on the left, from left to right (left).</figcaption>"
    "</figure>"
    '<figure><img src="../_images/cd.png"><figcaption>Left: b.</figcaption></figure>'
)


def test_a_figure_with_a_narrow_form_offers_it_and_names_its_panels(tmp_path):
    images = tmp_path / "not" / "yet"
    found = narrow.with_narrow_figures(BODY, {"ab": png(30, 70)}, images)
    assert (images / "narrow-ab.png").read_bytes() == png(30, 70)
    assert found.count("<picture>") == 1
    assert (
        '<picture><source media="(max-width: 600px)" srcset="../_images/narrow-ab.png" '
        'width="30" height="70"><img src="../_images/ab.png"></picture>'
    ) in found
    for wide, under in (("Left", "Above"), ("Right", "Below"), ("left", "above")):
        both = f'<span class="when-wide">{wide}</span><span class="when-narrow">{under}</span>'
        assert found.count(both) == 1
    assert "the term on the left, from left to right (" in found
    assert found.startswith("<p>Left, right.</p>")
    assert found.endswith("<figcaption>Left: b.</figcaption></figure>")


def test_a_narrow_form_is_not_written_twice(tmp_path):
    narrow.with_narrow_figures(BODY, {"ab": png(30, 70)}, tmp_path)
    os.utime(tmp_path / "narrow-ab.png", (1, 1))
    narrow.with_narrow_figures(BODY, {"ab": png(30, 70)}, tmp_path)
    assert (tmp_path / "narrow-ab.png").stat().st_mtime == 1


def test_every_figure_of_the_book_but_grids_has_a_narrow_form():
    """Found by the wide one's hash and by its name; what is shown is narrower and legible."""
    found = narrow.narrow_figures()
    without = []
    for chapter in every_chapter():
        for cell in json.loads(chapter.notebook.read_text(encoding="utf-8"))["cells"]:
            name = cell["metadata"].get("mystnb", {}).get("figure", {}).get("name")
            for output in cell.get("outputs", []):
                if name and "image/png" in output.get("data", {}):
                    wide = base64.b64decode("".join(output["data"]["image/png"]))
                    key = hashlib.sha256(wide).hexdigest()
                    if key not in found:
                        without.append(f"{chapter.name} {name}")
                        continue
                    assert found[key] == found[name]
                    size = Image.open(io.BytesIO(found[key])).size
                    assert size[0] <= Image.open(io.BytesIO(wide)).size[0]
                    assert size[0] < 850, (chapter.name, name, size)
    assert len(found) > 100
    assert len(without) <= 8, without
