"""Kernels for nbval that start with the packages already imported.

The packages that every chapter imports take some three seconds of a core, and a run of all
notebooks starts a kernel for each. Here the standard library's *fork server* imports them once, and
every kernel is a fork of it. The server itself executes no cell, so nothing passes from one chapter
to the next, and what a kernel has imported is what the chapter would import itself.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing.process import BaseProcess
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from bookkit.place import short_folder

IMPORTED = (
    "torch", "numba", "pandas", "scipy.optimize", "scipy.stats", "matplotlib.pyplot",
    "matplotlib_inline.backend_inline", "ipykernel.kernelapp", __name__,
)  # fmt: skip
INLINE = "module://matplotlib_inline.backend_inline"
_PATH = list(sys.path)  # in the server, that of a fresh interpreter


class ForkedKernel:
    """A process of the fork server, as the provisioner knows its kernel: like ``Popen``.

    Args:
        process: Begun already.
    """

    stdin = stdout = stderr = None

    def __init__(self, process: BaseProcess) -> None:
        self.process = process
        self.pid = process.pid

    def poll(self) -> int | None:
        """Its exit status; None while it runs."""
        return self.process.exitcode

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for its end.

        Returns:
            Its exit status; None if it still runs after ``timeout`` seconds.
        """
        self.process.join(timeout)
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal to it, unless it has ended."""
        if self.pid is not None and self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()

    def terminate(self) -> None:
        """Ask it to end."""
        self.process.terminate()


class ForkingProvisioner(LocalProvisioner):
    """Starts kernels of the Python that runs, as forks of one server."""

    process: Any = None

    async def launch_kernel(self, cmd: list[str], **options: Any) -> KernelConnectionInfo:
        """Fork a kernel.

        Args:
            cmd: ``[python, "-m", "ipykernel_launcher", ...]``, of which the last part counts.
            options: Of ``Popen``: ``cwd`` and ``env`` count; what the kernel itself writes to its
                standard streams is dropped.

        Returns:
            Where the kernel listens.
        """
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(list(IMPORTED))
        words = cmd[cmd.index("ipykernel_launcher") + 1 :]
        folder = os.fspath(options.get("cwd") or os.getcwd())
        variables = dict(options.get("env") or os.environ)
        process = context.Process(target=_kernel, args=(words, folder, variables))
        backend, usual = os.environ.get("MPLBACKEND"), tempfile.gettempdir()
        os.environ["MPLBACKEND"] = INLINE  # read where matplotlib is imported: in the server
        tempfile.tempdir = short_folder()  # of the server's socket
        try:
            process.start()
        finally:
            tempfile.tempdir = usual
            del os.environ["MPLBACKEND"]
            os.environ.update({} if backend is None else {"MPLBACKEND": backend})
        self.process = ForkedKernel(process)
        self.pid = self.pgid = process.pid
        self.cwd = folder
        return self.connection_info


def _kernel(words: list[str], folder: str, variables: Mapping[str, str]) -> None:
    """Be a kernel, in a session of its own that ends with the server."""
    from ipykernel.kernelapp import IPKernelApp

    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables, MPLBACKEND=INLINE, JPY_PARENT_PID=str(os.getppid()))
    sys.path[:] = _PATH
    sys.argv[:] = ["ipykernel_launcher", *words]
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    IPKernelApp.launch_instance(words)
