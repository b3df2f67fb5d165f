# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests unreliable datagrams between devices with the test programs of rdma-core and perftest.

Needs a subnet manager and two devices on one switch.
"""

import os
import unittest

import rdma
from cxemu_machines import DEBUG, FABRIC, FABRIC_WHOLE, IOMMU, REBOOTS, VIRTUAL, with_tests

GUESTS = [FABRIC_WHOLE, *with_tests([FABRIC, *IOMMU, *VIRTUAL, *REBOOTS, DEBUG], "PingPong")]
ROUNDS = int(os.environ.get("CXEMU_ROUNDS", "200"))


class PingPong(unittest.TestCase):
    """ibv_ud_pingpong -c, which checks the data that it receives."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.first, cls.second = rdma.ports()[:2]

    def check(self, source: rdma.Port, target: rdma.Port, size: int, *options: str | int) -> None:
        program = ["ibv_ud_pingpong", "-c", "-n", ROUNDS, "-s", size, *options]
        for output in rdma.exchange(program, source, target):
            self.assertNotIn("invalid data", output)
            self.assertRegex(output, rf"\b{ROUNDS} iters in")

    def test_short_messages(self) -> None:
        self.check(self.first, self.second, 64)

    def test_messages_in_other_direction(self) -> None:
        self.check(self.second, self.first, 64)

    def test_messages_of_unaligned_length(self) -> None:
        for size in (1, 2, 3, 1021):
            self.check(self.first, self.second, size)

    def test_messages_of_mtu_length(self) -> None:
        self.check(self.first, self.second, 4096)

    def test_messages_with_grh(self) -> None:
        self.check(self.first, self.second, 1024, "-g", 0)

    def test_completion_events(self) -> None:
        self.check(self.first, self.second, 1024, "-e")

    def test_messages_within_device(self) -> None:
        self.check(self.first, self.first, 2048)


class Perftest(unittest.TestCase):
    """ib_send_bw and ib_send_lat. Their figures are printed only."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.first, cls.second = rdma.ports()[:2]

    def result(self, program: list[str | int]) -> list[str]:
        """The columns of the last result line."""
        _, client = rdma.exchange(program, self.first, self.second)
        columns = rdma.perftest_rows(client)[-1]
        print(f"\n    {' '.join(str(word) for word in program)}: {' '.join(columns)}", flush=True)
        return columns

    def test_bandwidth_of_datagrams(self) -> None:
        # One receive WR per message, because the sender does not wait for a slow receiver.
        columns = self.result(["ib_send_bw", "-c", "UD", "-F", "-s", 2048, "-n", 1000, "-r", 1000])
        self.assertEqual(columns[:2], ["2048", "1000"])
        self.assertGreater(float(columns[3]), 0.0)

    def test_latency_of_datagrams(self) -> None:
        columns = self.result(["ib_send_lat", "-c", "UD", "-F", "-s", 64, "-n", 500])
        self.assertEqual(columns[:2], ["64", "500"])
        self.assertGreater(float(columns[2]), 0.0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
