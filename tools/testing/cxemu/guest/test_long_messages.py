# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests messages of 2 GiB, the maximum, in a guest with less memory: each side maps one piece of memory repeatedly.

Needs a subnet manager and two devices on one switch.
"""

import ctypes
import mmap
import os
import random
import time
import unittest

import rdma
import verbs
from machine import LONG, Guest
from pyverbs import enums
from pyverbs.addr import AHAttr
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

GUEST = Guest("messages", driver="mlx5", sm="cxemu", cxemu="--capability log_max_msg=31", allow="expected_violations.toml",
              level=LONG)
PIECE = 32 << 20  # bytes
LONGEST = 1 << 31
HALF = LONGEST // 2  # an SGE has at most 2 GiB - 1
PATIENCE = 600.0

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
MAP_FIXED, MAP_NORESERVE = 0x10, 0x4000
READ_WRITE = mmap.PROT_READ | mmap.PROT_WRITE


def map_repeatedly(piece: int, length: int) -> int:
    """Maps the file PIECE repeatedly over LENGTH bytes of addresses. Returns the first address."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
    begin = libc.mmap(None, length, 0, flags, -1, 0)
    for address in range(begin, begin + length, PIECE):
        if libc.mmap(address, PIECE, READ_WRITE, mmap.MAP_SHARED | MAP_FIXED, piece, 0) != address:
            raise OSError(ctypes.get_errno(), "mmap")
    return begin


class Side:
    """One connection on a port, with memory for the longest message and one more piece."""

    def __init__(self, port: rdma.Port) -> None:
        self.port = port
        self.file = os.memfd_create("piece")
        os.ftruncate(self.file, PIECE)
        self.content = mmap.mmap(self.file, PIECE)
        self.begin = map_repeatedly(self.file, LONGEST + PIECE)
        self.context = Context(name=port.device)
        self.domain = PD(self.context)
        self.memory = MR(self.domain, LONGEST + PIECE, verbs.ALL_ACCESS, address=self.begin)
        self.completions = CQ(self.context, 16)
        capacity = QPCap(max_send_wr=4, max_recv_wr=4, max_send_sge=3, max_recv_sge=3)
        self.pair = QP(self.domain, QPInitAttr(qp_type=enums.IBV_QPT_RC, scq=self.completions, rcq=self.completions,
                                               cap=capacity, sq_sig_all=1))

    def connect(self, other: "Side", mtu: int) -> None:
        attributes = QPAttr(port_num=self.port.number)
        attributes.ah_attr = AHAttr(dlid=other.port.lid, port_num=self.port.number)
        attributes.dest_qp_num = other.pair.qp_num
        attributes.path_mtu = mtu
        attributes.qp_access_flags = verbs.ALL_ACCESS
        attributes.timeout, attributes.retry_cnt, attributes.rnr_retry, attributes.min_rnr_timer = 18, 7, 7, 12
        attributes.max_rd_atomic = attributes.max_dest_rd_atomic = 1
        self.pair.to_rts(attributes)

    def pieces(self, excess: int = 0) -> list[SGE]:
        """An SGE list for the longest message plus EXCESS bytes."""
        ends = [(0, HALF), (HALF, HALF)] + ([(LONGEST, excess)] if excess else [])
        return [SGE(self.begin + offset, length, self.memory.lkey) for offset, length in ends]

    def post(self, opcode: int, other: "Side", excess: int = 0) -> None:
        pieces = self.pieces(excess)
        request = SendWR(num_sge=len(pieces), sg=pieces, opcode=opcode, send_flags=enums.IBV_SEND_SIGNALED)
        if opcode != enums.IBV_WR_SEND:
            request.set_wr_rdma(other.memory.rkey, other.begin)
        self.pair.post_send(request)

    def complete(self) -> "object":
        """Waits for the next completion."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            count, found = self.completions.poll(1)
            if count:
                return found[0]
            time.sleep(0.05)
        raise AssertionError(f"{self.port.device}: no completion")


class LongMessages(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        first, second = rdma.ports()[:2]
        cls.source, cls.target = Side(first), Side(second)
        cls.source.connect(cls.target, enums.IBV_MTU_4096)
        cls.target.connect(cls.source, enums.IBV_MTU_4096)

    @classmethod
    def tearDownClass(cls) -> None:
        for side in (cls.source, cls.target):
            side.context.close()

    def succeed(self, side: Side, length: int | None = None) -> None:
        completion = side.complete()
        self.assertEqual(completion.status, enums.IBV_WC_SUCCESS, completion)
        if length is not None:
            self.assertEqual(completion.byte_len, length)

    def prepare(self, sender: Side, receiver: Side) -> None:
        sender.content[:] = random.Random(4).randbytes(PIECE)
        receiver.content[:] = bytes(PIECE)

    def check(self) -> None:
        self.assertTrue(self.source.content[:] == self.target.content[:])

    def test_write(self) -> None:
        self.prepare(self.source, self.target)
        self.source.post(enums.IBV_WR_RDMA_WRITE, self.target)
        self.succeed(self.source)
        self.check()

    def test_read(self) -> None:
        self.prepare(self.target, self.source)
        self.source.post(enums.IBV_WR_RDMA_READ, self.target)
        self.succeed(self.source, LONGEST)
        self.check()

    def test_send(self) -> None:
        self.prepare(self.source, self.target)
        pieces = self.target.pieces()
        self.target.pair.post_recv(RecvWR(num_sge=len(pieces), sg=pieces))
        self.source.post(enums.IBV_WR_SEND, self.target)
        self.succeed(self.source)
        self.succeed(self.target, LONGEST)
        self.check()

    def test_message_beyond_limit_fails(self) -> None:
        source, target = Side(self.source.port), Side(self.target.port)
        source.connect(target, enums.IBV_MTU_4096)
        target.connect(source, enums.IBV_MTU_4096)
        source.post(enums.IBV_WR_RDMA_WRITE, target, excess=1)
        self.assertEqual(source.complete().status, enums.IBV_WC_LOC_LEN_ERR)


if __name__ == "__main__":
    unittest.main(verbosity=2)
