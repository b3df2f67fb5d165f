# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests every byte of a transfer over sizes and alignments: the data arrive, and no byte around them changes.

Needs a subnet manager and two devices on one switch. CXEMU_MATRIX=whole combines more sizes and alignments.
"""

import itertools
import os
import random
import time
import unittest
from collections.abc import Iterator

import rdma
import verbs
from cxemu_machines import TRANSPORT, WIRE, with_tests
from pyverbs import enums
from pyverbs.addr import AHAttr
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.srq import SRQ
from pyverbs.wr import SGE, RecvWR, SendWR

GUESTS = [*TRANSPORT, *with_tests(WIRE, "ReliableConnection.test_atomic_operations")]
WHOLE = os.environ.get("CXEMU_MATRIX", "short") == "whole"
GUARD = 64  # bytes checked before and after the data
MARGIN = 256  # room for alignment and guards
LARGEST = 8 << 20
ROOM = LARGEST + 2 * MARGIN
BLANK = b"\xa5"
ACCESS = (enums.IBV_ACCESS_LOCAL_WRITE | enums.IBV_ACCESS_REMOTE_WRITE | enums.IBV_ACCESS_REMOTE_READ |
          enums.IBV_ACCESS_REMOTE_ATOMIC)
SIZES = (1, 3, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 65537, (1 << 20) + 1, LARGEST)
MORE_SIZES = (2, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 127, 128, 129, 511, 513, 2047, 2048, 2049, 8191, 8193, 65535, 65536)
DEPTH = 32  # work requests in a queue
PIECES = 4  # SGEs of a WR
INLINE = 128  # bytes
ALIGNMENTS = ((0, 0), (1, 0), (0, 3), (63, 65))
MORE_ALIGNMENTS = tuple(itertools.product((0, 1, 2, 3, 7, 63), (0, 1, 2, 3, 7, 65)))


class Side:
    """One QP on one port, with all its objects."""

    def __init__(self, port: rdma.Port, service: int) -> None:
        self.port = port
        self.context = Context(name=port.device)
        self.domain = PD(self.context)
        self.memory = MR(self.domain, ROOM, ACCESS)
        self.completions = CQ(self.context, 2 * DEPTH)
        self.service = service
        self.pair = self.make_pair()

    def make_pair(self) -> QP:
        capabilities = QPCap(max_send_wr=DEPTH, max_recv_wr=DEPTH, max_send_sge=PIECES, max_recv_sge=PIECES,
                             max_inline_data=INLINE)
        return QP(self.domain, QPInitAttr(qp_type=self.service, scq=self.completions, rcq=self.completions,
                                          cap=capabilities, sq_sig_all=1))

    def close(self) -> None:
        self.context.close()

    def connect(self, other: "Side", mtu: int) -> None:
        attributes = QPAttr(port_num=self.port.number)
        attributes.dest_qp_num = other.pair.qp_num
        attributes.path_mtu = mtu
        attributes.qp_access_flags = ACCESS if self.service != enums.IBV_QPT_UC else (
            enums.IBV_ACCESS_LOCAL_WRITE | enums.IBV_ACCESS_REMOTE_WRITE)
        attributes.rq_psn = attributes.sq_psn = 0xFFFFF0  # wraps around early
        attributes.max_rd_atomic = attributes.max_dest_rd_atomic = 4
        attributes.min_rnr_timer, attributes.timeout, attributes.retry_cnt, attributes.rnr_retry = 12, 18, 7, 7
        attributes.ah_attr = AHAttr(port_num=self.port.number, is_global=0, dlid=other.port.lid)
        self.pair.to_rts(attributes)

    def pieces(self, *ranges: tuple[int, int]) -> list[SGE]:
        """An SGE list of (offset, length) in the memory."""
        return [SGE(self.memory.buf + offset, length, self.memory.lkey) for offset, length in ranges]

    def receive(self, *ranges: tuple[int, int]) -> None:
        pieces = self.pieces(*ranges)
        self.receives().post_recv(RecvWR(num_sge=len(pieces), sg=pieces))

    def receives(self) -> QP | SRQ:
        """The queue to which receives are posted."""
        return self.pair

    def post(self, request: SendWR) -> None:
        self.pair.post_send(request)

    def complete(self) -> "object":
        """Waits for the next completion, which must be a success."""
        deadline = time.monotonic() + rdma.PATIENCE
        while time.monotonic() < deadline:
            count, found = self.completions.poll(1)
            if count:
                if found[0].status != enums.IBV_WC_SUCCESS:
                    raise AssertionError(f"completion with status {found[0].status}, syndrome {found[0].vendor_err:#x}")
                return found[0]
        raise AssertionError("no completion")


class XrcSource(Side):
    """The initiator of an XRC connection, which can only send."""

    def make_pair(self) -> QP:
        capabilities = QPCap(max_send_wr=DEPTH, max_recv_wr=0, max_send_sge=PIECES, max_recv_sge=0, max_inline_data=INLINE)
        return verbs.make_xrc_sender(self.context, self.domain, self.completions, capabilities, signals_all=True)

    def connect(self, other: "XrcTarget", mtu: int) -> None:
        super().connect(other, mtu)
        self.queue_number = other.queue.get_srq_num()

    def post(self, request: SendWR) -> None:
        request.set_qp_type_xrc(self.queue_number)
        super().post(request)


class XrcTarget(Side):
    """The target of an XRC connection, which receives into an SRQ of its XRC domain."""

    def make_pair(self) -> QP:
        self.file, self.xrc_domain, self.queue = verbs.make_xrc_queue(self.context, self.domain, self.completions, DEPTH, PIECES)
        return verbs.make_xrc_receiver(self.context, self.xrc_domain)

    def receives(self) -> QP | SRQ:
        return self.queue

    def close(self) -> None:
        for owned in (self.pair, self.queue, self.xrc_domain):
            owned.close()
        super().close()
        self.file.close()


class Patterns(unittest.TestCase):
    SIDES = (Side, Side)
    SERVICE = enums.IBV_QPT_RC
    MTU = enums.IBV_MTU_4096

    def setUp(self) -> None:
        first, second = rdma.ports()[:2]
        of_source, of_target = self.SIDES
        self.source = of_source(first, self.SERVICE)
        self.target = of_target(second, self.SERVICE)
        self.source.connect(self.target, self.MTU)
        self.target.connect(self.source, self.MTU)
        self.random = random.Random(20)
        self.content = self.random.randbytes(LARGEST)

    def tearDown(self) -> None:
        for side in (self.source, self.target):
            side.close()

    def combinations(self) -> Iterator[tuple[int, int, int]]:
        """Yields sizes, and offsets of the data in source and target memory."""
        for size in SIZES + (MORE_SIZES if WHOLE else ()):
            for at_source, at_target in MORE_ALIGNMENTS if WHOLE and size < 1 << 20 else ALIGNMENTS:
                yield size, MARGIN // 2 + at_source, MARGIN // 2 + at_target

    def fill(self, side: Side, offset: int, size: int) -> bytes:
        """Fills the memory of a side with new random data."""
        start = self.random.randrange(LARGEST - size + 1)
        data = self.content[start:start + size]
        side.memory.write(data, size, offset)
        return data

    @staticmethod
    def blank(side: Side, offset: int, size: int) -> None:
        length = size + 2 * GUARD
        side.memory.write(BLANK * length, length, offset - GUARD)

    def check(self, side: Side, offset: int, data: bytes) -> None:
        found = side.memory.read(len(data) + 2 * GUARD, offset - GUARD)
        if found != BLANK * GUARD + data + BLANK * GUARD:
            wanted = BLANK * GUARD + data + BLANK * GUARD
            first = next(i for i, (have, want) in enumerate(zip(found, wanted)) if have != want)
            self.fail(f"{len(data)} bytes: byte {first - GUARD} is {found[first]:#x}, not {wanted[first]:#x}")

    def remote(self, opcode: int, size: int, local: int, remote: int, flags: int = 0) -> SendWR:
        request = SendWR(num_sge=1, sg=self.source.pieces((local, size)), opcode=opcode,
                         send_flags=flags | enums.IBV_SEND_SIGNALED)
        request.set_wr_rdma(self.target.memory.rkey, self.target.memory.buf + remote)
        return request


class OfBothConnections(Patterns):
    """Tests of operations that both RC and UC have."""

    def test_send(self) -> None:
        for size, at_source, at_target in self.combinations():
            data = self.fill(self.source, at_source, size)
            self.blank(self.target, at_target, size)
            self.target.receive((at_target, size))
            self.source.post(SendWR(num_sge=1, sg=self.source.pieces((at_source, size)), opcode=enums.IBV_WR_SEND,
                                    send_flags=enums.IBV_SEND_SIGNALED))
            self.source.complete()
            self.assertEqual(self.target.complete().byte_len, size)
            self.check(self.target, at_target, data)

    def test_write(self) -> None:
        for size, at_source, at_target in self.combinations():
            data = self.fill(self.source, at_source, size)
            self.blank(self.target, at_target, size)
            self.target.receive((0, 1))  # for immediate data only
            request = self.remote(enums.IBV_WR_RDMA_WRITE_WITH_IMM, size, at_source, at_target)
            self.source.post(request)
            self.source.complete()
            self.assertEqual(self.target.complete().byte_len, size)
            self.check(self.target, at_target, data)

    def test_inline_data(self) -> None:
        for size in (1, 2, 3, 4, 15, 16, 17, 31, 33, 64, 65, 127, 128):
            data = self.fill(self.source, MARGIN, size)
            self.blank(self.target, MARGIN + 1, size)
            self.target.receive((0, 1))
            self.source.post(self.remote(enums.IBV_WR_RDMA_WRITE_WITH_IMM, size, MARGIN, MARGIN + 1,
                                         enums.IBV_SEND_INLINE))
            self.source.complete()
            self.target.complete()
            self.check(self.target, MARGIN + 1, data)

    def test_gather_and_scatter_lists_differ(self) -> None:
        for sizes, room in (((1, 2, 3), (4, 1, 1)), ((4095, 2, 4097), (1, 8192, 1)), ((70000, 1, 1), (3, 69998, 1))):
            total = sum(sizes)
            data = self.fill(self.source, MARGIN, total)
            begins = [MARGIN + sum(sizes[:i]) for i in range(len(sizes))]
            self.blank(self.target, MARGIN, total)
            places = [MARGIN + sum(room[:i]) for i in range(len(room))]
            self.target.receive(*zip(places, room))
            pieces = self.source.pieces(*zip(begins, sizes))
            self.source.post(SendWR(num_sge=len(pieces), sg=pieces, opcode=enums.IBV_WR_SEND,
                                    send_flags=enums.IBV_SEND_SIGNALED))
            self.source.complete()
            self.assertEqual(self.target.complete().byte_len, total)
            self.check(self.target, MARGIN, data)


class ReliableConnection(OfBothConnections):
    def test_read(self) -> None:
        for size, at_source, at_target in self.combinations():
            data = self.fill(self.target, at_target, size)
            self.blank(self.source, at_source, size)
            self.source.post(self.remote(enums.IBV_WR_RDMA_READ, size, at_source, at_target))
            self.source.complete()
            self.check(self.source, at_source, data)

    def test_atomic_operations(self) -> None:
        value = self.random.getrandbits(64)
        self.target.memory.write(value.to_bytes(8, "little"), 8, MARGIN)
        for _ in range(50):
            add = self.random.getrandbits(64)
            self.assertEqual(self.atomic(enums.IBV_WR_ATOMIC_FETCH_AND_ADD, add, 0), value)
            value = (value + add) % (1 << 64)
            swap = self.random.getrandbits(64)
            compare = self.random.choice((value, swap))
            self.assertEqual(self.atomic(enums.IBV_WR_ATOMIC_CMP_AND_SWP, compare, swap), value)
            value = swap if compare == value else value
            self.assertEqual(int.from_bytes(self.target.memory.read(8, MARGIN), "little"), value)

    def atomic(self, opcode: int, first: int, second: int) -> int:
        """Runs an atomic operation; returns its result."""
        self.blank(self.source, MARGIN, 8)
        request = SendWR(num_sge=1, sg=self.source.pieces((MARGIN, 8)), opcode=opcode, send_flags=enums.IBV_SEND_SIGNALED)
        request.set_wr_atomic(self.target.memory.rkey, self.target.memory.buf + MARGIN, first, second)
        self.source.post(request)
        self.source.complete()
        before = self.source.memory.read(8, MARGIN)
        self.check(self.source, MARGIN, before)
        return int.from_bytes(before, "little")


class ExtendedReliableConnection(ReliableConnection):
    SIDES = (XrcSource, XrcTarget)
    SERVICE = enums.IBV_QPT_XRC_SEND


class SmallestMtu(OfBothConnections):
    MTU = enums.IBV_MTU_256


class UnreliableConnection(OfBothConnections):
    SERVICE = enums.IBV_QPT_UC


del OfBothConnections  # unittest would run the base class

if __name__ == "__main__":
    unittest.main(verbosity=2)
