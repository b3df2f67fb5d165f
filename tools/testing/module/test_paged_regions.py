# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests ODP MRs of an unprivileged process: large MRs, and many prefetches of one MR."""

import contextlib
import ctypes
import errno
import mmap
import pathlib
import re
import threading
import unittest
from collections.abc import Iterator

import guest
import module_machines as machines
import raw_verbs
import rdma
from control import control, until
from machine import Guest
from unprivileged import unprivileged

# UMRs have no long offsets, and there is no null mkey.
SHORT_REACH = Guest("short-reach", hcas=1, cxemu="--capability umr_extended_translation_offset=0 "
                    "--capability umr_modify_entity_size_disabled=1 --capability dump_fill_mkey=0")
# Discarded pages that are prefetched become the zero page, which the checker of DMA takes for a buffer mapped twice.
ZERO_PAGE = r"(?s)DMA-API: .*cacheline tracking EEXIST.*\bcxib_odp_map\+"
GUESTS = [
    *(each.with_tests("PagedRegions", "Advice") for each in (machines.DEVICE_COMMANDS, machines.DEVICE_COMMANDS_DEBUG)),
    *(each.with_tests("ShortReach") for each in (SHORT_REACH, machines.on_debug(SHORT_REACH, reports=(ZERO_PAGE,)))),
]
PAGED = 1 | 1 << 6
"""Local write, on demand."""
MIB, GIB = 1 << 20, 1 << 30
NOTHING = 1 << 40
"""An address where the program has no memory."""
WHOLE = (1 << 64) - 1
QUEUED_MAX = 64


def mailboxes(name: str) -> int:
    """Number of the driver's command mailboxes, used and unused."""
    pools = pathlib.Path(f"/sys/class/infiniband/{name}/device/pools").read_text()
    (total,) = re.findall(r"^cxib_mailbox\s+\d+\s+(\d+)", pools, re.MULTILINE)
    return int(total)


def sleeps_in_kernel(thread: int) -> bool:
    """Whether a thread of this process waits in the kernel for something other than a signal."""
    state = pathlib.Path(f"/proc/self/task/{thread}/stat").read_text().rpartition(")")[2].split()[0]
    return state == "D"


class PagedRegionTest(unittest.TestCase):
    @contextlib.contextmanager
    def program(self) -> Iterator[raw_verbs.Device]:
        name = rdma.devices()[0]
        with unprivileged(name), contextlib.closing(raw_verbs.Device(name)) as device:
            device.make_basics()
            yield device

    def assert_refused(self, error: int, device: raw_verbs.Device, start: int, length: int) -> None:
        with self.assertRaises(OSError) as caught:
            device.register(start, length, start, PAGED)
        self.assertEqual(errno.errorcode[caught.exception.errno or 0], errno.errorcode[error])


class PagedRegions(PagedRegionTest):
    def test_large_mr_takes_no_mailboxes(self) -> None:
        before = mailboxes(rdma.devices()[0])
        with self.program() as device:
            device.register(NOTHING, 16 * GIB, NOTHING, PAGED)
            device.register(0, WHOLE, 0, PAGED)
        self.assertLess(mailboxes(rdma.devices()[0]) - before, 64)

    def test_mr_beyond_core_list_refused(self) -> None:
        with self.program() as device:
            self.assert_refused(errno.EINVAL, device, NOTHING, 1 << 40)
            self.assert_refused(errno.EINVAL, device, NOTHING, 1 << 45)


class Advice(PagedRegionTest):
    def test_advice_beyond_limit_executed_at_once(self) -> None:
        """The first prefetch waits for a device that does not respond, and all others wait for the first."""
        log = guest.LogTail()
        self.addCleanup(log.close)
        self.addCleanup(control, "faults", "clear")
        memory = raw_verbs.Memory(mmap.PAGESIZE)
        calls = 0

        def advise(device: raw_verbs.Device, key: int) -> None:
            nonlocal calls
            with contextlib.suppress(OSError):  # the device is gone
                for _ in range(2 * QUEUED_MAX):
                    device.advise(key, memory.address, mmap.PAGESIZE)
                    calls += 1

        # Other tests make another device fail, which recovers automatically only at intervals.
        number = len(rdma.devices()) - 1
        name = rdma.devices()[number]
        with unprivileged(name):
            device = raw_verbs.Device(name)
            self.addCleanup(device.close)
            device.make_basics()
            _, key = device.register_region(memory.address, mmap.PAGESIZE, memory.address, PAGED)
        control("fault", f"cqe wqe=UMR nth=1 drop @hca{number}")
        thread = threading.Thread(target=advise, args=(device, key))
        thread.start()
        until(lambda: not thread.is_alive() or calls >= QUEUED_MAX and sleeps_in_kernel(thread.native_id or 0),
              "no more is queued")
        counted = calls
        control("fault", f"health syndrome=1 @hca{number}")
        thread.join()
        self.assertEqual(counted, QUEUED_MAX)
        until(lambda: "up after" in "\n".join(log.read()), "the device comes back")


class ShortReach(PagedRegionTest):
    def test_mr_beyond_offset_limit_refused(self) -> None:
        with self.program() as device:
            device.register(NOTHING, 512 * MIB, NOTHING, PAGED)
            self.assert_refused(errno.EINVAL, device, NOTHING, 512 * MIB + mmap.PAGESIZE)
            self.assert_refused(errno.EINVAL, device, NOTHING, GIB)
            self.assert_refused(errno.EOPNOTSUPP, device, 0, WHOLE)

    def test_pages_prefetched_again_after_discard(self) -> None:
        memory = mmap.mmap(-1, 4 * MIB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        with self.program() as device:
            _, key = device.register_region(address, 4 * MIB, address, PAGED)
            device.advise(key, address, 4 * MIB, flush=True)
            memory.madvise(mmap.MADV_DONTNEED)
            device.advise(key, address, 4 * MIB, flush=True)
            device.register(NOTHING, MIB, NOTHING, PAGED)

    def test_other_memory_changes_key_without_umr(self) -> None:
        """Other memory may have other page sizes, and the device has umr_modify_entity_size_disabled."""
        log = guest.LogTail()
        self.addCleanup(log.close)
        with self.program() as device:
            start = device.queue.address
            region, key = device.register_region(start, mmap.PAGESIZE, start, 1)
            other = start + 8 * mmap.PAGESIZE
            new = device.reregister(region, raw_verbs.REREG_TRANS, start=other, address=other, length=mmap.PAGESIZE)
            self.assertNotEqual(new, key)
        self.assertNotIn("UMR failed", "\n".join(log.read()))

    def test_null_mr_key_missing(self) -> None:
        with self.program() as device:
            self.assertIsNone(device.dump_fill_key)
