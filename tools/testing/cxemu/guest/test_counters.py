# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the device's error counters, which the kernel shows in hw_counters.

Needs a subnet manager and two devices on one switch.
"""

import unittest

import rdma
import verbs
from cxemu_machines import TRANSPORT
from pyverbs import enums

GUESTS = TRANSPORT


def counter(port: rdma.Port, name: str) -> int:
    directories = (port.directory, rdma.CLASS / port.device)
    found = [path for path in directories if (path / "hw_counters" / name).exists()]
    return int((found[0] / "hw_counters" / name).read_text())


class ErrorCounters(unittest.TestCase):
    def setUp(self) -> None:
        self.first, self.second = rdma.ports()[:2]
        self.here, self.there = verbs.connect("rc", self.first, self.second)
        self.addCleanup(self.here.close)
        self.addCleanup(self.there.close)

    def request_fails(self, opcode: int, length: int, key: int, expected: int) -> None:
        request = self.here.request(opcode, 0, length, 0)
        if opcode != enums.IBV_WR_SEND:
            request.set_wr_rdma(key, self.there.memory.buf)
        self.here.post(request, self.there)
        self.assertEqual(self.status(self.here), expected)

    @staticmethod
    def status(side: verbs.Side) -> int:
        found = []
        rdma.until(lambda: found.extend(side.completions.poll(1)[1]) or found, "the request ends")
        return found[0].status

    def counts(self, port: rdma.Port, *names: str) -> dict[str, int]:
        return {name: counter(port, name) for name in names}

    def expect_one_more(self, *counts: tuple[rdma.Port, dict[str, int]]) -> None:
        """Waits until each counter has grown by its count; the kernel updates hw_counters some milliseconds late."""
        for port, before in counts:
            expected = {name: value + 1 for name, value in before.items()}
            rdma.until(lambda: self.counts(port, *before) == expected, f"{port.device} counts {expected}")

    def test_invalid_key_counted(self) -> None:
        self.there.post_receive(0)
        sender = self.counts(self.first, "req_remote_access_errors", "req_cqe_error")
        receiver = self.counts(self.second, "resp_remote_access_errors", "resp_cqe_flush_error", "resp_cqe_error")
        self.request_fails(enums.IBV_WR_RDMA_WRITE, 8, self.there.memory.rkey ^ 0xFF, enums.IBV_WC_REM_ACCESS_ERR)
        self.assertEqual(self.status(self.there), enums.IBV_WC_WR_FLUSH_ERR)
        self.expect_one_more((self.first, sender), (self.second, receiver))

    def test_message_too_long_counted(self) -> None:
        self.there.post_receive(0)
        sender = self.counts(self.first, "req_remote_invalid_request")
        receiver = self.counts(self.second, "resp_local_length_error")
        self.request_fails(enums.IBV_WR_SEND, verbs.MESSAGE + 1, 0, enums.IBV_WC_REM_INV_REQ_ERR)
        self.assertEqual(self.status(self.there), enums.IBV_WC_LOC_LEN_ERR)
        self.expect_one_more((self.first, sender), (self.second, receiver))


if __name__ == "__main__":
    unittest.main(verbosity=2)
