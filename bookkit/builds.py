"""What a build need not do: a Sphinx extension.

All pages are written when any was read, since each shows the titles of the others at its side. A
draft (``make watch``) reads the pages that were saved, without those that quote them, and writes no
more. It numbers figures only where some came, went or moved: Sphinx reads the whole book for that.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

DRAFT = "BOOK_DRAFT"
"""In the environment: this build is a draft."""
_Assign = Callable[[Any, Any], list[str]]


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    gc.set_threshold(200_000, 20, 100)  # a third of a build was looking through living trees
    app.connect("builder-inited", know_the_plugins)
    app.connect("env-before-read-docs", forget_what_is_read)
    app.connect("env-updated", write_every_page)
    if DRAFT in os.environ:
        from sphinx.environment.collectors.toctree import TocTreeCollector as Collector

        numbers = Numbers()
        app.connect("env-before-read-docs", read_what_was_saved, priority=50)
        app.connect("env-before-read-docs", numbers.remember, priority=100)
        kept = numbers.kept_or(Collector.assign_figure_numbers)
        Collector.assign_figure_numbers = kept  # type: ignore[method-assign, assignment]
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def know_the_plugins(app: Any) -> None:
    """Name pybtex its plugins: it asks all installed packages for them, for each page anew."""
    from pybtex.plugin import register_plugin

    for kind in ("backends", "style.formatting", "style.labels", "style.names", "style.sorting"):
        for found in entry_points(group=f"pybtex.{kind}"):
            register_plugin(found.group, found.name, found.load(), force=True)


def forget_what_is_read(app: Any, env: Any, docnames: list[str]) -> None:
    """Remember whether this build read anything anew, and forget all that it will read.

    Sphinx forgets one page at a time: what moved to a page that is read earlier would be there
    twice, and stop the build.
    """
    env.pages_read_anew = bool(docnames)
    for name in docnames:
        app.emit("env-purge-doc", env, name)
        env.clear_doc(name)


def read_what_was_saved(app: Any, env: Any, docnames: list[str]) -> None:
    """Leave out pages that are to be read only because they quote one that was saved."""
    from sphinx.environment import CONFIG_OK

    def is_saved(name: str) -> bool:
        last = env.all_docs.get(name, 0)  # microseconds
        return bool(os.stat(env.doc2path(name)).st_mtime_ns > 1000 * last)

    saved = [name for name in docnames if is_saved(name)]
    if saved and env.config_status == CONFIG_OK:
        docnames[:] = saved


def write_every_page(app: Any, env: Any) -> list[str]:
    """If so, write all pages: each shows the titles of the others at its side. A draft need not."""
    draft = DRAFT in os.environ
    return list(env.found_docs) if env.pages_read_anew and not draft else []


class Numbers:
    """Figures' numbers of the last build, kept where the pages read anew have the same figures."""

    def __init__(self) -> None:
        self.last: dict[str, tuple[Any, Any]] = {}
        self.new: set[str] = set()

    def remember(self, app: Any, env: Any, docnames: list[str]) -> None:
        """Keep what the pages had that will be read: numbers by kind and label, and pages below."""
        self.last = {
            name: (env.toc_fignumbers.get(name, {}), env.toctree_includes.get(name))
            for name in docnames
            if name in env.titles
        }
        self.new = set(docnames) - self.last.keys()

    def kept_or(self, assign: _Assign) -> _Assign:
        """``assign`` where any figure or page came, went or moved; else what was."""

        def assigned(collector: Any, env: Any) -> list[str]:
            if self.new or any(
                below != env.toctree_includes.get(name)
                or {kind: list(of) for kind, of in numbers.items()} != labels(env, name)
                for name, (numbers, below) in self.last.items()
            ):
                return assign(collector, env)
            env.toc_fignumbers |= {n: numbers for n, (numbers, _) in self.last.items() if numbers}
            return []

        return assigned


def labels(env: Any, name: str) -> dict[str, list[str]]:
    """Labels of what is numbered on a page, by kind, in order."""
    from docutils.nodes import Element

    domain, found = env.get_domain("std"), dict[str, list[str]]()
    for node in env.get_doctree(name).findall(Element):
        kind = domain.get_enumerable_node_type(node)
        if kind and node["ids"] and domain.get_numfig_title(node):
            found.setdefault(kind, []).append(node["ids"][0])
    return found
