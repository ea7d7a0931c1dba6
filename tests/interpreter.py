"""Triton's kernels on a processor: its interpreter is chosen when it is imported, so elsewhere."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

needs_triton = pytest.mark.skipif(not find_spec("triton"), reason="triton is not installed")


def interpreted(source: str) -> None:
    """Run a program in another Python under the interpreter; its traceback is the failure."""
    done = subprocess.run(
        [sys.executable, "-c", source],
        env=os.environ | {"TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
