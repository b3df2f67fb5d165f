# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests tools/testing/run."""

import pathlib
import signal
import subprocess
import sys

import pytest

RUN = pathlib.Path(__file__).parents[1] / "run"
PATIENCE = 60  # seconds; ends only a test that has already failed
# The program starts a child that reports SIGINT, as CTest starts pytest.
PROGRAM = f"""
import importlib.machinery, importlib.util, sys
loader = importlib.machinery.SourceFileLoader("run", {str(RUN)!r})
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
sys.modules["run"] = run
loader.exec_module(run)
child = "trap 'echo interrupted; exit 3' INT; echo ready; while :; do sleep 0.1; done"
sys.exit(run.run_in_group(["bash", "-c", child]))
"""


@pytest.mark.parametrize("shell", ["", "trap '' INT; "])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_tests_as_ctrl_c_does(number: signal.Signals, shell: str) -> None:
    words = ["bash", "-c", f'{shell}exec "$@"', "bash", sys.executable, "-c", PROGRAM]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout
        assert run.stdout.readline() == "ready\n"
        run.send_signal(number)
        assert run.communicate(timeout=PATIENCE)[0] == "interrupted\n"
        assert run.returncode == 3
