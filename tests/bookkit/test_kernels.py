"""Kernels that are forks of a server: each is fresh, in its own folder, and ended like others."""

from __future__ import annotations

import os
import sys
import time

import pytest
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager

from bookkit.kernels import ForkingProvisioner

if sys.platform != "linux":
    pytest.skip("forks are made on Linux", allow_module_level=True)

from jupyter_client.manager import KernelManager


class Kernel:
    """A kernel, and what the cells given to it print."""

    def __init__(self, folder, **variables):
        self.manager = KernelManager(
            kernel_name=CURRENT_ENV_KERNEL_NAME,
            kernel_spec_manager=NbvalKernelspecManager(),
            transport="ipc",
            ip=str(folder / "s"),
        )
        spec = self.manager.kernel_spec
        self.manager.provisioner = ForkingProvisioner(
            kernel_id="", kernel_spec=spec, parent=self.manager
        )
        self.manager.start_kernel(cwd=str(folder), env={**os.environ, **variables})
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def run(self, code):
        """What a cell prints, or the name of its error."""
        said = []

        def hear(message):
            said.append(message["content"].get("text") or message["content"].get("ename", ""))

        self.client.execute_interactive(code, output_hook=hear, timeout=60)
        return "".join(said).strip()

    def end(self):
        """End it, as nbval does."""
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel(tmp_path_factory):
    begun = []

    def begin(**variables):
        begun.append(Kernel(tmp_path_factory.mktemp("k"), **variables))
        return begun[-1]

    yield begin
    for one in begun:
        one.end()


def test_a_kernel_has_its_folder_its_environment_and_the_path_of_a_fresh_python(kernel):
    one = kernel(A_VARIABLE="7")
    one.run("import os, sys")
    assert one.run("print(os.getcwd(), os.environ['A_VARIABLE'])").startswith(
        f"{one.manager.provisioner.cwd} 7"
    )
    assert one.run("print('torch' in sys.modules, 'tests' in sys.modules)") == "True False"
    assert one.run("print('pytest' in sys.modules)") == "False"
    assert one.run("import matplotlib; print(matplotlib.get_backend())").endswith("inline")
    import tests

    beside = os.path.dirname(os.path.dirname(tests.__file__))
    assert one.run(f"print(sys.path[0] == '', {beside + '/tests'!r} in sys.path)") == "True False"


def test_nothing_passes_from_one_kernel_to_the_next(kernel):
    one, other = kernel(), kernel()
    one.run("import torch, os; torch.mark = 1; os.environ['MARK'] = '1'; mark = 1")
    other.run("import torch, os")
    seen = "print(hasattr(torch, 'mark'), 'MARK' in os.environ, 'mark' in globals())"
    assert other.run(seen) == "False False False"
    assert one.run(seen) == "True True True"
    assert other.run("print(torch.rand(1).item())") == one.run("print(torch.rand(1).item())")


def test_an_error_reaches_the_client_and_what_it_writes_elsewhere_is_dropped(kernel, capfd):
    one = kernel()
    assert one.run("1 / 0") == "ZeroDivisionError"
    one.run("import os; os.system('echo lost')")
    assert "lost" not in capfd.readouterr().out


def test_a_kernel_is_interrupted_and_ended(kernel):
    one = kernel()
    process = one.manager.provisioner.process
    one.client.execute("import time; time.sleep(600)")
    time.sleep(0.5)
    one.manager.interrupt_kernel()
    assert one.client.get_shell_msg(timeout=30)["content"]["ename"] == "KeyboardInterrupt"
    assert process.poll() is None
    one.end()
    process.wait(30)
    assert process.poll() is not None


def test_a_kernel_that_dies_is_seen(kernel):
    one = kernel()
    one.client.execute("import os; os._exit(3)")
    assert one.manager.provisioner.process.wait(30) == 3
    assert not one.manager.is_alive()
