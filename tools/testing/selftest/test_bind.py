# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests what scripts/cxib-bind does when it cannot do its work, in a tree like sysfs."""

import fcntl
import os
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock
from typing import Any

COMMAND = pathlib.Path(__file__).resolve().parents[3] / "scripts/cxib-bind"
DEVICE = "0000:01:00.0"
PATIENCE = 60.0  # seconds; ends only a test that has already failed


class BindTest(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.lock = self.directory / "lock"
        self.rule = self.directory / "rules/70-cxib-0000-01-00-0.rules"
        self.adapter = self.directory / "bus/pci/devices" / DEVICE
        self.adapter.mkdir(parents=True)
        (self.directory / "bus/pci/drivers/cxib").mkdir(parents=True)
        for name, text in (("vendor", "0x15b3"), ("device", "0x1017"), ("driver_override", "(null)")):
            (self.adapter / name).write_text(f"{text}\n", encoding="ascii")

    def start(self, *words: str, shell: tuple[str, ...] = ("bash",), **where: Any) -> subprocess.Popen[str]:
        environment = os.environ | {"CXIB_BIND_SYSFS": str(self.directory), "CXIB_BIND_UDEV": str(self.rule.parent),
                                    "CXIB_BIND_LOCK": str(self.lock), "CXIB_BIND_INSTALLED": str(COMMAND.parent)}
        where = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | where
        return subprocess.Popen([*shell, COMMAND, *words], env=environment, text=True, **where)

    def end(self, command: subprocess.Popen[str]) -> str:
        """What the command has written to standard error. A command that hangs is ended."""
        self.addCleanup(command.kill)
        return command.communicate(timeout=PATIENCE)[1]

    def test_help_that_cannot_be_written_is_a_failure(self) -> None:
        with open("/dev/full", "w", encoding="ascii") as full:
            command = self.start("--help", stdout=full)
            said = self.end(command)
        self.assertEqual((command.returncode, said), (1, "cxib-bind: the output cannot be written\n"))

    def test_list_that_cannot_be_written_is_a_failure(self) -> None:
        with open("/dev/full", "w", encoding="ascii") as full:
            command = self.start(stdout=full)
            said = self.end(command)
        self.assertEqual(command.returncode, 1)
        self.assertIn("write error", said)

    def test_wrong_option_does_nothing_without_standard_error(self) -> None:
        for words in (("--bost", "cxib", DEVICE), ("cxib", "wrong"), ("wrong", DEVICE)):
            with self.subTest(words=words), open("/dev/full", "w", encoding="ascii") as full:
                command = self.start(*words, stderr=full)
                self.end(command)
                self.assertEqual(command.returncode, 2)
                self.assertFalse(self.lock.exists())

    def end_with_rule(self, *shell: str) -> str:
        command = self.start("cxib", DEVICE, "--boot", shell=shell or ("bash",))
        said = self.end(command)
        self.assertEqual(command.returncode, 1)
        return said

    def test_rule_beyond_file_size_limit_leaves_no_file(self) -> None:
        said = self.end_with_rule("bash", "-c", 'ulimit -f 0; exec bash "$0" "$@"')
        self.assertIn(f"cxib-bind: {self.rule} cannot be written; {DEVICE} keeps its driver, none\n", said)
        self.assertEqual(list(self.rule.parent.iterdir()), [])

    def test_file_of_earlier_failure_does_no_harm(self) -> None:
        unfinished = self.rule.with_suffix(".rules.new")
        self.rule.parent.mkdir()
        for leave in (unfinished.touch, lambda: os.mkfifo(unfinished), lambda: unfinished.symlink_to("/dev/full")):
            leave()
            # The tree has no driver that could take the HCA.
            self.assertIn("cxib does not take", self.end_with_rule())
            self.assertEqual(list(self.rule.parent.iterdir()), [])

    def test_directories_in_place_of_rule_named(self) -> None:
        for path in (self.rule.with_suffix(".rules.new"), self.rule):
            path.mkdir(parents=True)
            self.assertIn(f"cxib-bind: {self.rule} cannot be written; {DEVICE} keeps its driver, none\n", self.end_with_rule())
            self.assertEqual(list(self.rule.parent.iterdir()), [path])
            path.rmdir()

    def test_only_root_can_hold_others_up(self) -> None:
        self.lock.touch(0o644)
        self.start("cxib", DEVICE).communicate(timeout=PATIENCE)
        self.assertEqual(self.lock.stat().st_mode & 0o777, 0o600)

    def test_command_says_that_it_waits_for_another(self) -> None:
        with self.lock.open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            command = self.start("cxib", DEVICE)
            assert command.stderr
            self.assertIn("waiting for another cxib-bind", command.stderr.readline())
            self.assertIsNone(command.poll())
        command.communicate(timeout=PATIENCE)
        self.assertEqual(command.returncode, 1)

    def test_lock_that_is_no_regular_file_refused(self) -> None:
        (self.directory / "directory").mkdir()
        os.mkfifo(self.directory / "fifo")
        (self.directory / "symlink").symlink_to("fifo")
        for name in ("directory", "fifo", "symlink"):
            with self.subTest(name):
                self.lock = self.directory / name
                command = self.start("cxib", DEVICE)
                said = self.end(command)
                self.assertEqual((command.returncode, said),
                                 (1, f"cxib-bind: {self.lock} is no regular file; nothing was changed\n"))

    def test_lock_that_cannot_be_written_named(self) -> None:
        self.lock = self.directory / "missing/lock"
        command = self.start("cxib", DEVICE)
        said = self.end(command)
        self.assertEqual((command.returncode, said), (1, f"cxib-bind: {self.lock} cannot be written; nothing was changed\n"))

    def replace_dmesg(self, script: str) -> dict[str, str]:
        """The environment in which the command calls a script in the middle of its change."""
        program = self.directory / "bin/dmesg"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
        program.chmod(0o755)
        return {"PATH": f"{program.parent}:{os.environ['PATH']}"}

    def test_signals_do_not_end_change_half_done(self) -> None:
        for name in ("HUP", "INT", "QUIT", "PIPE", "TERM", "ALRM", "USR1", "USR2"):
            with self.subTest(signal=name), mock.patch.dict(os.environ, self.replace_dmesg(f"kill -{name} 0")):
                command = self.start("cxib", DEVICE, start_new_session=True)
                said = self.end(command)
                # The tree has no driver that could take the HCA.
                self.assertIn("cxib does not take", said)
                self.assertEqual(command.returncode, 1)

    def test_only_root_may_write_rule(self) -> None:
        seen = self.directory / "seen"
        with mock.patch.dict(os.environ, self.replace_dmesg(f"stat -c %a {self.rule} > {seen}")):
            for mask in ("0", "777"):
                self.end_with_rule("bash", "-c", f'umask {mask}; exec bash "$0" "$@"')
                self.assertEqual(seen.read_text(encoding="ascii"), "644\n")

    def test_adapter_that_is_removed_meanwhile_named(self) -> None:
        """The kernel removes the directory; here driver_override cannot be written either."""
        (self.adapter / "driver_override").unlink()
        (self.adapter / "driver_override").mkdir()
        for words in (("cxib", DEVICE), ("cxib", DEVICE, "--force")):
            command = self.start(*words)
            _, said = command.communicate(timeout=PATIENCE)
            self.assertEqual((command.returncode, said), (1, f"cxib-bind: {DEVICE} is not there any more\n"))


if __name__ == "__main__":
    unittest.main()
