#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What becomes of an HCA that fails: it is given up, its users let go, it comes back.

Runs in a guest of tools/testing/module/recovery: cxib has bound two HCAs on one switch, OpenSM runs on the first one.
The tests make the second one fail.
"""

import contextlib
import json
import os
import pathlib
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


class Recovery(unittest.TestCase):
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

    @contextlib.contextmanager
    def recovers(self, reason: str) -> Iterator[None]:
        """What happens inside is noticed, and the device is as good as new in the end."""
        before = self.reporter()["recover"]
        yield
        until(lambda: self.reporter()["recover"] == before + 1, "the device recovers")
        until(self.is_active, "the port is active again")
        self.assertRegex(self.new_messages(), rf"{self.hca.name}: device is given up: {reason}")
        self.assertRegex(self.new_messages(), rf"{self.hca.name}: the device has recovered")
        self.assertEqual(self.reporter()["state"], "healthy")

    def test_from_a_fatal_fault_that_it_reports(self) -> None:
        with self.recovers("it reports a fatal fault"):
            trouble("health", "fatal", "1")

    def test_from_firmware_that_has_stopped(self) -> None:
        with self.recovers("its firmware has stopped"):
            trouble("health", "stop")

    def test_from_a_fault_under_load(self) -> None:
        load = subprocess.Popen(
            ["bash", "-c", "while :; do smpquery -D nodeinfo 0 -C $0; perfquery -x -C $0; done",
             next(self.hca.glob("infiniband/*")).name],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )
        self.addCleanup(load.wait)
        self.addCleanup(os.killpg, load.pid, 9)
        with self.recovers("it reports a fatal fault"):
            time.sleep(2)
            trouble("health", "fatal", "1")

    def test_from_faults_again_and_again(self) -> None:
        for _ in range(3):
            with self.recovers("it reports a fatal fault"):
                trouble("health", "fatal", "1")

    def test_a_fault_that_is_not_fatal_is_only_reported(self) -> None:
        trouble("health", "report", "16")
        until(lambda: "HIGH_TEMP" in self.new_messages() or "syndrome 0x10" in self.new_messages(), "it is mentioned")
        trouble("health", "clear")
        self.assertTrue(self.is_active())

    def test_a_function_level_reset_while_it_is_used(self) -> None:
        guest.write_attribute(self.hca / "reset", "1")
        until(self.is_active, "the port is active again")

    def test_without_automatic_recovery_it_waits_for_the_administrator(self) -> None:
        self.set_automatic("false")
        self.addCleanup(self.set_automatic, "true")
        trouble("health", "fatal", "1")
        until(lambda: "device is given up" in self.new_messages(), "the device is given up")
        until(lambda: self.reporter()["state"] == "error", "devlink shows it")
        trouble("health", "clear")
        subprocess.run(["devlink", "health", "recover", self.name, "reporter", "device"], check=True)
        until(self.is_active, "the port is active again")

    def set_automatic(self, value: str) -> None:
        subprocess.run(["devlink", "health", "set", self.name, "reporter", "device", "auto_recover", value], check=True)

    def test_a_device_that_was_given_up_can_be_unbound(self) -> None:
        self.set_automatic("false")
        trouble("health", "fatal", "1")
        until(lambda: "device is given up" in self.new_messages(), "the device is given up")
        trouble("health", "clear")
        guest.unbind(self.hca)
        self.assertEqual(guest.bind_error(self.hca), "")
        until(self.is_active, "the port is active again")

    def test_pages_that_the_firmware_wants_while_it_runs(self) -> None:
        held = self.pages("held")
        trouble("pages", "request", "100")
        until(lambda: self.pages("held") == held + 100, "the pages are given")
        trouble("pages", "request", "-100")
        until(lambda: self.pages("held") == held, "the pages are taken back")

    def pages(self, name: str) -> int:
        lines = pathlib.Path(f"/sys/kernel/debug/cxib/{self.hca.name}/pages").read_text().splitlines()
        return int(dict(line.split(": ") for line in lines)[name])

    def test_a_link_that_goes_and_comes(self) -> None:
        trouble("link", "down")
        until(lambda: "DOWN" in self.port_state(), "the port is down")
        trouble("link", "up")
        until(self.is_active, "the port is active again")


if __name__ == "__main__":
    unittest.main(verbosity=2)
