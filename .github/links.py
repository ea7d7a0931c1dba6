"""Ask every outside address that the project's texts name: ``python3 .github/links.py``.

Links within the book are tested where the pages are. An address counts as dead if it answers 404
or 410, or if its host is not found, three times in a row; a server that refuses robots, or is
tired, is named and does not fail the run. Needs the standard library only.
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = (".md", ".py", ".bib", ".yml", ".cff", ".toml", ".json")
APART = ("vendor/", "tests/", "results/", ".github/")
EXAMPLES = re.compile(r"https?://(?:localhost|127\.|[\w.-]*example\.|NAME|github\.com/NAME)")
ADDRESS = re.compile(r"https?://[^\s<>\"'`{}|\\^]+")
DEAD = (404, 410)
PATIENCE = 20
"""Seconds until an address has not answered."""


def addresses(text: str) -> set[str]:
    """Outside addresses in a text, without the punctuation behind them."""
    found = set()
    for address in ADDRESS.findall(text):
        while address.endswith((".", ",", ";", ":", "!", "?", "*", "]")) or (
            address.endswith(")") and address.count("(") < address.count(")")
        ):
            address = address[:-1]
        address = address.partition("](")[0].partition("#")[0]
        if not EXAMPLES.match(address):
            found.add(address)
    return found


def named(root: Path) -> dict[str, list[str]]:
    """Every address that the files of a repository name, to the files that name it."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    found: dict[str, list[str]] = {}
    for name in listed:
        if name.endswith(KINDS) and not name.startswith(APART):
            for address in addresses((root / name).read_text(encoding="utf-8")):
                found.setdefault(address, []).append(name)
    return found


def verdict(address: str, tries: int = 3, pause: float = 5.0) -> str:
    """``"alive"``, ``"dead: ..."``, or ``"unsure: ..."`` where the server does not say."""
    told = ""
    for k in range(tries):
        time.sleep(pause * k)
        request = urllib.request.Request(address, headers={"User-Agent": "Mozilla/5.0 (links)"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE):
                return "alive"
        except urllib.error.HTTPError as error:
            told = f"{'dead' if error.code in DEAD else 'unsure'}: {error.code}"
        except (OSError, ValueError) as error:
            lost = isinstance(getattr(error, "reason", error), socket.gaierror)
            told = f"{'dead' if lost else 'unsure'}: {error}"
    return told


def main() -> int:
    """Ask all of them; 1 if one is dead."""
    found = named(ROOT)
    with ThreadPoolExecutor(8) as pool:
        told = dict(zip(found, pool.map(verdict, found), strict=True))
    for address, word in sorted(told.items()):
        if word != "alive":
            print(f"{word}  {address}  in {', '.join(found[address])}")
    dead = sum(word.startswith("dead") for word in told.values())
    print(f"{len(found)} addresses, {dead} dead")
    return int(dead > 0)


if __name__ == "__main__":
    sys.exit(main())
