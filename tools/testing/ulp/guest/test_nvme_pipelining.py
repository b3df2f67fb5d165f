# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests signature pipelining in the kernel's NVMe target: no good response for bad data, and no reset after an error.

The target module is the kernel's with the changes of tools/pipelined_nvmet. Only the target may report a bad block: the
client's kernel does not check, and error reports of its HCA are dropped.
"""

import concurrent.futures
import contextlib
import errno
import mmap
import os
import pathlib
import random
import unittest
from collections.abc import Iterator

import disks
import dma_checker
import nvme
import peer
import pipelined
import protection
import rdma
import removable
import ulp
import wire
from control import control, until
from guest import LogTail
from machines import EVERY_PROTOCOL, PIPELINING_DEBUG, STOCK

GUESTS = [STOCK.with_tests("Disk"), *EVERY_PROTOCOL, PIPELINING_DEBUG]
SIZE = 4096
BLOCKS = SIZE // pipelined.BLOCK  # logical blocks of a read
GUARD = "sct 0x2 / sc 0x82"  # guard check (NVM Express NVM Command Set Specification, 3.1)
READS = 1000
PLACES = 64  # areas of the disk, one for each read
QUEUES = 2  # of nvme.connection(), without the admin queue
SIG_ERR = 0xc  # opcode of the CQE
SHORT_QUEUE = "--queue-size=32"
"""As many as there are reads in flight. For one of 128, the usual length, both ends make so many MRs that on the debug kernel
of a slow machine the connection manager ends the attempt before they are done."""
NO_KEEP_ALIVE = "--keep-alive-tmo=86400"  # keep-alive commands would be counted as well
RETRIES = pathlib.Path("/sys/module/nvme_core/parameters/max_retries")


def serve() -> contextlib.AbstractContextManager:
    return pipelined.target()


def unload() -> None:
    disks.unload("nvme_rdma", "nvmet_rdma", "nvme_fabrics", "nvmet")


def content(place: int) -> bytes:
    return random.Random(place).randbytes(SIZE)  # noqa: S311


def read(descriptor: int, place: int) -> bytes | int:
    """Reads at a place; returns the data or the error number."""
    with mmap.mmap(-1, SIZE) as memory:
        try:
            os.preadv(descriptor, [memory], place * SIZE)
        except OSError as error:
            return error.errno
        return memory[:]


@contextlib.contextmanager
def opened(disk: str) -> Iterator[int]:
    """A disk with known contents; returns its descriptor."""
    descriptor = os.open(disk, os.O_RDWR | os.O_DIRECT)
    try:
        for place in range(PLACES):
            with mmap.mmap(-1, SIZE) as memory:
                memory[:] = content(place)
                os.pwritev(descriptor, [memory], place * SIZE)
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def connected(*options: str) -> Iterator[int]:
    """A disk whose protection information only the target's HCA handles."""
    with (nvme.connection(QUEUES, SHORT_QUEUE, *(options or [nvme.PATIENT])) as disk, protection.left_to_the_hca(disk),
          opened(disk) as descriptor):
        yield descriptor


@contextlib.contextmanager
def bad_blocks(*blocks: int) -> Iterator[None]:
    """Makes these blocks of the target's disk bad inside the context. The client's HCA checks blocks as well, but its
    report is dropped: only the target's response counts."""
    control("fault", f"cqe type={SIG_ERR} drop @hca1")
    try:
        with peer.holding(pipelined.bad_blocks, *blocks):
            yield
    finally:
        control("faults", "clear")


@unittest.skipUnless(os.path.exists(pipelined.MODULE), "the lab has no source of this kernel")
class PipelinedTarget(ulp.Protocol):
    def setUp(self) -> None:
        """Limits the DMA checker's reports, which the debug kernel would print for each command of the host."""
        self.enterContext(dma_checker.limited())
        rdma.run("modprobe", "nvme_core")
        self.addCleanup(disks.write, RETRIES, RETRIES.read_text().strip())
        disks.write(RETRIES, 0)

    def assert_reads_right(self, descriptor: int, count: int = READS, but: tuple[int, ...] = ()) -> None:
        places = [place for place in range(PLACES) if place not in but]
        for number in range(count):
            place = places[number % len(places)]
            self.assertEqual(read(descriptor, place), content(place))


class Disk(PipelinedTarget):
    def assert_counters_grow(self, before: dict[int, tuple[int, ...]], stops: range, cancelled: int) -> None:
        """Asserts that the counters grow and that no QP has been replaced, as a reset would do."""
        after = peer.call(pipelined.counters)
        self.assertEqual(after.keys(), before.keys())
        if not pipelined.HAS_PIPELINING:
            return
        grown = [sum(now[i] for now in after.values()) - sum(then[i] for then in before.values()) for i in range(3)]
        self.assertIn(grown[0], stops)
        self.assertEqual(grown[1:], [cancelled, 0])

    def test_good_reads_stop_nothing(self) -> None:
        with connected() as descriptor:
            before = peer.call(pipelined.counters)
            self.assertEqual(len(before), QUEUES if pipelined.HAS_PIPELINING else 0)
            self.assert_reads_right(descriptor)
            self.assert_counters_grow(before, range(1), 0)

    @unittest.skipUnless(pipelined.HAS_PIPELINING, "counters of cxib")
    def test_read_takes_two_completions_of_target(self) -> None:
        """The command and the response make one completion each. Data that are not posted with the response make a
        third one."""
        for expected, find in ((2, contextlib.nullcontext), (3, pipelined.switched_off)):
            with self.subTest(expected), peer.holding(find), connected(NO_KEEP_ALIVE) as descriptor:
                before = peer.call(pipelined.completions)
                self.assert_reads_right(descriptor, 2 * PLACES)
                self.assertEqual(peer.call(pipelined.completions) - before, 2 * PLACES * expected)

    def test_bad_block_reported_by_target(self) -> None:
        with connected() as descriptor, contextlib.closing(LogTail()) as log:
            before = peer.call(pipelined.counters)
            with bad_blocks(10 * BLOCKS + 3):
                self.assertEqual(read(descriptor, 10), errno.EILSEQ)
                self.assertIn(GUARD, log.text())
                self.assertEqual(peer.call(pipelined.bad_reads), 1)
                self.assert_counters_grow(before, range(1, 2), 1)
                self.assert_reads_right(descriptor, but=(10,))
            self.assert_reads_right(descriptor, PLACES)
            self.assert_counters_grow(before, range(1, 2), 1)

    def test_bad_blocks_among_reads_in_flight_reported(self) -> None:
        for bad in ((20,), (20, 21), (3, 9, 27)):
            with self.subTest(bad), connected() as descriptor:
                before = peer.call(pipelined.counters)
                with (bad_blocks(*(place * BLOCKS for place in bad)),
                      concurrent.futures.ThreadPoolExecutor(32) as pool):
                    results = list(pool.map(lambda place: read(descriptor, place), range(32)))
                self.assertEqual(results, [errno.EILSEQ if place in bad else content(place) for place in range(32)])
                # One stop may handle several errors.
                self.assert_counters_grow(before, range(1, len(bad) + 1), len(bad))
                self.assert_reads_right(descriptor, PLACES)

    def test_bad_written_block_cancels_nothing(self) -> None:
        with nvme.connection(QUEUES, SHORT_QUEUE, nvme.PATIENT) as disk:
            before, blocks = peer.call(pipelined.counters), bytes(protection.SIZE)
            protection.write(disk, blocks)
            with protection.corruption(protection.CLIENT), self.assertRaises(OSError) as raised:
                protection.write(disk, b"x" * protection.SIZE)
            self.assertEqual(raised.exception.errno, errno.EILSEQ)
            self.assertEqual(protection.read(disk), blocks)
            self.assert_counters_grow(before, range(1, 2), 0)

    def test_bad_written_block_among_good_reads_cancels_nothing(self) -> None:
        """The target reads the bad block from the host; it posts responses of other reads after it."""
        with (nvme.connection(1, SHORT_QUEUE, nvme.PATIENT) as disk, opened(disk) as descriptor,
              concurrent.futures.ThreadPoolExecutor(32) as pool):
            before = peer.call(pipelined.counters)
            with protection.corruption(protection.CLIENT):
                written = pool.submit(protection.write, disk, b"x" * protection.SIZE)
                until(lambda: not protection.is_armed(), "the bad block is written", 0)
                results = list(pool.map(lambda place: read(descriptor, place), range(31)))
            self.assertEqual(written.exception().errno, errno.EILSEQ)
            self.assertEqual(results, [content(place) for place in range(31)])
            self.assert_counters_grow(before, range(1, 2), 0)

    def test_bad_block_with_information_on_wire_reported_by_target(self) -> None:
        with nvme.connection(1, SHORT_QUEUE, nvme.PATIENT) as disk:
            protection.write(disk, b"y" * protection.SIZE)
            before = peer.call(pipelined.counters)
            with bad_blocks(protection.PLACE // pipelined.BLOCK):
                self.assertRaises(OSError, protection.read, disk)
            self.assert_counters_grow(before, range(1, 2), 1)
            self.assertEqual(protection.read(disk), b"y" * protection.SIZE)

    def test_target_without_pipelining_reports_bad_block(self) -> None:
        with peer.holding(pipelined.switched_off), connected() as descriptor:
            self.assertEqual(peer.call(pipelined.counters), {})
            with bad_blocks(10 * BLOCKS):
                self.assertEqual(read(descriptor, 10), errno.EILSEQ)
            self.assert_reads_right(descriptor, PLACES)


@unittest.skipUnless(pipelined.HAS_PIPELINING and wire.ALONE, "the stops of cxib's HCA, in this guest")
class Removal(PipelinedTarget):
    """The target's HCA is pulled while its driver handles a stop, at each of the two commands, and returned."""

    # The client detects the lost HCA with keep-alives, which must not fail before.
    OPTIONS = ("--keep-alive-tmo=20", "--reconnect-delay=1")

    def check(self, command: str) -> None:
        hca = removable.hca(0)
        hca.recovers_each_time()
        with connected(*self.OPTIONS) as descriptor, bad_blocks(10 * BLOCKS):
            before = hca.registration()
            control("fault", f"surprise-removal on={command} times=1 @hca0")
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                results = [pool.submit(read, descriptor, place) for place in (10, 11)]
                rdma.until(lambda: hca.registration() != before, "the RDMA device goes")
                control("faults", "clear")
                control("insert", "@hca0")
                removable.come_back(hca)
                self.assertIsInstance(results[0].result(), int)
                self.assertIn(results[1].result(), (errno.EIO, content(11)))
        nvme.listen_again()
        with connected() as descriptor, bad_blocks(10 * BLOCKS):
            self.assertEqual(read(descriptor, 10), errno.EILSEQ)
            self.assert_reads_right(descriptor, PLACES, but=(10,))

    def test_hca_pulled_before_stop_is_queried_never_answers_good(self) -> None:
        self.check("QUERY_QP")

    def test_hca_pulled_before_queue_resumes_never_answers_good(self) -> None:
        self.check("SQD_RTS_QP")
