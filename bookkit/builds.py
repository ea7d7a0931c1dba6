"""Which pages a build reads and writes anew, and at what pace: a Sphinx extension.

All pages are written when any was read, since each shows the titles of the others at its side. All
that will be read is forgotten first.
"""

from __future__ import annotations

import gc
from typing import Any

_PACE = 100_000, 50, 100
"""Python looks for garbage after every 700 new objects. A build makes millions that live to its
end, and looking among them that often took a third of its time."""


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx, and look for garbage seldom."""
    gc.set_threshold(*_PACE)
    app.connect("env-before-read-docs", clear_pages_to_read)
    app.connect("env-updated", write_every_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def clear_pages_to_read(app: Any, env: Any, docnames: list[str]) -> None:
    """Remember whether this build read anything anew, and forget all that it will read.

    Sphinx forgets one page at a time: what moved to a page that is read earlier would be there
    twice, and stop the build.
    """
    env.pages_read_anew = bool(docnames)
    for name in docnames:
        app.emit("env-purge-doc", env, name)
        env.clear_doc(name)


def write_every_page(app: Any, env: Any) -> list[str]:
    """If any page was read anew, write all: each shows the titles of the others at its side."""
    return list(env.found_docs) if env.pages_read_anew else []
