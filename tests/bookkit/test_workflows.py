"""What runs elsewhere: the workflows, the check of links, and what says how to cite the book."""

from __future__ import annotations

import ast
import contextlib
import functools
import http.server
import importlib.metadata
import importlib.util
import itertools
import json
import re
import sys
import threading
import tomllib

import pytest
import yaml

from bookkit.chapters import BOOK, ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PIN = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)+")
CITED = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
DEPOSIT = json.loads((ROOT / ".zenodo.json").read_text("utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def unpinned(text):
    """Actions in a workflow that no full commit with its version in a comment fixes."""
    used = re.findall(r"uses:\s*(.*\S)", text)
    return [action for action in used if not PIN.fullmatch(action)]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_every_action_is_pinned_by_its_full_commit(path):
    assert unpinned(path.read_text("utf-8")) == []


def test_the_check_of_pins_can_fail():
    full = "11bd71901bbe5b1630ceea73d27597364c9af683"
    assert unpinned(f"- uses: actions/checkout@{full} # v4.2.2") == []
    for wrong in ("actions/checkout@v4", f"actions/checkout@{full}", f"a/b@{full[:7]} # v4.2"):
        assert unpinned(f"  - uses: {wrong}\n") == [wrong]


def test_an_action_has_one_version_everywhere():
    used = {a for path in WORKFLOWS for a in re.findall(r"uses:\s*(.*\S)", path.read_text("utf-8"))}
    names = [action.partition("@")[0] for action in used]
    assert len(names) == len(set(names)), sorted(used)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_a_workflow_is_complete(path):
    flow = yaml.safe_load(path.read_text("utf-8"))
    assert flow["name"] == path.stem
    assert flow[True], "YAML reads `on` as true"
    assert flow["permissions"] in ({"contents": "read"}, {"contents": "write"})
    assert (flow["permissions"]["contents"] == "write") == (path.stem == "release")
    for job in flow["jobs"].values():
        assert job["timeout-minutes"] <= 360
        assert job["runs-on"] == "ubuntu-24.04"
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            for target in re.findall(r"\bmake (\w+)", step.get("run", "")):
                assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text("utf-8"), re.M)


def test_the_week_tries_every_python_that_the_package_names():
    jobs = yaml.safe_load((ROOT / ".github/workflows/weekly.yml").read_text("utf-8"))["jobs"]
    tried = jobs["newest"]["strategy"]["matrix"]["python"]
    low, high = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", PROJECT["requires-python"]).groups()
    assert tried == [f"3.{k}" for k in range(int(low), int(high))]


def test_every_change_is_tried_on_the_oldest_and_the_newest_python():
    job = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))["jobs"]["ci"]
    low, high = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", PROJECT["requires-python"]).groups()
    assert job["strategy"]["matrix"]["python"] == [f"3.{low}", f"3.{int(high) - 1}"]
    (step,) = (step for step in job["steps"] if step.get("run") == "bash .ci/run")
    assert step["env"]["PYTHON"] == "python${{ matrix.python }}"
    setup = next(s for s in job["steps"] if "setup-python" in s.get("uses", ""))
    assert setup["with"]["python-version"] == "${{ matrix.python }}"


def test_the_extras_name_what_is_pinned():
    pins = (ROOT / "environment.yml").read_text("utf-8").lower().replace("_", "-")
    more = PROJECT["optional-dependencies"].values()
    extras = [*PROJECT["dependencies"], *itertools.chain(*more)]
    for name in extras:
        assert f"- {re.split('[<>=]', name)[0].lower()}==" in pins, name


def imported(*parts):
    """What packages of this repository import from outside of it and of Python."""
    trees = [ast.parse(f.read_text("utf-8")) for part in parts for f in (ROOT / part).rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    used = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    used |= {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    outside = {name.partition(".")[0] for name in used} - set(sys.stdlib_module_names)
    return outside - {"helpers", "papers", "bookkit"}


def test_the_package_asks_for_all_that_it_imports():
    brought = {"llvmlite", "triton"}  # by numba, and by torch where there is a GPU
    assert imported("helpers", "papers") - brought <= set(PROJECT["dependencies"])


def brought_by(*names):
    """These distributions and all that they ask for without an extra, however far."""
    found, todo = set(), list(names)
    while todo:
        name = re.sub("[-_.]+", "-", todo.pop().lower())
        if name in found:
            continue
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            asked = importlib.metadata.requires(name) or ()
            found.add(name)
            todo += [re.split(r"[^\w.-]", a)[0] for a in asked if "extra ==" not in a]
    return found


def test_the_extra_of_the_book_has_all_that_builds_it():
    extra = [re.split("[<>=]", name)[0] for name in PROJECT["optional-dependencies"]["book"]]
    brought = brought_by(*PROJECT["dependencies"], *extra)
    given = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    extensions = {name.partition(".")[0] for name in given["sphinx"]["config"]["extensions"]}
    distributions = importlib.metadata.packages_distributions()
    for name in (imported("bookkit") | extensions) - {"bookkit"}:
        assert brought_by(*distributions[name]) & brought, name


@pytest.fixture(scope="module")
def links():
    """The program that checks links."""
    spec = importlib.util.spec_from_file_location("links", ROOT / ".github" / "links.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[a](https://a.org/b), then <https://c.org>.", {"https://a.org/b", "https://c.org"}),
        (
            "see https://a.org/x_(y). Or (https://b.org/z)",
            {"https://a.org/x_(y)", "https://b.org/z"},
        ),
        ("url = {https://a.org/p#part}", {"https://a.org/p"}),
        (
            "https://github.com/NAME/REPOSITORY and http://127.0.0.1:80 and http://example.org/",
            set(),
        ),
    ],
)
def test_addresses_are_found(links, text, found):
    assert links.addresses(text) == found


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers with the number that the path names."""

    def do_GET(self):
        """Answer."""
        self.send_response(int(self.path[1:]))
        self.end_headers()

    def log_message(self, *args):
        """Say nothing."""


def test_an_address_is_dead_alive_or_unsure(links):
    ask = functools.partial(links.verdict, tries=2, pause=0.0)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{server.server_port}"
        told = {code: ask(f"{place}/{code}") for code in (200, 404, 410, 403, 503)}
        server.shutdown()
    assert told == {
        **{200: "alive", 404: "dead: 404", 410: "dead: 410"},
        **{403: "unsure: 403", 503: "unsure: 503"},
    }


def test_what_is_cited_is_complete():
    wanted = {"cff-version", "message", "type", "title", "abstract", "authors", "version"}
    assert wanted | {"date-released", "license", "keywords", "references"} <= set(CITED)
    assert all(a.get("name") or a.get("family-names") for a in CITED["authors"])
    for name in ("LICENSE", "LICENSE-TEXT"):
        assert (ROOT / name).is_file()
    assert PROJECT["license"] == " AND ".join(CITED["license"])


def test_the_deposit_says_what_is_cited():
    assert DEPOSIT["title"] == CITED["title"]
    assert DEPOSIT["upload_type"] == CITED["type"]
    assert DEPOSIT["version"] == CITED["version"] == PROJECT["version"]
    assert DEPOSIT["publication_date"] == str(CITED["date-released"])
    assert DEPOSIT["keywords"] == CITED["keywords"]
    assert [a["name"] for a in DEPOSIT["creators"]] == [a["name"] for a in CITED["authors"]]
    assert DEPOSIT["description"].startswith(" ".join(CITED["abstract"].split()))
    assert DEPOSIT["license"].upper() in CITED["license"]
    cited = [i["value"] for r in CITED["references"] for i in r["identifiers"]]
    assert [r["identifier"] for r in DEPOSIT["related_identifiers"]] == cited


def test_the_papers_cited_are_those_of_the_bibliography():
    bibliography = re.sub(r"[{}]", "", (BOOK / "references.bib").read_text("utf-8"))
    papers = re.findall(r"^@\w+(\w+),\n(.*?)\n\n", bibliography, re.M | re.S)[:5]
    for (_, entry), cited in zip(papers, CITED["references"], strict=True):
        assert cited["title"] in entry
        assert str(cited["year"]) in entry
        for author in cited["authors"]:
            assert f"{author['family-names']}, {author['given-names']}" in entry
        stated = re.findall(r"arXiv:[\d.]+\d", entry)
        assert not stated or stated[0] == cited["identifiers"][0]["value"]
