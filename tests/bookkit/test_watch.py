"""The book while it is written: what is taken up, what is told, what a page in a browser hears."""

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.request

from bookkit import place, watch
from bookkit.chapters import ROOT
from tests.small_book import until


def test_a_change_is_seen_once_and_notebooks_are_no_sources(tmp_path):
    page = tmp_path / "book" / "part" / "page.md"
    page.parent.mkdir(parents=True)
    page.write_text("one")
    seen = watch.state(tmp_path)
    assert list(seen) == ["book/part/page.md"]
    changes = watch.watched(tmp_path, seen)
    page.write_text("another")
    page.with_suffix(".ipynb").write_text("{}")
    (tmp_path / "book" / "keys.json").write_text("{}")
    page.with_name("new.py").write_text("")
    assert next(changes) == {"book/part/page.md", "book/part/new.py"}
    page.unlink()
    assert next(changes) == {"book/part/page.md"}


def test_a_page_hears_of_a_change_and_is_never_kept(tmp_path):
    (tmp_path / "index.html").write_text("<body>words</body>")
    (tmp_path / "file.txt").write_text("plain</body>")
    changes = watch.Changes()
    handler = functools.partial(watch.Handler, changes, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        for page in ("/", "/index.html", "/index.html?highlight=x"):
            with urllib.request.urlopen(address + page) as answer:
                assert answer.headers["Cache-Control"] == "no-store"
                assert answer.read() == b"<body>words" + watch.RELOADER
        with urllib.request.urlopen(address + "/file.txt") as answer:
            assert answer.read() == b"plain</body>"
        with urllib.request.urlopen(address + "/__changes") as stream:
            threading.Timer(0.2, changes.tell).start()
            assert stream.readline() == b"data: now\n"
        server.shutdown()


def test_what_cannot_be_is_refused_in_a_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert watch.main([]) == 2
    assert "no book around" in capsys.readouterr().err
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "register.yml").write_text("")
    assert watch.main(["--port", "99999"]) == 2
    assert "port 99999" in capsys.readouterr().err


def test_a_saved_page_is_rendered_and_told(tmp_path):
    """The template, its one chapter executed by the watcher when its code is saved anew."""
    book = tmp_path / "mine"
    shutil.copytree(ROOT / "templates" / "book", book)
    given = {k: v for k, v in os.environ.items() if k != place.VARIABLE}
    given |= {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    run = functools.partial(subprocess.run, cwd=book, env=given, check=True, capture_output=True)
    run([sys.executable, "-m", "bookkit.run"])
    log = tmp_path / "log"
    command = [sys.executable, "-m", "bookkit.watch", "--port", "0"]
    with (
        log.open("w") as out,
        subprocess.Popen(command, cwd=book, env=given, stdout=out, stderr=out) as process,
    ):
        told = functools.partial(re.search, r"http://127.0.0.1:[0-9]+/")
        address = until(lambda: told(log.read_text()), "no address")[0]
        chapter = book / "book" / "first" / "harmonic.py"
        page = f"{address}book/first/harmonic.html"

        def has(words):
            with urllib.request.urlopen(page) as answer:
                return words in answer.read()

        assert not has(b"Words of today.")
        text = chapter.read_text(encoding="utf-8")
        chapter.write_text(text.replace("**Why it holds.**", "Words of today.", 1))
        until(lambda: "rendered in" in log.read_text(), log.read_text())
        assert has(b"Words of today.")
        assert "executing" not in log.read_text()
        chapter.write_text(chapter.read_text() + '\n# %%\nprint("a new cell")\n')
        until(lambda: log.read_text().count("rendered in") == 2, log.read_text())
        assert has(b"a new cell")
        entry = json.loads((book / "book" / "keys.json").read_text())["first/harmonic"]
        made = json.loads(chapter.with_suffix(".ipynb").read_text())["metadata"]["book"]
        assert entry["notebook"][""] == made["outputs"]
        process.terminate()
        assert process.wait(60) == 0, log.read_text()


def test_nothing_is_rendered_while_one_of_two_saved_chapters_fails(tmp_path, monkeypatch, capsys):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "register.yml").write_text("")
    monkeypatch.chdir(tmp_path)
    rendered, taken = [], []

    def saved(root, seen):
        yield {"good", "bad"}
        yield {"good"}
        raise KeyboardInterrupt

    monkeypatch.setattr(watch, "watched", saved)
    monkeypatch.setattr(watch, "take_up", lambda root, name: taken.append(name) or name == "good")
    monkeypatch.setattr(watch, "render", lambda root: rendered.append(len(taken)) or True)
    assert watch.main(["--port", "0"]) == 0
    assert taken == ["bad", "good", "good"]
    assert rendered == [0, 3]  # at the start, and when all that was saved is taken up
    assert capsys.readouterr().out.count("rendered in") == 1


def test_what_is_no_chapter_needs_no_taking_up(tmp_path, capsys):
    part = tmp_path / "book" / "part"
    part.mkdir(parents=True)
    for name in ("book/page.md", "book/part/words.md", "book/tool.py"):
        (tmp_path / name).write_text("words")
        assert watch.take_up(tmp_path, name)
    assert watch.take_up(tmp_path, "book/part/gone.py")
    assert not capsys.readouterr().err
