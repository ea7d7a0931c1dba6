"""Show the book while it is written: ``make watch`` serves it here and follows every change.

A saved source is rendered and the page in the browser reloads. Where only a chapter's text has
changed, its notebook takes it over and keeps its outputs. Where code has changed the chapter is
executed. What fails is told, and the old page stays.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import http.server
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from bookkit.builds import DRAFT
from bookkit.chapters import find
from bookkit.jobs import Job
from bookkit.key import LOCK
from bookkit.output import print_anywhere
from bookkit.parameters import ChapterError
from bookkit.place import around
from bookkit.storing import take_over_text

DRAFTS = Path("_build", "watch")
FOLDERS = ("book", "results", "counterexamples")
KINDS = {".py", ".md", ".yml", ".yaml", ".bib", ".css", ".js", ".csv", ".json", ".cff"}
PAUSE = 0.3  # seconds between two looks at the files
QUIET = 0.2  # seconds in which nothing more is saved, before it is rendered
RELOADER = b"""<script>
new EventSource("/__changes").onmessage = () => location.reload();
</script></body>"""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; 2 for bad input."""
    with contextlib.suppress(ValueError):  # only the main thread may ask for signals
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    print_anywhere()
    parser = argparse.ArgumentParser("python -m bookkit.watch", description=__doc__)
    parser.add_argument("--port", type=int, default=8000, help="0: any that is free (8000)")
    options = parser.parse_args(arguments)
    root = around(Path.cwd())
    if root is None:
        print(f"error: no book around {Path.cwd()}; go where a book is", file=sys.stderr)
        return 2
    site = root / DRAFTS / "_build" / "html"
    changes = Changes()
    handler = functools.partial(Handler, changes, directory=str(site))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), handler)
    except (OSError, OverflowError) as error:
        print(f"error: port {options.port}: {error}; choose another: --port", file=sys.stderr)
        return 2
    server.daemon_threads = True
    seen = state(root)
    render(root)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"the book: http://127.0.0.1:{server.server_address[1]}/  (Ctrl-C ends it)", flush=True)
    try:
        for changed in watched(root, seen):
            begun = time.monotonic()
            print("changed:", ", ".join(sorted(changed)), flush=True)
            taken = [take_up(root, name) for name in sorted(changed)]
            if all(taken) and render(root):
                print(f"rendered in {time.monotonic() - begun:.1f} s", flush=True)
                changes.tell()
    except KeyboardInterrupt:
        print()
    finally:
        server.shutdown()
    return 0


class Changes:
    """How often the book was rendered, for whoever waits for the next time."""

    def __init__(self) -> None:
        self.count = 0
        self.changed = threading.Condition()

    def tell(self) -> None:
        """It was rendered anew."""
        with self.changed:
            self.count += 1
            self.changed.notify_all()

    def wait(self, count: int, seconds: float) -> int:
        """The number of times, once it is another one or the time is over."""
        with self.changed:
            self.changed.wait_for(lambda: self.count != count, seconds)
            return self.count


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files of the rendered book; a page asks to be told when it is rendered anew."""

    def __init__(self, changes: Changes, *given: object, **options: object) -> None:
        self.changes = changes
        super().__init__(*given, **options)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """A page with the reloader, the stream of changes, or a file."""
        if self.path == "/__changes":
            self._tell_changes()
            return
        path = Path(self.translate_path(self.path))
        page = path / "index.html" if path.is_dir() else path
        if page.suffix != ".html" or not page.is_file():
            super().do_GET()
            return
        content = page.read_bytes().replace(b"</body>", RELOADER, 1)
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def end_headers(self) -> None:
        """Nothing is kept by the browser: the next look is at the new page."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """No line for each file."""

    def _tell_changes(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        count = self.changes.count
        try:
            while True:
                now = self.changes.wait(count, 5)
                self.wfile.write(b"data: now\n\n" if now != count else b": still here\n\n")
                self.wfile.flush()
                count = now
        except OSError:  # the page was closed
            return


def state(root: Path) -> dict[str, int]:
    """When each source was last saved, by its path in the book; what the runner writes is none."""
    files = [p for folder in FOLDERS for p in (root / folder).rglob("*") if p.suffix in KINDS]
    files = [p for p in files if p.name != LOCK]
    files += [p for p in root.glob("*") if p.suffix in KINDS]
    found = {}
    for path in files:
        try:
            found[str(path.relative_to(root))] = path.stat().st_mtime_ns
        except FileNotFoundError:  # an editor's own, gone again
            continue
    return found


def watched(root: Path, seen: dict[str, int]) -> Iterator[set[str]]:
    """The sources that changed since the last time, each time that some did."""
    while True:
        time.sleep(PAUSE)
        now = state(root)
        if now == seen:
            continue
        time.sleep(QUIET)
        if state(root) == now:
            yield {name for name in now.keys() | seen.keys() if now.get(name) != seen.get(name)}
            seen = now


def take_up(root: Path, name: str) -> bool:
    """Bring a changed chapter's notebook up to its source; false, with a word why, if it fails."""
    path = root / name
    if path.suffix != ".py" or path.parent.parent != root / "book" or not path.exists():
        return True
    try:
        chapter = find(f"{path.parent.name}/{path.stem}", root)
        if take_over_text(Job(chapter, {}, chapter.notebook)):
            return True
    except ChapterError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        return False
    command = [sys.executable, "-m", "bookkit.run", chapter.name, "--jobs", "1"]
    return subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL).returncode == 0


def render(root: Path) -> bool:
    """Render what changed, in a folder of its own; false if it could not be.

    Pages that name or quote a saved one stay as they are until the book is built.
    """
    own, built = root / DRAFTS / "_build", root / "_build"
    if not own.exists() and (built / ".doctrees").exists():
        for part in (".doctrees", "html", "jupyter_execute"):
            shutil.copytree(built / part, own / part, dirs_exist_ok=True)
    build = Path(sys.executable).with_name("jupyter-book")
    command = [str(build), "build", str(root), "-n", "--keep-going", "-q"]
    done = subprocess.run(
        [*command, "--path-output", str(root / DRAFTS)],
        cwd=root,
        env=os.environ | {DRAFT: "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr, flush=True)
    return not done.returncode


if __name__ == "__main__":
    sys.exit(main())
