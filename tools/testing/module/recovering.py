# SPDX-License-Identifier: GPL-2.0-or-later
"""An HCA that is used, and comes back after it has failed: what tests of that have in common.

cxib has bound two HCAs on one switch, OpenSM runs on the first one. The tests make the second one fail.
"""

import contextlib
import json
import subprocess
import time
import unittest
from collections.abc import Iterator

import guest
from control import control, until
from guest import MELLANOX, find_devices


def trouble(*words: str) -> None:
    """Has the emulator do something to the second HCA."""
    control(*words, "@hca1")


class RecoveryTest(unittest.TestCase):
    """The second HCA fails, and comes back."""

    def setUp(self) -> None:
        self.hca = find_devices(MELLANOX)[1]
        self.log_before = guest.kernel_log()
        subprocess.run(["devlink", "health", "set", self.name, "reporter", "device", "grace_period", "0"], check=True)
        until(self.is_active, "the port is active")

    @property
    def name(self) -> str:
        return f"pci/{self.hca.name}"

    def port_state(self) -> str:
        try:
            return next(self.hca.glob("infiniband/*/ports/1/state")).read_text()
        except (StopIteration, OSError):
            return ""

    def is_active(self) -> bool:
        return "ACTIVE" in self.port_state()

    def reporter(self) -> dict:
        shown = subprocess.run(
            ["devlink", "-j", "health", "show", self.name, "reporter", "device"],
            check=True, capture_output=True, text=True,
        )
        return json.loads(shown.stdout)["health"][self.name][0]

    def new_messages(self) -> str:
        return guest.kernel_log().removeprefix(self.log_before)

    def failures(self) -> int:
        return self.new_messages().count("device is given up")

    @contextlib.contextmanager
    def recovers(self, reason: str) -> Iterator[None]:
        """What happens inside is noticed, and the device is as good as new in the end."""
        before = self.reporter()["recover"]
        start, failures = time.monotonic(), self.failures()
        yield
        until(lambda: self.failures() > failures, "the device is given up")
        given_up = time.monotonic()
        until(lambda: self.reporter()["recover"] == before + 1, "the device recovers")
        recovered = time.monotonic()
        until(self.is_active, "the port is active again")
        # To be compared with Documentation/tuning.rst; the guest has no processor of its own, so it is no assertion.
        print(f"\n    {reason}: given up after {given_up - start:.1f} s, restarted {recovered - given_up:.1f} s later, "
              f"active {time.monotonic() - recovered:.1f} s later", flush=True)
        self.assertRegex(self.new_messages(), rf"{self.hca.name}: device is given up: {reason}")
        self.assertRegex(self.new_messages(), rf"{self.hca.name}: the device has recovered")
        self.assertEqual(self.reporter()["state"], "healthy")
