# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests atomic operations on 4 to 32 bytes and with masks. They are raw WQEs posted through rdma-core, as verbs have no
such operations.

Needs a subnet manager and two devices on one switch.
"""

import ctypes
import random
import struct
import time
import unittest
from collections.abc import Sequence

import pyverbs.enums as e
import pyverbs.providers.mlx5.mlx5_enums as dve
import rdma
from cxemu_machines import TRANSPORT
from pyverbs.addr import AHAttr
from pyverbs.cq import CQ
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.providers.mlx5.mlx5dv import Mlx5Context, Mlx5DVContextAttr, Mlx5DVQPInitAttr, Mlx5QP, Wqe
from pyverbs.qp import QPAttr, QPCap, QPInitAttrEx

GUESTS = TRANSPORT
ACCESS = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_ATOMIC
MEMORY = 4096
MASKED_COMPARE_SWAP, MASKED_FETCH_ADD = 0x14, 0x15
EXTENDED = 0x8  # in op_mod, with log2 of the size in units of 4 bytes
SIZES = (4, 8, 16, 32)
ROUNDS = 50


def width(size: int) -> int:
    """Bytes of one number. Longer operands consist of several numbers."""
    return min(size, 8)


def numbers(data: bytes, order: str) -> list[int]:
    step = width(len(data))
    return [int.from_bytes(data[i:i + step], order) for i in range(0, len(data), step)]


def packed(values: Sequence[int], size: int, order: str) -> bytes:
    return b"".join(value.to_bytes(width(size), order) for value in values)


class Side:
    """A device with memory and one end of a connection."""

    def __init__(self, port: rdma.Port) -> None:
        self.port = port
        self.context = Mlx5Context(Mlx5DVContextAttr(), name=port.device)
        self.domain = PD(self.context)
        self.completions = CQ(self.context, 16)
        self.memory = MR(self.domain, MEMORY, ACCESS)
        attributes = QPInitAttrEx(
            cap=QPCap(max_send_wr=64, max_recv_wr=1),
            pd=self.domain,
            scq=self.completions,
            rcq=self.completions,
            qp_type=e.IBV_QPT_RC,
            send_ops_flags=e.IBV_QP_EX_WITH_SEND,
            comp_mask=e.IBV_QP_INIT_ATTR_PD | e.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        )
        more = Mlx5DVQPInitAttr(
            comp_mask=dve.MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS | dve.MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
            create_flags=dve.MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,  # rdma-core does not know these operations
            send_ops_flags=dve.MLX5DV_QP_EX_WITH_RAW_WQE,
        )
        self.queue_pair = Mlx5QP(self.context, attributes, more)

    def close(self) -> None:
        for resource in (self.queue_pair, self.memory, self.completions, self.domain, self.context):
            resource.close()

    def connect(self, peer: "Side") -> None:
        attributes = QPAttr(port_num=self.port.number)
        attributes.qp_access_flags = ACCESS
        attributes.path_mtu = e.IBV_MTU_1024
        attributes.dest_qp_num = peer.queue_pair.qp_num
        attributes.max_dest_rd_atomic = attributes.max_rd_atomic = 4
        attributes.min_rnr_timer = 12
        attributes.retry_cnt = attributes.rnr_retry = 7
        attributes.timeout = 18
        attributes.ah_attr = AHAttr(port_num=self.port.number, is_global=0, dlid=peer.port.lid)
        self.queue_pair.to_rts(attributes)

    def complete(self) -> int:
        """Waits for the next completion and returns its status."""
        limit = time.monotonic() + rdma.PATIENCE
        while time.monotonic() < limit:
            count, completions = self.completions.poll(1)
            if count:
                return completions[0].status
        raise AssertionError("the request doesn't end")

    def post(self, opcode: int, operands: bytes, size: int, address: int, key: int) -> int:
        """Posts an atomic operation that returns the old value to the start of local memory. Returns its status."""
        operands += bytes(-len(operands) % 16)
        ds = 3 + len(operands) // 16
        variant = EXTENDED | (size.bit_length() - 3)
        request = struct.pack(">IIIIQII", variant << 24 | opcode, self.queue_pair.qp_num << 8 | ds,
                              dve.MLX5_WQE_CTRL_CQ_UPDATE, 0, address, key, 0)
        request += operands + struct.pack(">IIQ", size, self.memory.lkey, self.memory.buf)
        place = ctypes.create_string_buffer(request, len(request))
        self.queue_pair.wr_start()
        self.queue_pair.wr_raw_wqe(Wqe([], ctypes.addressof(place)))
        self.queue_pair.wr_complete()
        return self.complete()


class ExtendedAtomics(unittest.TestCase):
    """Memory holds operands in host byte order. Software passes and receives them in big-endian order."""

    def setUp(self) -> None:
        self.random = random.Random(22)
        self.here, self.there = (Side(port) for port in rdma.ports()[:2])
        self.addCleanup(self.here.close)
        self.addCleanup(self.there.close)
        self.here.connect(self.there)
        self.there.connect(self.here)

    def run_once(self, opcode: int, size: int, *operands: Sequence[int]) -> list[int]:
        """Changes the start of the remote memory; returns the old value."""
        data = b"".join(packed(operand, size, "big") for operand in operands)
        status = self.here.post(opcode, data, size, self.there.memory.buf, self.there.memory.rkey)
        self.assertEqual(status, e.IBV_WC_SUCCESS)
        # The driver has selected host byte order for 8-byte operands.
        return numbers(self.here.memory.read(size, 0), "little" if size == 8 else "big")

    def place(self, values: Sequence[int], size: int) -> None:
        self.there.memory.write(packed(values, size, "little") + b"\xa5" * 8, size + 8, 0)

    def check_memory(self, values: Sequence[int], size: int) -> None:
        found = self.there.memory.read(size + 8, 0)
        self.assertEqual(numbers(found[:size], "little"), list(values))
        self.assertEqual(found[size:], b"\xa5" * 8, "what lies behind is left alone")

    def random_numbers(self, size: int) -> list[int]:
        return [self.random.getrandbits(8 * width(size)) for _ in range(size // width(size))]

    def test_fetch_and_add(self) -> None:
        for size in SIZES:
            with self.subTest(size):
                limit = 1 << 8 * width(size)
                values = self.random_numbers(size)
                self.place(values, size)
                for _ in range(ROUNDS):
                    added = self.random_numbers(size)
                    found = self.run_once(MASKED_FETCH_ADD, size, added, [0] * len(added))
                    self.assertEqual(found, values)
                    values = [(value + more) % limit for value, more in zip(values, added)]
                    self.check_memory(values, size)

    def test_fetch_and_add_of_bytes(self) -> None:
        """Each byte is a field: no carry reaches the next byte."""
        for size in SIZES:
            with self.subTest(size):
                ends = [int.from_bytes(b"\x80" * width(size))] * (size // width(size))
                values = self.random_numbers(size)
                self.place(values, size)
                added = self.random_numbers(size)
                self.run_once(MASKED_FETCH_ADD, size, added, ends)
                pairs = zip(packed(values, size, "little"), packed(added, size, "little"))
                self.check_memory(numbers(bytes((one + other) & 0xFF for one, other in pairs), "little"), size)

    def test_compare_and_swap(self) -> None:
        for size in SIZES:
            with self.subTest(size):
                values = self.random_numbers(size)
                self.place(values, size)
                for _ in range(ROUNDS):
                    values = self.swap(size, values)
                    self.check_memory(values, size)

    def swap(self, size: int, values: list[int]) -> list[int]:
        """Returns the expected content of the memory."""
        swapped, stored, compared = (self.random_numbers(size) for _ in range(3))
        wanted = [value ^ (noise & ~mask) for value, noise, mask in zip(values, self.random_numbers(size), compared)]
        matches = self.random.random() < 0.5
        if not matches:
            index = self.random.randrange(len(compared))
            compared[index] |= 1
            wanted[index] = values[index] ^ 1
        found = self.run_once(MASKED_COMPARE_SWAP, size, swapped, wanted, stored, compared)
        self.assertEqual(found, values)
        if not matches:
            return values
        return [value & ~mask | new & mask for value, new, mask in zip(values, swapped, stored)]

    def test_misaligned_operand_refused(self) -> None:
        status = self.here.post(MASKED_FETCH_ADD, bytes(32), 16, self.there.memory.buf + 8, self.there.memory.rkey)
        self.assertEqual(status, e.IBV_WC_REM_INV_REQ_ERR)


if __name__ == "__main__":
    unittest.main(verbosity=2)
