# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests tools/testing/ulp/guest/results.py: which kernel messages fail a ULP test."""

import pathlib
import socket
import sys
import unittest

TESTING = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTING / "ulp/guest"), str(TESTING.parent / "lab")]

import results  # noqa: E402  (found through the path above)

WARNING = ("WARNING: CPU: 1 PID: 413 at drivers/infiniband/sw/rxe/rxe_pool.c:116 rxe_pool_cleanup+0x15/0x20 [rdma_rxe]",
           "Call Trace:", " rxe_dealloc+0x25/0xa0 [rdma_rxe]", "---[ end trace 0000000000000000 ]---")
HARMLESS = ("DMA-API: mlx5_core 0000:02:00.0: cacheline tracking EEXIST, overlapping mappings aren't supported",
            "WARNING: CPU: 1 PID: 12 at kernel/dma/debug.c:601 add_dma_entry+0x3c7/0x520", "Call Trace:",
            " nvme_rdma_alloc_qe+0x5b/0xb0 [nvme_rdma]", "---[ end trace 0000000000000000 ]---")


class KernelLog(unittest.TestCase):
    def setUp(self) -> None:
        # SOCK_SEQPACKET returns one record per read, as /dev/kmsg does.
        records, self.kernel = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (records, self.kernel):
            end.setblocking(False)
            self.addCleanup(end.close)
        self.log = results.KernelLog(records.fileno())

    def say(self, *lines: str) -> None:
        for number, line in enumerate(lines):
            self.kernel.send(f"4,{number},187456859,-;{line}\n SUBSYSTEM=pci\n DEVICE=+pci:0000:02:00.0\n".encode())

    def test_ordinary_messages_not_reported(self) -> None:
        self.assertEqual([], self.log.complaints())
        self.say("RDS/IB: Passive conn connected <::ffff:10.9.0.1,::ffff:10.9.0.2,0> version 3.1")
        self.assertEqual([], self.log.complaints())

    def test_complaint_reported_once(self) -> None:
        self.say(*WARNING)
        self.assertEqual([WARNING[0]], self.log.complaints())
        self.assertEqual([], self.log.complaints())
        self.say(*WARNING)
        self.assertEqual([WARNING[0]], self.log.complaints())

    def test_harmless_report_ignored(self) -> None:
        self.say(*HARMLESS)
        self.assertEqual([], self.log.complaints())
        self.say(*HARMLESS, *WARNING)
        self.assertEqual([WARNING[0]], self.log.complaints())

    def test_hung_task_reported(self) -> None:
        line = "INFO: task iscsid:311 blocked for more than 240 seconds."
        self.say(line)
        self.assertEqual([line], self.log.complaints())

    def test_later_line_of_message_reported(self) -> None:
        self.say("the device says\\x0aBUG: KASAN: slab-use-after-free in ib_free_cq+0x1/0x2")
        self.assertEqual(["BUG: KASAN: slab-use-after-free in ib_free_cq+0x1/0x2"], self.log.complaints())


if __name__ == "__main__":
    unittest.main()
