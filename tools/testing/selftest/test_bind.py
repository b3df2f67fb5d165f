# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests what scripts/cxib-bind does when it cannot do its work, in a tree like sysfs."""

import fcntl
import os
import pathlib
import subprocess
import tempfile
import unittest

COMMAND = pathlib.Path(__file__).resolve().parents[3] / "scripts/cxib-bind"
DEVICE = "0000:01:00.0"
PATIENCE = 60.0  # seconds; ends only a test that has already failed


class BindTest(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.lock = self.directory / "lock"
        self.adapter = self.directory / "bus/pci/devices" / DEVICE
        self.adapter.mkdir(parents=True)
        (self.directory / "bus/pci/drivers/cxib").mkdir(parents=True)
        for name, text in (("vendor", "0x15b3"), ("device", "0x1017"), ("driver_override", "(null)")):
            (self.adapter / name).write_text(f"{text}\n", encoding="ascii")

    def start(self, *words: str) -> subprocess.Popen[str]:
        environment = os.environ | {"CXIB_BIND_SYSFS": str(self.directory), "CXIB_BIND_UDEV": str(self.directory / "rules"),
                                    "CXIB_BIND_LOCK": str(self.lock)}
        return subprocess.Popen(["bash", COMMAND, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

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

    def test_lock_that_cannot_be_written_named(self) -> None:
        self.lock.mkdir()
        command = self.start("cxib", DEVICE)
        _, said = command.communicate(timeout=PATIENCE)
        self.assertEqual((command.returncode, said), (1, f"cxib-bind: {self.lock} cannot be written; nothing was changed\n"))

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
