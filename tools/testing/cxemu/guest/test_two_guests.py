# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests two virtual machines on one switch, with traffic over the emulated fabric only.

Runs in both guests at the same time; the first one is the server. They synchronize over IPoIB.
"""

import contextlib
import json
import os
import unittest

import ipoib
import rdma
from machine import LONG, Guest

GUEST = Guest("guests", driver="mlx5", vms=2, hcas=1, sm="cxemu", level=LONG)
NUMBER = int(os.environ["LAB_VM"])
ADDRESSES = ("10.7.0.1", "10.7.0.2")
OTHER = ADDRESSES[1 - NUMBER]
TCP_PORT = 18600
SERVES = NUMBER == 0


class TwoGuests(unittest.TestCase):
    """Each guest has one device."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.port = rdma.ports()[0]
        ipoib.set_up(cls.port, f"{ADDRESSES[NUMBER]}/24")
        rdma.until(cls.other_answers, f"{OTHER} answers", evidence=ipoib.state)

    @staticmethod
    def other_answers() -> bool:
        return rdma.succeeds("ping", "-n", "-c", 1, "-W", 2, OTHER)

    @staticmethod
    def call(*program: str | int) -> str:
        """Runs a client for the other guest repeatedly until the server is ready."""
        outputs: list[str] = []

        def attempt() -> bool:
            with contextlib.suppress(AssertionError):
                outputs.append(rdma.run(*program))
            return bool(outputs)

        rdma.until(attempt, f"{program} succeeds")
        return outputs[0]

    def test_1_fabric_has_both_guests_as_nodes(self) -> None:
        self.assertEqual(len(rdma.run("ibhosts").splitlines()), 2)

    def test_2_datagrams_with_checked_data(self) -> None:
        program = ["ibv_ud_pingpong", "-c", "-n", 200, "-s", 2048, "-p", TCP_PORT, "-d", self.port.device]
        output = rdma.run(*program) if SERVES else self.call(*program, OTHER)
        self.assertNotIn("invalid data", output)
        self.assertIn("200 iters in", output)

    def test_3_tcp(self) -> None:
        if SERVES:
            rdma.run("iperf3", "-s", "-1", "-p", TCP_PORT + 1)
            return
        report = json.loads(self.call("iperf3", "-J", "-n", "16M", "-p", TCP_PORT + 1, "-c", OTHER))
        self.assertGreater(report["end"]["sum_received"]["bytes"], 100_000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
