"""What is known of a chapter without running it."""

import gc
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from helpers.book import chapters
from helpers.book.chapters import reached_modules
from helpers.book.parameters import ChapterError, Parameter, read_parameters

SOURCE = """\
# %% [markdown]
# text

# %% tags=["parameters"]
n = 3  # a count [1..9]
sizes = [1, 2]  # several [1..4]
name = "x"
on = True

# %%
import helpers.cube.fourier
"""


def test_the_parameters_cell_is_read_with_comments_and_ranges():
    found = read_parameters(SOURCE, "part/x")
    assert list(found) == ["n", "sizes", "name", "on"]
    assert found["n"] == Parameter("n", 3, "a count [1..9]", 1, 9)
    assert found["name"].comment == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# %%\nn = 3\n", "expected one cell tagged 'parameters', found 0"),
        (SOURCE + SOURCE, "found 2"),
        ('# %% tags=["parameters"]\nn = 3 + f()\n', "n is not a literal"),
        ('# %% tags=["parameters"]\nimport os\n', "more than assignments"),
    ],
)
def test_a_bad_parameters_cell_is_named(text, message):
    with pytest.raises(ChapterError, match=message):
        read_parameters(text, "part/x")


def test_values_keep_their_type_and_range():
    found = read_parameters(SOURCE, "part/x")
    assert found["n"].parse("4") == 4
    assert found["sizes"].parse("[3, 4]") == [3, 4]
    assert found["name"].parse("4") == "4"
    assert found["on"].parse("False") is False
    assert Parameter("x", 0.5, "").parse("2") == 2.0
    for name, text in (("n", "4.0"), ("n", "10"), ("n", "True"), ("sizes", "[5]"), ("on", "1")):
        with pytest.raises(ChapterError, match=f"parameter '{name}' takes"):
            found[name].parse(text)
    with pytest.raises(ChapterError, match="takes float"):
        Parameter("x", 0.5, "").parse("__import__('os')")


def test_reached_modules_are_exactly_those_imported():
    own = {"helpers", "helpers.book", "helpers.book.output"}
    assert reached_modules("from helpers.book import output") == own
    reached = reached_modules("def f():\n    from helpers.kernels import walsh\n")
    assert {"helpers.kernels.walsh", "helpers.kernels._walsh_cpu"} <= reached
    assert not {"helpers.book.claims", "helpers.cube"} & reached
    assert reached_modules("import torch") == set()


def test_threads_of_one_worker_read_modules_at_once(monkeypatch):
    """Python 3.11's parser fails if another thread parses while it waits for a collection."""
    for read in (chapters._tree, chapters._piece, chapters._imports_of):
        monkeypatch.setattr(chapters, read.__name__, read.__wrapped__)  # nothing remembered
    gc.callbacks.append(give_way := lambda *_: time.sleep(0))
    try:
        with ThreadPoolExecutor(4) as pool:
            keys = set(pool.map(chapters.helpers_key, [SOURCE] * 8))
    finally:
        gc.callbacks.remove(give_way)
    assert keys == {chapters.helpers_key(SOURCE)}


def test_chapters_are_found_by_name_and_by_file():
    name = "cube/average_sensitivity"
    for given in (name, f"book/{name}.py", f"{name}.ipynb", "average_sensitivity"):
        assert chapters.find(given).name == name
    with pytest.raises(ChapterError, match="did you mean cube/average_sensitivity"):
        chapters.find("cube/average_sensitvity")
    with pytest.raises(ChapterError, match="there are: "):
        chapters.find("zzz")


def test_the_key_depends_on_the_parameters():
    chapter = chapters.find("cube/average_sensitivity")
    assert chapter.key({}) == chapter.key({})
    assert chapter.key({}) != chapter.key({"n_max": 9})
    assert not chapter.is_current(chapter.notebook, {"n_max": 9})


def test_a_notebook_that_cannot_be_read_has_no_key(tmp_path):
    broken = tmp_path / "x.ipynb"
    assert chapters.stored_key(broken) is None
    broken.write_text("{")
    assert chapters.stored_key(broken) is None
    broken.write_text('{"metadata": {}}')
    assert chapters.stored_key(broken) is None


def test_the_package_imports_no_jupyter_and_the_runner_no_torch():
    code = (
        "import sys, importlib, pkgutil, helpers\n"
        "import helpers.run, helpers.book.scoreboard\n"
        "assert 'torch' not in sys.modules\n"
        "for m in pkgutil.walk_packages(helpers.__path__, 'helpers.'):\n"
        "    importlib.import_module(m.name)\n"
        "names = ('IPython', 'jupytext', 'nbformat', 'papermill', 'sphinx', 'dask', 'myst_nb')\n"
        "assert not set(names) & set(sys.modules), set(names) & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
