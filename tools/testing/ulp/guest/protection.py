# SPDX-License-Identifier: GPL-2.0-or-later
"""Disks whose blocks have protection information, and data that are corrupted before they reach the HCA."""

import contextlib
import errno
import mmap
import os
import pathlib
import random
from collections.abc import Iterator

import disks
import rdma
import ulp
from guest import LogTail

MODULE = f"/repo/build/ulp/corruption-{os.environ['LAB_KERNEL']}/corruption.ko"
PARAMETERS = pathlib.Path("/sys/module/corruption/parameters")
# The function that receives the data of each side, and the position of its argument.
CLIENT, TARGET = ("ib_map_mr_sg_pi", 1), ("rdma_rw_ctx_signature_init", 3)
PLACE, SIZE = 1 << 20, 16 << 10


def is_armed() -> bool:
    return bool(int((PARAMETERS / "armed").read_text()))


@contextlib.contextmanager
def corruption(place: tuple[str, int]) -> Iterator[None]:
    """Corrupts one byte of a side's next transfer, which then does not match its protection information."""
    function, argument = place
    rdma.run("insmod", MODULE, f"symbol={function}", f"argument={argument}", "armed=1")
    try:
        yield
        if is_armed():
            raise AssertionError(f"{function} was not called")
    finally:
        rdma.run("rmmod", "corruption")


@contextlib.contextmanager
def _opened(disk: str) -> Iterator[int]:
    descriptor = os.open(disk, os.O_RDWR | os.O_DIRECT)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def write(disk: str, data: bytes) -> None:
    with _opened(disk) as descriptor, mmap.mmap(-1, len(data)) as memory:
        memory[:] = data
        os.pwritev(descriptor, [memory], PLACE)


def read(disk: str) -> bytes:
    with _opened(disk) as descriptor, mmap.mmap(-1, SIZE) as memory:
        os.preadv(descriptor, [memory], PLACE)
        return memory[:]


@contextlib.contextmanager
def left_to_the_hca(disk: str) -> Iterator[None]:
    """Turns off the computation and the check of protection information in the client's kernel."""
    integrity = disks.BLOCKS / pathlib.Path(disk).name / "integrity"
    names = ("write_generate", "read_verify")
    for name in names:
        disks.write(integrity / name, 0)
    try:
        yield
    finally:
        for name in names:
            disks.write(integrity / name, 1)


class Protected(ulp.Protocol):
    """Base of tests of a disk with protection information. A subclass connects to the disk and knows how an error is
    reported."""

    ERROR = ""  # kernel message about an error

    def connection(self) -> contextlib.AbstractContextManager[str]:
        raise NotImplementedError

    def assert_fails(self, action, *arguments, said: str) -> None:
        with contextlib.closing(LogTail()) as log:
            with self.assertRaises(OSError) as raised:
                action(*arguments)
            self.assertEqual(raised.exception.errno, errno.EILSEQ)
            self.assertIn(said, log.text())

    def test_intact_blocks_pass(self) -> None:
        with contextlib.closing(LogTail()) as log:
            with self.connection() as disk:
                for block in ("512", "4k", "64k", "256k") if ulp.WHOLE else ("4k", "64k"):
                    with self.subTest(block):
                        disks.verify(disk, block, size="1m")
            self.assertNotRegex(log.text(), "(?i)guard|I/O error|PI error")

    def test_hca_inserts_and_strips(self) -> None:
        with self.connection() as disk, left_to_the_hca(disk):
            disks.verify(disk, "64k", size="1m")

    def test_signatures_inserted_by_hca_match_kernel(self) -> None:
        data = random.Random(1).randbytes(SIZE)  # noqa: S311
        with self.connection() as disk:
            with left_to_the_hca(disk):
                write(disk, data)
            self.assertEqual(read(disk), data)
            write(disk, data[::-1])
            with left_to_the_hca(disk):
                self.assertEqual(read(disk), data[::-1])

    def assert_not_written(self, disk: str, before: bytes) -> None:
        """Asserts that the old data have stayed, if the target detects the bad block."""

    def test_bad_written_block_reported_to_writer(self) -> None:
        before, data = bytes(SIZE), b"x" * SIZE
        with self.connection() as disk:
            write(disk, before)
            with corruption(CLIENT):
                self.assert_fails(write, disk, data, said=self.ERROR)
            self.assert_not_written(disk, before)
            write(disk, data)
            self.assertEqual(read(disk), data)
