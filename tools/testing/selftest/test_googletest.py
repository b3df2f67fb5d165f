# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of tools/testing/googletest, which runs GoogleTest programs: with shell scripts in place of these programs."""

import pathlib
import subprocess
import tempfile
import unittest

RUNNER = pathlib.Path(__file__).resolve().parents[1] / "googletest"
WRITE = 'for word; do case $word in --gtest_output=json:*) echo "{}" > "${word#*:}" ;; esac; done'


class Ends(unittest.TestCase):
    def run_script(self, *lines: str) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as directory:
            program = pathlib.Path(directory, "program")
            program.write_text("\n".join(("#!/bin/sh", *lines, "")), encoding="utf-8")
            program.chmod(0o755)
            return subprocess.run([RUNNER, program, "--gtest_filter=A.b"], capture_output=True, text=True, check=False)

    def test_program_with_results_passes(self) -> None:
        done = self.run_script(WRITE, 'echo "$1"')
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "--gtest_filter=A.b\n", ""))

    def test_end_before_last_test_fails(self) -> None:
        done = self.run_script("exit 0")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "program: ended with status 0 before its last test")

    def test_status_of_program_kept(self) -> None:
        for status in (1, 23):
            self.assertEqual(self.run_script(WRITE, f"exit {status}").returncode, status)

    def test_signal_after_last_test_fails(self) -> None:
        self.assertEqual(self.run_script(WRITE, "kill -ABRT $$").returncode, 128 + 6)


if __name__ == "__main__":
    unittest.main()
