"""``make watch``: what is saved is served."""

import contextlib
import http.client
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

from bookkit.chapters import ROOT
from tests.small_book import until


def recipe(port):
    """The commands of ``make watch``, with the programs of this environment."""
    folder = Path(sys.executable).parent
    given = ["make", "--no-print-directory", "-n", "-o", ".venv/.ready", "watch"]
    given += [f"BIN={folder}", f"PORT={port}"]
    done = subprocess.run(given, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def read(address):
    """The page, or nothing where it is not there or is being written at this moment."""
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return answer.read().decode()
    except (OSError, http.client.HTTPException):
        return ""


def test_a_saved_page_and_a_saved_chapter_are_served(tmp_path):
    shutil.copytree(ROOT / "templates" / "book", tmp_path / "mine")
    book = tmp_path / "mine"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = recipe(port)
    assert "sphinx-autobuild" in command
    told = (tmp_path / "told").open("w")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    served = subprocess.Popen(
        ["sh", "-ec", command],
        cwd=book,
        env=environment,
        stdout=told,
        stderr=told,
        start_new_session=True,
    )
    try:
        page = f"http://127.0.0.1:{port}/book/index.html"
        until(
            lambda: served.poll() is not None or read(page), f"not served: {shlex.quote(command)}"
        )
        assert served.poll() is None, (tmp_path / "told").read_text()
        source = next((book / "book").glob("index.md"))
        source.write_text(source.read_text() + "\n\nWords that were saved.\n")
        until(lambda: "Words that were saved." in read(page), "a saved page is not served")
        chapter = book / "book" / "first" / "harmonic.py"
        text = chapter.read_text()
        assert "# # " in text
        chapter.write_text(re.sub(r"^# # (.*)$", r"# # \1, anew", text, count=1, flags=re.M))
        there = f"http://127.0.0.1:{port}/book/first/harmonic.html"
        until(lambda: ", anew" in read(there), "a saved chapter is not served")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(served.pid, 15)
        served.wait()
