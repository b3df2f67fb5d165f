# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that tests run besides themselves end with them."""

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
    def test_program_ended_with_the_test(self) -> None:
        with rdma.background("sleep", 1000) as child:
            pass
        self.assertEqual(child.returncode, -15)

    def test_program_that_ignores_its_end_named_and_killed(self) -> None:
        with (mock.patch.object(rdma, "PATIENCE", 0.5), self.assertRaisesRegex(AssertionError, "bash.*after SIGTERM"),
              rdma.background(*IGNORING) as child):
            child.stdout.readline()
        self.assertEqual(child.wait(), -9)

    def test_program_that_writes_to_a_full_pipe_ended(self) -> None:
        with rdma.background("bash", "-c", "trap 'exit 3' TERM; yes") as child:
            child.stdout.readline()
        self.assertIn(child.returncode, (3, -15, -13))

    def test_failure_of_the_test_kept(self) -> None:
        with contextlib.suppress(ZeroDivisionError), rdma.background("sleep", 1000) as child:
            raise ZeroDivisionError
        self.assertEqual(child.returncode, -15)


if __name__ == "__main__":
    unittest.main()
