# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the signatures that the device generates and checks against the kernel's checksums (AF_ALG), over random data.

The second device has a signature mkey for memory with signatures. The first device writes and reads the plain data.
"""

import dataclasses
import random
import socket
import struct
import time
import unittest
from collections.abc import Callable

import pyverbs.enums as e
import pyverbs.providers.mlx5.mlx5_enums as dve
import rdma
from cxemu_machines import SIGNATURES
from pyverbs.addr import AHAttr
from pyverbs.cq import CQ
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.providers.mlx5.mlx5dv import Mlx5Context, Mlx5DVContextAttr, Mlx5DVQPInitAttr, Mlx5QP
from pyverbs.providers.mlx5.mlx5dv_mkey import (
    Mlx5Mkey,
    Mlx5MkeyConfAttr,
    Mlx5SigBlockAttr,
    Mlx5SigBlockDomain,
    Mlx5SigCrc,
    Mlx5SigT10Dif,
)
from pyverbs.qp import QPAttr, QPCap, QPInitAttrEx
from pyverbs.wr import SGE, SendWR

GUESTS = SIGNATURES
ACCESS = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_READ | e.IBV_ACCESS_REMOTE_WRITE
MEMORY = 64 << 10
PSN = 0x123456
BLOCK_SIZES = {
    512: dve.MLX5DV_BLOCK_SIZE_512,
    520: dve.MLX5DV_BLOCK_SIZE_520,
    4048: dve.MLX5DV_BLOCK_SIZE_4048,
    4096: dve.MLX5DV_BLOCK_SIZE_4096,
    4160: dve.MLX5DV_BLOCK_SIZE_4160,
}
APPLICATION_TAG = 0xABCD
REFERENCE_TAG = 0xFFFFFFFE  # increments past zero
REVERSED = bytes(int(f"{value:08b}"[::-1], 2) for value in range(256))


def kernel_hash(name: str, data: bytes, key: int | None = None) -> bytes:
    """A checksum that the kernel computes. KEY is the initial value of a CRC-32."""
    with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as algorithm:
        algorithm.bind(("hash", name))
        if key is not None:
            algorithm.setsockopt(socket.SOL_ALG, socket.ALG_SET_KEY, struct.pack("<I", key))
        operation, _ = algorithm.accept()
        with operation:
            operation.sendall(data)
            return operation.recv(64)


def t10_crc(data: bytes) -> bytes:
    return kernel_hash("crct10dif", data)[::-1]


def t10_crc_from_ones(data: bytes) -> bytes:
    """T10 CRC with initial ones: equals the CRC of modified data with initial zero."""
    return t10_crc(bytes([data[0] ^ 0xFF, data[1] ^ 0xFF]) + data[2:])


def ip_checksum(data: bytes) -> bytes:
    """IP checksum (RFC 1071), for which the kernel has no hash."""
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack(">H", total ^ 0xFFFF)


def crc32(data: bytes, seed: int = 0xFFFFFFFF) -> bytes:
    """CRC32 of the kernel, which processes the least significant bit first."""
    mirrored = kernel_hash("crc32", data.translate(REVERSED), seed)
    return bytes(byte ^ 0xFF for byte in mirrored.translate(REVERSED))


def crc32_from_zero(data: bytes) -> bytes:
    return crc32(data, 0)


def crc32c(data: bytes) -> bytes:
    return kernel_hash("crc32c", data, 0xFFFFFFFF)


def crc32c_from_zero(data: bytes) -> bytes:
    return kernel_hash("crc32c", data, 0)


def crc64(data: bytes) -> bytes:
    return kernel_hash("crc64-rocksoft", data)


def crc64_from_zero(data: bytes) -> bytes:
    """CRC64 with initial zero; the kernel's starts with ones."""
    return crc64(bytes(byte ^ 0xFF for byte in data[:8]) + data[8:])


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of signature with its expected checksum."""

    checksum: Callable[[bytes], bytes]
    crc: tuple[int, int] | None = None  # type and seed
    dif: tuple[int, int] | None = None  # type and seed of the guard

    def domain(self, block_size: int, flags: int = 0) -> tuple[Mlx5SigBlockDomain, Mlx5SigCrc | Mlx5SigT10Dif]:
        """The signature domain, and the object that it points to: pyverbs keeps no reference to that object."""
        size = BLOCK_SIZES[block_size]
        if self.crc:
            crc = Mlx5SigCrc(crc_type=self.crc[0], seed=self.crc[1])
            return Mlx5SigBlockDomain(sig_type=dve.MLX5DV_SIG_TYPE_CRC, crc=crc, block_size=size), crc
        dif = Mlx5SigT10Dif(
            bg_type=self.dif[0],
            bg=self.dif[1],
            app_tag=APPLICATION_TAG,
            ref_tag=REFERENCE_TAG,
            flags=dve.MLX5DV_SIG_T10DIF_FLAG_REF_REMAP | flags,
        )
        return Mlx5SigBlockDomain(sig_type=dve.MLX5DV_SIG_TYPE_T10DIF, dif=dif, block_size=size), dif

    def sign(self, index: int, block: bytes) -> bytes:
        tags = struct.pack(">HI", APPLICATION_TAG, (REFERENCE_TAG + index) & 0xFFFFFFFF) if self.dif else b""
        return self.checksum(block) + tags


KINDS = {
    "T10-DIF, CRC": Kind(t10_crc, dif=(dve.MLX5DV_SIG_T10DIF_CRC, 0)),
    "T10-DIF, CRC from ones": Kind(t10_crc_from_ones, dif=(dve.MLX5DV_SIG_T10DIF_CRC, 0xFFFF)),
    "T10-DIF, checksum": Kind(ip_checksum, dif=(dve.MLX5DV_SIG_T10DIF_CSUM, 0)),
    "T10-DIF, checksum from ones": Kind(ip_checksum, dif=(dve.MLX5DV_SIG_T10DIF_CSUM, 0xFFFF)),
    "CRC-32": Kind(crc32, crc=(dve.MLX5DV_SIG_CRC_TYPE_CRC32, 0xFFFFFFFF)),
    "CRC-32 from zero": Kind(crc32_from_zero, crc=(dve.MLX5DV_SIG_CRC_TYPE_CRC32, 0)),
    "CRC-32C": Kind(crc32c, crc=(dve.MLX5DV_SIG_CRC_TYPE_CRC32C, 0xFFFFFFFF)),
    "CRC-32C from zero": Kind(crc32c_from_zero, crc=(dve.MLX5DV_SIG_CRC_TYPE_CRC32C, 0)),
    "CRC-64": Kind(crc64, crc=(dve.MLX5DV_SIG_CRC_TYPE_CRC64_XP10, 0xFFFFFFFFFFFFFFFF)),
    "CRC-64 from zero": Kind(crc64_from_zero, crc=(dve.MLX5DV_SIG_CRC_TYPE_CRC64_XP10, 0)),
}


class Side:
    """A device with memory, a signature mkey and one end of a connection."""

    def __init__(self, device: str) -> None:
        self.lid = rdma.Port(device).lid
        self.context = Mlx5Context(Mlx5DVContextAttr(), name=device)
        self.domain = PD(self.context)
        self.completions = CQ(self.context, 64)
        self.memory = MR(self.domain, MEMORY, ACCESS)
        flags = dve.MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT | dve.MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE
        self.key = Mlx5Mkey(self.domain, flags, 4)
        self.queue_pair = self.make_queue_pair()

    def make_queue_pair(self) -> Mlx5QP:
        attributes = QPInitAttrEx(
            cap=QPCap(max_send_wr=64, max_recv_wr=1, max_inline_data=512),
            pd=self.domain,
            scq=self.completions,
            rcq=self.completions,
            qp_type=e.IBV_QPT_RC,
            send_ops_flags=e.IBV_QP_EX_WITH_RDMA_WRITE | e.IBV_QP_EX_WITH_RDMA_READ,
            comp_mask=e.IBV_QP_INIT_ATTR_PD | e.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        )
        more = Mlx5DVQPInitAttr(
            comp_mask=dve.MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS | dve.MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
            create_flags=dve.MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
            send_ops_flags=dve.MLX5DV_QP_EX_WITH_MKEY_CONFIGURE,
        )
        return Mlx5QP(self.context, attributes, more)

    def close(self) -> None:
        """Destroys each object before those that it refers to."""
        for resource in (self.queue_pair, self.key, self.memory, self.completions, self.domain, self.context):
            resource.close()

    def connect(self, peer: "Side") -> None:
        attributes = QPAttr(port_num=1)
        attributes.qp_access_flags = ACCESS
        attributes.path_mtu = e.IBV_MTU_1024
        attributes.dest_qp_num = peer.queue_pair.qp_num
        attributes.rq_psn = attributes.sq_psn = PSN
        attributes.max_dest_rd_atomic = attributes.max_rd_atomic = 4
        attributes.min_rnr_timer = 12
        attributes.retry_cnt = attributes.rnr_retry = 7
        attributes.timeout = 18
        attributes.ah_attr = AHAttr(port_num=1, is_global=0, dlid=peer.lid)
        self.queue_pair.to_rts(attributes)

    def complete(self) -> None:
        limit = time.monotonic() + rdma.PATIENCE
        while time.monotonic() < limit:
            count, completions = self.completions.poll(1)
            if count:
                if completions[0].status != e.IBV_WC_SUCCESS:
                    raise AssertionError(f"the request ended with status {completions[0].status}")
                return
        raise AssertionError("the request doesn't end")

    def configure(self, length: int, **domains: tuple) -> None:
        """Lets the mkey describe the first LENGTH bytes of memory, with signatures in memory, on the wire, or both."""
        queue_pair = self.queue_pair
        queue_pair.wr_start()
        queue_pair.wr_flags = e.IBV_SEND_SIGNALED | e.IBV_SEND_INLINE
        queue_pair.wr_mkey_configure(self.key, 3, Mlx5MkeyConfAttr())
        queue_pair.wr_set_mkey_access_flags(ACCESS)
        queue_pair.wr_set_mkey_layout_list([SGE(self.memory.buf, length, self.memory.lkey)])
        named = {place: domain for place, (domain, _) in domains.items()}
        queue_pair.wr_set_mkey_sig_block(Mlx5SigBlockAttr(**named, check_mask=0xFF))
        queue_pair.wr_complete()
        self.complete()

    def transfer(self, opcode: int, length: int, remote_key: int) -> None:
        request = SendWR(
            opcode=opcode,
            num_sge=1,
            sg=[SGE(self.memory.buf, length, self.memory.lkey)],
            send_flags=e.IBV_SEND_SIGNALED,
        )
        request.set_wr_rdma(remote_key, 0)
        self.queue_pair.post_send(request)
        self.complete()

    def error_of_key(self) -> tuple[int, int]:
        """Type and offset of the reported error."""
        if self.completions.poll(1)[0] != 0:
            raise AssertionError("a signature error ends no work request")
        error = self.key.mkey_check()
        return error.err_type, error.sig_err.offset


class Signatures(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.plain, cls.signed = (Side(device) for device in rdma.devices()[:2])
        cls.plain.connect(cls.signed)
        cls.signed.connect(cls.plain)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.plain.close()
        cls.signed.close()

    def setUp(self) -> None:
        self.random = random.Random(1)  # noqa: S311

    def write_blocks(self, kind: Kind, block_size: int, count: int) -> bytes:
        """Lets the device add signatures to data that the peer writes. Returns the expected content of the memory."""
        blocks = [self.random.randbytes(block_size) for _ in range(count)]
        expected = b"".join(block + kind.sign(index, block) for index, block in enumerate(blocks))
        self.signed.configure(len(expected), mem=kind.domain(block_size))
        self.signed.memory.write(bytes(MEMORY), MEMORY)
        self.plain.memory.write(b"".join(blocks), block_size * count)
        self.plain.transfer(e.IBV_WR_RDMA_WRITE, block_size * count, self.signed.key.rkey)
        return expected

    def test_signatures_in_memory_match_kernel(self) -> None:
        for name, kind in KINDS.items():
            for block_size in BLOCK_SIZES:
                with self.subTest(kind=name, block_size=block_size):
                    expected = self.write_blocks(kind, block_size, count=5)
                    found = self.signed.memory.read(len(expected) + 8, 0)
                    self.assertEqual(found[:-8], expected)
                    self.assertEqual(found[-8:], bytes(8), "nothing behind the last signature")

    def test_valid_signatures_stripped(self) -> None:
        for name, kind in KINDS.items():
            for block_size in BLOCK_SIZES:
                with self.subTest(kind=name, block_size=block_size):
                    expected = self.write_blocks(kind, block_size, count=5)
                    written = self.plain.memory.read(5 * block_size, 0)
                    self.signed.memory.write(expected, len(expected))
                    self.plain.memory.write(bytes(MEMORY), MEMORY)
                    self.plain.transfer(e.IBV_WR_RDMA_READ, 5 * block_size, self.signed.key.rkey)
                    self.assertEqual(self.plain.memory.read(5 * block_size, 0), written)
                    self.assertEqual(self.signed.error_of_key()[0], dve.MLX5DV_MKEY_NO_ERR)

    def blocks(self, kind: Kind, block_size: int) -> tuple[bytes, bytes]:
        """Random data without and with signatures."""
        blocks = [self.random.randbytes(block_size) for _ in range(5)]
        return b"".join(blocks), b"".join(block + kind.sign(index, block) for index, block in enumerate(blocks))

    def test_signatures_on_wire_match_kernel(self) -> None:
        for name, kind in KINDS.items():
            for block_size in BLOCK_SIZES:
                with self.subTest(kind=name, block_size=block_size):
                    data, signed = self.blocks(kind, block_size)
                    self.signed.configure(len(data), wire=kind.domain(block_size))
                    self.signed.memory.write(data, len(data))
                    self.plain.transfer(e.IBV_WR_RDMA_READ, len(signed), self.signed.key.rkey)
                    self.assertEqual(self.plain.memory.read(len(signed), 0), signed)
                    self.signed.memory.write(bytes(MEMORY), MEMORY)
                    self.plain.transfer(e.IBV_WR_RDMA_WRITE, len(signed), self.signed.key.rkey)
                    self.assertEqual(self.signed.memory.read(len(data) + 8, 0), data + bytes(8))
                    self.assertEqual(self.signed.error_of_key()[0], dve.MLX5DV_MKEY_NO_ERR)

    def test_wrong_bits_on_wire_located(self) -> None:
        for name, kind in KINDS.items():
            with self.subTest(kind=name):
                data, signed = self.blocks(kind, 512)
                stride = len(signed) // 5
                bad = self.random.randrange(5)
                spoilt = bytearray(signed)
                spoilt[bad * stride + self.random.randrange(512)] ^= 1 << self.random.randrange(8)
                self.signed.configure(len(data), wire=kind.domain(512))
                self.plain.memory.write(bytes(spoilt), len(spoilt))
                self.plain.transfer(e.IBV_WR_RDMA_WRITE, len(spoilt), self.signed.key.rkey)
                self.assertEqual(
                    self.signed.error_of_key(), (dve.MLX5DV_MKEY_SIG_BLOCK_BAD_GUARD, (bad + 1) * stride - 1)
                )

    def test_memory_signatures_converted_to_wire_signatures(self) -> None:
        """Memory and wire both have signatures, of the same kind or of two kinds."""
        for name, kind in KINDS.items():
            for other in (kind, KINDS["CRC-32C"], KINDS["T10-DIF, checksum"]):
                if kind != other and kind.crc and other.crc and kind.crc[0] == other.crc[0]:
                    continue  # rdma-core lets the device copy a CRC of the same type, whatever its initial value
                with self.subTest(memory=name, wire=other.checksum.__name__):
                    data, signed = self.blocks(kind, 512)
                    on_wire = b"".join(
                        data[i:i + 512] + other.sign(i // 512, data[i:i + 512]) for i in range(0, len(data), 512)
                    )
                    self.signed.configure(len(signed), mem=kind.domain(512), wire=other.domain(512))
                    self.signed.memory.write(signed, len(signed))
                    self.plain.transfer(e.IBV_WR_RDMA_READ, len(on_wire), self.signed.key.rkey)
                    self.assertEqual(self.plain.memory.read(len(on_wire), 0), on_wire)
                    self.signed.memory.write(bytes(MEMORY), MEMORY)
                    self.plain.transfer(e.IBV_WR_RDMA_WRITE, len(on_wire), self.signed.key.rkey)
                    self.assertEqual(self.signed.memory.read(len(signed), 0), signed)
                    self.assertEqual(self.signed.error_of_key()[0], dve.MLX5DV_MKEY_NO_ERR)

    def test_escaped_blocks_not_checked(self) -> None:
        """The signature attributes decide whether the application tag alone, or both tags, escape a block."""
        kind = KINDS["T10-DIF, CRC"]
        right, wrong = dve.MLX5DV_MKEY_NO_ERR, dve.MLX5DV_MKEY_SIG_BLOCK_BAD_GUARD
        cases = {
            0: (wrong, wrong),
            dve.MLX5DV_SIG_T10DIF_FLAG_APP_ESCAPE: (right, right),
            dve.MLX5DV_SIG_T10DIF_FLAG_APP_REF_ESCAPE: (wrong, right),
        }
        for flags, results in cases.items():
            for tags, result in zip((struct.pack(">HI", 0xFFFF, REFERENCE_TAG), b"\xff" * 6), results):
                with self.subTest(flags=flags, tags=tags):
                    block = self.random.randbytes(512)
                    guard = bytes(byte ^ 0xFF for byte in t10_crc(block))
                    self.signed.configure(520, mem=kind.domain(512, flags))
                    self.signed.memory.write(block + guard + tags, 520)
                    self.plain.transfer(e.IBV_WR_RDMA_READ, 512, self.signed.key.rkey)
                    self.assertEqual(self.signed.error_of_key()[0], result)

    def test_wrong_bit_in_memory_located(self) -> None:
        for name, kind in KINDS.items():
            for block_size in (512, 4160):
                with self.subTest(kind=name, block_size=block_size):
                    expected = bytearray(self.write_blocks(kind, block_size, count=5))
                    stride = len(expected) // 5
                    bad = self.random.randrange(5)
                    byte = self.random.randrange(block_size)
                    expected[bad * stride + byte] ^= 1 << self.random.randrange(8)
                    self.signed.memory.write(bytes(expected), len(expected))
                    self.plain.transfer(e.IBV_WR_RDMA_READ, 5 * block_size, self.signed.key.rkey)
                    self.assertEqual(
                        self.signed.error_of_key(),
                        (dve.MLX5DV_MKEY_SIG_BLOCK_BAD_GUARD, (bad + 1) * stride - 1),
                    )

    def test_wrong_tags_distinguished(self) -> None:
        kind = KINDS["T10-DIF, CRC"]
        cases = {2: dve.MLX5DV_MKEY_SIG_BLOCK_BAD_APPTAG, 4: dve.MLX5DV_MKEY_SIG_BLOCK_BAD_REFTAG}
        for offset, error in cases.items():
            expected = bytearray(self.write_blocks(kind, 512, count=2))
            expected[520 + 512 + offset] ^= 0xFF
            self.signed.memory.write(bytes(expected), len(expected))
            self.plain.transfer(e.IBV_WR_RDMA_READ, 1024, self.signed.key.rkey)
            self.assertEqual(self.signed.error_of_key(), (error, 2 * 520 - 1))


if __name__ == "__main__":
    unittest.main()
