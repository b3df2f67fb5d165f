# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the pingpong programs of rdma-core over connected services, with a check of the data where the program has one.

Needs a subnet manager and two devices on one switch.
"""

import os
import unittest

import rdma
from cxemu_machines import MATRIX, TRANSPORT, WIRE

GUESTS = [*TRANSPORT, *WIRE, *MATRIX]
ROUNDS = int(os.environ.get("CXEMU_ROUNDS", "50"))


class PingPong(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.first, cls.second = rdma.ports()[:2]

    def check(self, program: str, size: int, *options: str | int, within: bool = False) -> None:
        command = [program, "-n", ROUNDS, "-s", size, *options]
        for output in rdma.exchange(command, self.first, self.first if within else self.second):
            self.assertNotIn("invalid data", output)
            self.assertNotIn("Failed status", output)
            self.assertRegex(output, rf"(?m)\b{ROUNDS} iters in|^success|^ *remote: LID")


class ReliableConnection(PingPong):
    """ibv_rc_pingpong -c"""

    def test_sizes_around_mtu(self) -> None:
        for size in (1, 3, 1023, 1024, 1025):
            with self.subTest(size):
                self.check("ibv_rc_pingpong", size, "-c", "-m", 1024)

    def test_every_mtu(self) -> None:
        for mtu in (256, 512, 2048, 4096):
            with self.subTest(mtu):
                self.check("ibv_rc_pingpong", 9001, "-c", "-m", mtu)

    def test_long_message(self) -> None:
        self.check("ibv_rc_pingpong", 1 << 20, "-c", "-m", 4096)

    def test_completion_events(self) -> None:
        self.check("ibv_rc_pingpong", 4096, "-c", "-e")

    def test_work_request_builder_interface(self) -> None:
        self.check("ibv_rc_pingpong", 4096, "-c", "-N")

    def test_time_stamps(self) -> None:
        self.check("ibv_rc_pingpong", 1024, "-c", "-t")

    def test_messages_with_grh(self) -> None:
        self.check("ibv_rc_pingpong", 5000, "-c", "-g", 0)

    def test_messages_within_device(self) -> None:
        self.check("ibv_rc_pingpong", 5000, "-c", within=True)


class OtherServices(PingPong):
    """ibv_uc_pingpong -c, ibv_srq_pingpong -c, ibv_xsrq_pingpong"""

    def test_unreliable_connection(self) -> None:
        for size in (1, 1025, 65537):
            with self.subTest(size):
                self.check("ibv_uc_pingpong", size, "-c")

    def test_unreliable_connection_with_events(self) -> None:
        self.check("ibv_uc_pingpong", 4096, "-c", "-e")

    def test_shared_receive_queue(self) -> None:
        for size in (1, 4097):
            with self.subTest(size):
                self.check("ibv_srq_pingpong", size, "-c", "-q", 8)

    def test_shared_receive_queue_with_events(self) -> None:
        self.check("ibv_srq_pingpong", 4096, "-c", "-e")

    def test_xrc(self) -> None:
        for size in (1, 4097, 65536):
            with self.subTest(size):
                self.check("ibv_xsrq_pingpong", size)

    def test_xrc_with_events(self) -> None:
        self.check("ibv_xsrq_pingpong", 4096, "-e")


if __name__ == "__main__":
    unittest.main(verbosity=2)
