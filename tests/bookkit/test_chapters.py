"""What is known of a chapter without running it."""

import subprocess
import sys

import pytest

from bookkit import chapters
from bookkit.parameters import ChapterError, Parameter, read_parameters

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


def test_chapters_are_found_by_name_and_by_file():
    name = "cube/average_sensitivity"
    for given in (
        *(name, f"book/{name}", f"book/{name}.py", f"./book/{name}.py"),
        *(f"{name}.ipynb", f"{chapters.ROOT}/book/{name}.ipynb", "average_sensitivity"),
    ):
        assert chapters.find(given).name == name
    with pytest.raises(ChapterError, match="did you mean cube/average_sensitivity"):
        chapters.find("cube/average_sensitvity")
    with pytest.raises(ChapterError, match="there are: "):
        chapters.find("zzz")


def test_the_package_imports_no_jupyter_and_the_runner_no_torch():
    code = (
        "import sys, importlib, pkgutil, helpers, papers\n"
        "import bookkit.run, bookkit.scoreboard\n"
        "assert 'torch' not in sys.modules\n"
        "for package in (helpers, papers):\n"
        "    for m in pkgutil.walk_packages(package.__path__, f'{package.__name__}.'):\n"
        "        importlib.import_module(m.name)\n"
        "names = ('IPython', 'jupytext', 'nbformat', 'papermill', 'sphinx', 'dask', 'myst_nb')\n"
        "assert not set(names) & set(sys.modules), set(names) & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
