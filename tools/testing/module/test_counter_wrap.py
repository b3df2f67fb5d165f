# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that the driver shows Q counters as firmware reports them: they have 32 bits and wrap to 0."""

import json
import unittest

import module_machines as machines
import rdma
from control import control

GUEST = machines.CASES
LAST = 0xFFFFFFFF
OUT_OF_BUFFER = 0x30
"""Offset in the output of QUERY_Q_COUNTER."""


class CounterWrap(unittest.TestCase):
    def setUp(self) -> None:
        self.port = rdma.ports()[0]
        self.addCleanup(control, "faults", "clear")

    def counter(self) -> int:
        return int((self.port.directory / "hw_counters/out_of_buffer").read_text())

    def statistic(self) -> int:
        """The counter as iproute2's tool shows it."""
        link = f"{self.port.device}/{self.port.number}"
        return int(json.loads(rdma.run("rdma", "-j", "statistic", "show", "link", link))[0]["out_of_buffer"])

    def await_counter(self, expected: int) -> None:
        """Waits for a value: the kernel queries firmware at most every 10 ms."""
        for read in (self.counter, self.statistic):
            rdma.until(lambda read=read: read() == expected, f"{read.__name__} shows {expected}")

    def test_wrapped_counter_begins_at_zero(self) -> None:
        before = self.counter()
        control("fault", f"command QUERY_Q_COUNTER word={OUT_OF_BUFFER:#x}:{LAST:#x} @hca0")
        self.await_counter(LAST)
        control("faults", "clear")
        self.assertLess(before, LAST)
        self.await_counter(before)
