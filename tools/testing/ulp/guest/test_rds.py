# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests RDS: messages arrive intact and in order, and RDMA and atomic operations have the specified results."""

import contextlib
import itertools
import os
import random
import subprocess
import unittest
from collections.abc import Iterator

import disks
import dma_checker
import peer
import rdma
import rds
import ulp
import wire
from machines import EVERY_PROTOCOL, LOSS, LOSS_ALL, POLLING, RXE

GUESTS = [*(guest.with_tests("Messages") for guest in (LOSS, LOSS_ALL)), *EVERY_PROTOCOL, RXE, *POLLING]
ATOMIC_MODULE = f"/repo/build/ulp/rds_atomic-{os.environ['LAB_KERNEL']}/rds_atomic.ko"
PORTS = itertools.count(5000)
MEMORY = 1 << 20
ONES = 0xFFFFFFFFFFFFFFFF


@contextlib.contextmanager
def serve() -> Iterator[subprocess.Popen]:
    """Runs the server program."""
    rdma.run("modprobe", "rds_rdma")
    # RDS unmaps all message headers of a connection at its end, in another direction than it mapped them.
    dma_checker.limit()
    with rds.exerciser(wire.SERVER) as program:
        yield program


def unload() -> None:
    if rds.unloading_waits():
        disks.unload("rds_rdma", "rds")


@contextlib.contextmanager
def atomic_rights(module: str) -> Iterator[None]:
    """Adds the atomic access right to memory that RDS registers: RDS omits it, so its peer would refuse."""
    rdma.run("insmod", module)
    try:
        yield
    finally:
        rdma.run("rmmod", "rds_atomic")


class Rds(ulp.Protocol):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        rdma.run("modprobe", "rds_rdma")


class Messages(Rds):
    def exercise(self, mode: str, count: int, size: int) -> None:
        print("\n   ", rdma.run("rds_exercise", mode, "--local", wire.CLIENT, "--remote", wire.SERVER,
                                "--count", count, "--size", size, "--time-limit", rds.PATIENCE).strip(), flush=True)

    def test_signal_before_wait_ends_server(self) -> None:
        """Sends the signal at any time: a program that only records it before an unlimited wait would never end."""
        rdma.run("strace", "-qq", "--kill-on-exit", "-o", "/dev/null", "-e", "inject=recvfrom:signal=SIGTERM",
                 "rds_exercise", "serve", "--local", wire.CLIENT, "--time-limit", 0, timeout=60)

    def test_kernel_responds_to_pings(self) -> None:
        pinging = rds.Socket(wire.CLIENT, next(PORTS), (wire.SERVER, 1))
        self.addCleanup(pinging.close)
        for _ in range(10):
            pinging.ping()

    def test_round_trips_complete(self) -> None:
        self.exercise("ping", 50, 64)

    def test_streamed_messages_verified(self) -> None:
        for size in (0, 1, 4095, 65536, 100000):
            with self.subTest(size):
                self.exercise("stream", 20000 if ulp.WHOLE else 128, size)


class RemoteMemory(Rds):
    """A server offers memory to a client."""

    def setUp(self) -> None:
        number = next(PORTS)
        self.server = self.enterContext(peer.holding(rds.server, wire.SERVER, number, wire.CLIENT, MEMORY))
        self.client = rds.Socket(wire.CLIENT, number, (wire.SERVER, number))
        self.addCleanup(self.client.close)
        self.random = random.Random(number)  # noqa: S311
        self.contents = self.random.randbytes(MEMORY)  # expected content of the server's memory
        self.local = rds.Memory(MEMORY)
        self.client.ping()
        self.server.offer(self.contents)
        self.cookie = self.client.accept_offer()

    def expect(self, offset: int, data: bytes) -> None:
        """Asserts that the server's memory has the data at the offset and is otherwise unchanged."""
        self.contents = self.contents[:offset] + data + self.contents[offset + len(data):]

    def assert_same(self, found: bytes, expected: bytes) -> None:
        """Reports only the first difference, as a mebibyte is too long to print."""
        self.assertEqual(len(found), len(expected))
        if found != expected:
            place = next(place for place in range(len(found)) if found[place] != expected[place])
            self.fail(f"at {place} there is {found[place : place + 16]}, not {expected[place : place + 16]}")

    def assert_as_expected(self) -> None:
        self.assert_same(self.server.contents(), self.contents)


class Transfer(RemoteMemory):
    def transfer(self, offset: int, pieces: list[tuple[int, int]], *, write: bool) -> None:
        addressed = [(self.local.address + start, length) for start, length in pieces]
        self.assertEqual(self.client.transfer(self.cookie, offset, addressed, write=write), 0)
        self.assertEqual(self.server.next_message(), b"transfer")

    def test_read(self) -> None:
        for offset, length in ((0, MEMORY), (1, 1), (4095, 2), (100001, 300007)):
            with self.subTest(offset=offset, length=length):
                self.local.bytes[:] = bytes(MEMORY)
                self.transfer(offset, [(0, length)], write=False)
                self.assert_same(self.local.bytes[:length], self.contents[offset : offset + length])
                self.assert_same(self.local.bytes[length:], bytes(MEMORY - length))

    def test_write(self) -> None:
        for offset, length in ((0, MEMORY), (1, 1), (4095, 2), (100001, 300007)):
            with self.subTest(offset=offset, length=length):
                self.local.bytes[:] = self.random.randbytes(MEMORY)
                self.expect(offset, self.local.bytes[:length])
                self.transfer(offset, [(0, length)], write=True)
                self.assert_as_expected()

    def test_write_from_several_iovecs(self) -> None:
        self.local.bytes[:] = self.random.randbytes(MEMORY)
        pieces = [(17, 5000), (300000, 1), (8192, 4096), (70001, 99999)]
        self.expect(12345, b"".join(self.local.bytes[start : start + length] for start, length in pieces))
        self.transfer(12345, pieces, write=True)
        self.assert_as_expected()


@unittest.skipUnless(os.environ["ULP_DRIVER"] == "cxib", "other drivers do not post masked atomic operations for the kernel")
class Atomic(RemoteMemory):
    """RDS posts every atomic operation as a masked one."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.enterClassContext(peer.holding(atomic_rights, ATOMIC_MODULE))

    def check(self, kind: int, before: int, operands: tuple[int, ...], after: int) -> None:
        """Runs an operation on a word of the server's memory: only this word changes, and the client gets the old
        value."""
        place, result = 4096 + 8, 64
        self.server.set_word(place, before)
        self.expect(place, after.to_bytes(8, "little"))
        self.local.bytes[:] = bytes(MEMORY)
        status = self.client.atomic(kind, self.cookie, place, self.local.address + result, *operands)
        self.assertEqual(status, 0)
        self.assertEqual(self.server.next_message(), b"atomic")
        self.assertEqual(f"{self.local.word(result):#x}", f"{before:#x}")
        self.assert_as_expected()

    def test_fetch_and_add(self) -> None:
        self.check(rds.FETCH_ADD, 0x100, (5,), 0x105)
        self.check(rds.FETCH_ADD, ONES, (2,), 1)

    def test_compare_and_swap(self) -> None:
        self.check(rds.COMPARE_SWAP, 0x105, (0x105, 0xFEDCBA9876543210), 0xFEDCBA9876543210)
        self.check(rds.COMPARE_SWAP, 0x105, (0x104, 0x77), 0x105)

    def test_masked_fetch_and_add_keeps_carries_within_fields(self) -> None:
        # The mask has the highest bit of each field.
        self.check(rds.MASKED_FETCH_ADD, 0x00000001_FFFFFFFF, (1, 0x80000000), 0x00000001_00000000)
        self.check(rds.MASKED_FETCH_ADD, 0xFF7F_00FF_0102_0304, (0x0101010101010101, 0x8080808080808080),
                   0x0080_0100_0203_0405)

    def test_masked_compare_and_swap_honors_masks(self) -> None:
        self.check(rds.MASKED_COMPARE_SWAP, 0x1234_5678, (0xFF78, 0xAAAA_AAAA, 0xFF, 0xFFFF), 0x1234_AAAA)
        self.check(rds.MASKED_COMPARE_SWAP, 0x1234_5678, (0xFF79, 0xAAAA_AAAA, 0xFF, 0xFFFF), 0x1234_5678)
