# SPDX-License-Identifier: GPL-2.0-or-later
"""The example of a ULP with a polling context in Documentation: with cxib it has one, without it does."""

import contextlib
import os
import pathlib
import re
import subprocess
import unittest

import guest
from completion_queues import Shown
from control import until
from machines import ALL, MLX5

GUESTS = [*ALL, MLX5]
MODULE = pathlib.Path(__file__).resolve().parents[3] / f"build/example-{os.environ['LAB_KERNEL']}/polling_context.ko"
NAME = "polling_context"
IS_CXIB = os.environ["LAB_DRIVER"] == "cxib"


def ports_are_active() -> bool:
    states = [path.read_text() for hca in guest.find_devices(guest.MELLANOX) for path in hca.glob("infiniband/*/ports/1/state")]
    return len(states) == len(guest.find_devices(guest.MELLANOX)) and all("ACTIVE" in state for state in states)


class Example(unittest.TestCase):
    def setUp(self) -> None:
        self.log = guest.LogTail()
        self.addCleanup(self.log.close)
        subprocess.run(["insmod", MODULE], check=True)
        self.addCleanup(subprocess.run, ["rmmod", NAME], check=True)

    def places(self) -> list[tuple[str, str]]:
        """Where done() has run, by device."""
        return re.findall(r"(\S+): done\(\) runs in (.+): WR flushed", self.log.text())

    def check_thread_of_vector(self) -> None:
        self.assertEqual(len(self.places()), len(guest.find_devices(guest.MELLANOX)))
        for device, place in self.places():
            self.assertRegex(place, rf"^{device}/comp\w+$")

    @unittest.skipUnless(IS_CXIB, "cxib is not there")
    def test_done_runs_in_thread_of_vector(self) -> None:
        self.check_thread_of_vector()
        for hca in guest.find_devices(guest.MELLANOX):
            self.assertEqual([queue.context for queue in Shown(hca).queues.values()].count("thread"), 1)

    @unittest.skipUnless(IS_CXIB, "cxib is not there")
    def test_done_runs_in_thread_of_vector_if_cxib_is_loaded_later(self) -> None:
        guest.unload()
        self.log.forget()
        with contextlib.ExitStack() as overrides:
            for hca in guest.find_devices(guest.MELLANOX):
                overrides.enter_context(guest.override(hca))
            guest.load()
        self.addCleanup(until, ports_are_active, "the ports are active again")
        self.check_thread_of_vector()

    @unittest.skipIf(IS_CXIB, "cxib is there")
    def test_done_runs_in_softirq_with_another_driver(self) -> None:
        self.assertEqual({place for _, place in self.places()}, {"a softirq"})
