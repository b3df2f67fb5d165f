# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests how the ends of tests in guests are reported and judged, with tests that end in every way."""

import os
import pathlib
import re
import subprocess
import sys
import types

import pytest
from guests.collect import VERDICT
from guests.plugin import has_only_skipped
from guests.run import REPO, GuestRun
from machine import Guest

RUNNER = REPO / "tools/testing/guest/run_tests.py"
HEAD = "import os, unittest\n\nclass Case(unittest.TestCase):\n    def test(self):\n        pass\n\n"


def output_of(directory: pathlib.Path, text: str, *names: str) -> tuple[str, int]:
    """Output and exit status of a process with these tests."""
    (directory / "module.py").write_text(text, encoding="ascii")
    done = subprocess.run([sys.executable, RUNNER, *names], env={**os.environ, "PYTHONPATH": str(directory)},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout, done.returncode


def judged(directory: pathlib.Path, text: str, tests: tuple[str, ...] = ("test",)) -> GuestRun:
    """The run of a guest after the process with these tests has ended."""
    run = GuestRun("cxemu", Guest("case"))
    run.tests = [f"module.Case.{test}" for test in tests]
    output, run._status = output_of(directory, text, *run.tests)
    for line in output.splitlines():
        run._take(line)
    return run


def test_passed_test_is_sound(tmp_path: pathlib.Path) -> None:
    run = judged(tmp_path, HEAD)
    assert run.outcome("module.Case.test").passed
    assert not run.verdict()


@pytest.mark.parametrize("fixture", [
    "    @classmethod\n    def tearDownClass(cls):\n        raise ValueError('found')\n",
    "    @classmethod\n    def setUpClass(cls):\n        cls.addClassCleanup(int, 'found')\n",
    "def tearDownModule():\n    raise ValueError('found')\n",
])
def test_failure_behind_last_test_is_complained_of(tmp_path: pathlib.Path, fixture: str) -> None:
    assert "found" in judged(tmp_path, HEAD + fixture).verdict()


def test_end_of_process_behind_last_test_is_complained_of(tmp_path: pathlib.Path) -> None:
    run = judged(tmp_path, HEAD + "    @classmethod\n    def tearDownClass(cls):\n        os._exit(0)\n")
    assert "before their end" in run.verdict()


def test_failed_parent_of_forked_process_is_failed(tmp_path: pathlib.Path) -> None:
    text = HEAD.replace("pass", "if os.fork():\n            os.wait()\n            self.fail('parent')")
    output, status = output_of(tmp_path, text, "module.Case.test")
    assert status == 1
    assert re.findall(r'"test": "module.Case.test", "outcome": "(\w+)"', output) == ["failed"]


def test_interrupted_test_is_failed(tmp_path: pathlib.Path) -> None:
    run = judged(tmp_path, HEAD.replace("pass", "raise KeyboardInterrupt"))
    assert "interrupted" in run.outcome("module.Case.test").reason


def test_skipped_and_expected_outcomes_stay(tmp_path: pathlib.Path) -> None:
    text = HEAD + ("    def test_skipped(self):\n        self.skipTest('why')\n\n"
                   "    @unittest.expectedFailure\n    def test_expected(self):\n        self.fail()\n")
    run = judged(tmp_path, text, ("test", "test_skipped", "test_expected"))
    assert run.outcome("module.Case.test_skipped").skipped
    assert run.outcome("module.Case.test_expected").passed
    assert not run.verdict()


def test_run_with_skipped_tests_only_is_skipped() -> None:
    """Whatever is said of its guest."""
    skipped, passed, sound = (types.SimpleNamespace(nodeid=f"test_x.py::{name}[guest]") for name in ("a", "b", VERDICT))
    assert has_only_skipped({"skipped": [skipped], "passed": [sound]})
    assert not has_only_skipped({"skipped": [skipped], "passed": [passed, sound]})
    assert not has_only_skipped({"passed": [passed, sound]})
