# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests of recovery share: an HCA that is in use, fails and recovers.

cxib has bound two HCAs on one switch with a subnet manager. The tests make the second HCA fail.
"""

import contextlib
import json
import pathlib
import subprocess
import unittest
from collections.abc import Iterator

import guest
from control import control, until
from guest import MELLANOX, find_devices


def trouble(*words: str) -> None:
    """Sends the emulator a command for the second HCA."""
    control(*words, "@hca1")


TROUBLE = "trouble begins"
STATED = {
    "fatal health syndrome": (TROUBLE, 2),
    "health counter stalled": (TROUBLE, 18),
    "command interface failed": ("commands timed out", 2),
}
"""How soon a fatal error is reported, in seconds, and after which message: Documentation/tuning.rst."""


class RecoveryTest(unittest.TestCase):
    """A test in which the second HCA fails and recovers."""

    def setUp(self) -> None:
        self.hca = find_devices(MELLANOX)[1]
        self.log = guest.LogTail()
        self.addCleanup(self.log.close)
        subprocess.run(["devlink", "health", "set", self.name, "reporter", "device", "grace_period", "0"], check=True)
        until(self.is_active, "the port is active")

    @property
    def name(self) -> str:
        return f"pci/{self.hca.name}"

    def device_name(self) -> str:
        return next(self.hca.glob("infiniband/*")).name

    def limit_commands(self, milliseconds: int) -> None:
        """Sets the command time-out and restarts the device, as the driver reads the time-out at start."""
        limit = pathlib.Path("/sys/kernel/debug/cxib/command_timeout_ms")
        usual = limit.read_text()
        guest.write_attribute(limit, str(milliseconds))
        self.addCleanup(guest.write_attribute, limit, usual)
        self.addCleanup(control, "faults", "clear")
        guest.unbind(self.hca)
        self.assertEqual(guest.bind_error(self.hca), "")
        until(self.is_active, "the port is active again")

    def port_state(self) -> str:
        try:
            return next(self.hca.glob("infiniband/*/ports/1/state")).read_text()
        except (StopIteration, OSError):
            return ""

    def is_active(self) -> bool:
        return "ACTIVE" in self.port_state()

    def reporter(self, reporter: str = "device") -> dict:
        shown = subprocess.run(
            ["devlink", "-j", "health", "show", self.name, "reporter", reporter],
            check=True, capture_output=True, text=True,
        )
        return json.loads(shown.stdout)["health"][self.name][0]

    def new_messages(self) -> str:
        return self.log.text()

    def failures(self) -> int:
        return self.new_messages().count("fatal error: ")

    def tell_times(self, reason: str) -> None:
        """Prints the times in the kernel log. It asserts nothing, as the guest shares its processor."""
        cause, stated = STATED[reason]
        begin, given_up, recovered = (self.log.last_time(text) for text in (
            cause, f"{self.hca.name}: fatal error: ", f"{self.hca.name}: the device has recovered"))
        print(f"\n    {reason}: fatal error after {given_up - begin:.1f} s (stated: {stated} s), restarted "
              f"{recovered - given_up:.1f} s later", flush=True)

    @contextlib.contextmanager
    def recovers(self, reason: str) -> Iterator[None]:
        """Asserts that the driver reports the failure inside the context, and that the device works again
        afterwards."""
        before, failures = self.reporter()["recover"], self.failures()
        guest.write_attribute(pathlib.Path("/dev/kmsg"), TROUBLE)
        yield
        until(lambda: self.failures() > failures, "the fatal error is reported")
        until(lambda: self.reporter()["recover"] == before + 1, "the device recovers")
        until(self.is_active, "the port is active again")
        self.tell_times(reason)
        self.assertRegex(self.new_messages(), rf"{self.hca.name}: fatal error: {reason}")
        self.assertRegex(self.new_messages(), rf"{self.hca.name}: the device has recovered")
        until(lambda: self.reporter()["state"] == "healthy", "devlink shows it")
