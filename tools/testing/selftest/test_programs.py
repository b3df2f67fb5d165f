# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that the background programs of a test end with the test."""

import contextlib
import pathlib
import sys
import unittest
from unittest import mock

TESTING = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTING / "guest"))

import rdma  # noqa: E402

IGNORING = ("bash", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done")


class Background(unittest.TestCase):
    def test_running_program_terminated(self) -> None:
        with rdma.background("sleep", 1000) as child:
            pass
        self.assertEqual(child.returncode, -15)

    def test_ignored_sigterm_fails_with_name(self) -> None:
        with (mock.patch.object(rdma, "PATIENCE", 0.5), self.assertRaisesRegex(AssertionError, "bash.*after SIGTERM"),
              rdma.background(*IGNORING) as child):
            child.stdout.readline()
        self.assertEqual(child.wait(), -9)

    def test_full_pipe_terminated(self) -> None:
        with rdma.background("bash", "-c", "trap 'exit 3' TERM; yes") as child:
            child.stdout.readline()
        self.assertIn(child.returncode, (3, -15, -13))

    def test_exception_inside_terminates_program(self) -> None:
        with contextlib.suppress(ZeroDivisionError), rdma.background("sleep", 1000) as child:
            raise ZeroDivisionError
        self.assertEqual(child.returncode, -15)


if __name__ == "__main__":
    unittest.main()
