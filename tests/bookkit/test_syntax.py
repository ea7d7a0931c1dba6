"""A statement's tree as every Python tells it, without comments, docstrings and layout."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bookkit import syntax
from bookkit.chapters import ROOT, every_chapter

AWKWARD = '''\
def f(a, /, b=1, *c, d: "int" = 2, **e) -> None:
    """Words."""
    x = f"{a!r:>{b}} and {b:%H:%M} {{}} {f'{a}'}" "joined" f"{a=}" "é\\u0300\\U0001F600"
    y = (*c, *e), {**e}, a[1:2, ...], lambda: (yield), 1e400, 1j, b"\\x00", -0.0, not a
    match a:
        case {"k": [1, *rest], **others} if rest:
            return x
        case str() | None:
            pass
    async def g():
        async with a as b, c:
            await b
    try:
        pass
    except* ValueError:
        raise
    else:
        del y
    finally:
        global z
'''


def test_every_python_hashes_alike(tmp_path):
    """Each that is here of 3.11 to 3.13: f-strings and defaults have other trees from 3.12 on."""
    files = [str(c.source) for c in every_chapter()]
    files += [str(p) for p in (ROOT / "helpers").rglob("*.py")]
    (tmp_path / "awkward.py").write_text(AWKWARD, encoding="utf-8")
    files.append(str(tmp_path / "awkward.py"))
    code = (
        "import json, sys\nfrom bookkit.syntax import digest, dump, parse\n"
        "texts = {f: open(f, encoding='utf-8').read() for f in json.load(sys.stdin)}\n"
        "digests = {f: digest(dump(parse(text))) for f, text in texts.items()}\n"
        "print(sys.version_info[:2], json.dumps(digests))\n"
    )
    digests = {}
    for version in ("3.11", "3.12", "3.13", "3.14"):
        here = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
        python = here[-1] if here else shutil.which(f"python{version}")
        done = python and subprocess.run(
            [python, "-c", code],
            input=json.dumps(files),
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done and done.returncode == 0:  # a shim may stand for a Python that is not there
            digests[version] = done.stdout.partition(") ")[2]
    if len(digests) < 2:
        pytest.skip(f"one Python only: {', '.join(digests) or 'that of this test'}")
    assert len(set(digests.values())) == 1


def test_the_tree_of_a_hash_has_no_positions_and_all_else():
    same = ("x = 1", "x  =  (1)  # words", "x = 0x1"), ("x = 'a' 'b'", 'x = "ab"')
    for forms in same:
        assert len({syntax.dump(syntax.parse(form)) for form in forms}) == 1
    other = ("x = 1", "x = 1.0", "x = True", "y = 1", "x += 1", "x = '1'", "x = b'1'", "x: int = 1")
    assert len({syntax.dump(syntax.parse(form)) for form in other}) == len(other)
