# SPDX-License-Identifier: GPL-2.0-or-later
"""A program registers a region of memory again: the region keeps its keys, and when the device refuses that, or goes in
the middle of it, the program loses no more than the keys."""

import ctypes
import errno
import mmap
import pathlib
import re
import threading
import unittest

import guest
import raw_verbs
import rdma
from control import control, until

PAGE, HUGE_PAGE = 4096, 1 << 21
LARGE = 40 << 20
"""More pages than one command has translations for: 8192, a number of the driver's choice."""
FAILED = 13  # opcode of the completion of a request that has failed


def pinned_kib() -> int:
    (pinned,) = re.findall(r"VmPin:\s+(\d+) kB", pathlib.Path("/proc/self/status").read_text())
    return int(pinned)


def pins() -> int:
    """Pages that the kernel has pinned since it was started, each as often as it was pinned."""
    pathlib.Path("/proc/sys/vm/stat_refresh").read_bytes()  # adds up what each processor has counted
    (acquired,) = re.findall(r"^nr_foll_pin_acquired (\d+)", pathlib.Path("/proc/vmstat").read_text(), re.MULTILINE)
    return int(acquired)


def living_keys() -> int:
    """Of the whole adapter."""
    return control("objects", "@hca0")["hca0"]["memory key"]["living"]


def leftovers() -> list[str]:
    """Objects that firmware has refused to destroy; the first line is the number of those whose context is closed."""
    adapter = pathlib.Path(f"/sys/class/infiniband/{rdma.devices()[0]}/device").resolve().name
    return pathlib.Path(f"/sys/kernel/debug/cxib/{adapter}/leftovers").read_text().splitlines()


def refuse_destroys() -> None:
    """Until the faults are cleared."""
    control("fault", "command DESTROY_MKEY status=BAD_RESOURCE_STATE @hca0")


def has_two_devices() -> bool:
    return len(list(pathlib.Path("/sys/class/infiniband").glob("*/device/infiniband_verbs/*"))) == 2


class KeptKeys(unittest.TestCase):
    def setUp(self) -> None:
        until(has_two_devices, "no device is gone any more")
        self.log = guest.LogTail()
        self.addCleanup(self.log.close)
        self.addCleanup(control, "faults", "clear")
        self.pinned_before = pinned_kib()
        self.device = raw_verbs.Device(rdma.devices()[0])
        self.device.make_basics()
        self.memory = self.device.queue.address
        self.region, self.key = self.device.register_region(self.memory, 2 * PAGE, self.memory, 1)

    def tearDown(self) -> None:
        self.device.close()
        until(lambda: pinned_kib() == self.pinned_before, "all memory is let go")

    def key_after(self, flags: int, **changes: int) -> int:
        return self.device.reregister(self.region, flags, **changes)

    def make_fail(self, fault: str, times: int = 1) -> None:
        """The next completions: in this test only regions have any."""
        control("fault", f"cqe type=REQ nth=1 times={times} {fault} @hca0")

    def pinned(self) -> int:
        return pinned_kib() - self.pinned_before

    def has_struck(self) -> bool:
        return any(rule["injected"] for rule in control("faults")["rules"])

    def test_access_change_keeps_key(self) -> None:
        self.assertEqual(self.key_after(raw_verbs.REREG_ACCESS, access=7), self.key)
        self.assertEqual(self.key_after(raw_verbs.REREG_ACCESS, access=1), self.key)

    def test_memory_change_keeps_key(self) -> None:
        other = self.memory + 8 * PAGE
        self.assertEqual(self.key_after(raw_verbs.REREG_TRANS, start=other, address=other, length=PAGE), self.key)
        self.assertEqual(pinned_kib() - self.pinned_before, PAGE // 1024)

    def test_memory_beyond_key_changes_key(self) -> None:
        self.assertNotEqual(self.key_after(raw_verbs.REREG_TRANS, length=64 * PAGE), self.key)

    def test_memory_beyond_key_pinned_once(self) -> None:
        memory = raw_verbs.Memory(LARGE)
        before = pins()
        self.assertNotEqual(self.key_after(raw_verbs.REREG_TRANS, start=memory.address, length=LARGE), self.key)
        self.assertGreaterEqual(pins() - before, LARGE // PAGE)
        self.assertLess(pins() - before, 2 * LARGE // PAGE)

    def test_memory_in_smaller_pages_keeps_key(self) -> None:
        """How much of a key the memory takes, so that it has room for other memory, is not a matter of luck."""
        memory = raw_verbs.Memory(2 * HUGE_PAGE, mmap.MAP_PRIVATE)
        memory.map.madvise(mmap.MADV_HUGEPAGE)
        start = -(-memory.address // HUGE_PAGE) * HUGE_PAGE
        ctypes.memset(start, 0, HUGE_PAGE)
        self.region, self.key = self.device.register_region(start, 8 * PAGE, start, 1)
        # It begins in the middle of any larger page then.
        self.assertEqual(self.key_after(raw_verbs.REREG_TRANS, start=start, address=start + PAGE, length=8 * PAGE), self.key)

    def test_failed_change_changes_key(self) -> None:
        for flags in (raw_verbs.REREG_ACCESS, raw_verbs.REREG_TRANS):
            with self.subTest(flags=flags):
                before = self.key_after(raw_verbs.REREG_ACCESS, access=7)
                self.make_fail(f"field=opcode:{FAILED}")
                other = self.memory + 8 * PAGE
                after = self.key_after(flags, access=1, start=other, address=other)
                self.assertTrue(self.has_struck())
                self.assertNotEqual(after, before)
                self.assertRegex("\n".join(self.log.read()), rf"mkey 0x{before:x}: UMR failed: ")
                self.assertEqual(self.key_after(raw_verbs.REREG_ACCESS, access=7), after)
                self.assertEqual(pinned_kib() - self.pinned_before, 2 * PAGE // 1024)

    def test_mr_failed_and_not_destroyed_keeps_memory(self) -> None:
        """Its translations are written by requests, of which the first one fails."""
        memory = raw_verbs.Memory(LARGE + HUGE_PAGE, mmap.MAP_PRIVATE)
        start = -(-memory.address // HUGE_PAGE) * HUGE_PAGE
        before = pinned_kib()
        refuse_destroys()
        self.make_fail(f"field=opcode:{FAILED}")
        with self.assertRaises(OSError) as refused:
            self.device.register_region(start, LARGE, start + PAGE, 1)
        self.assertEqual(refused.exception.errno, errno.EIO)
        self.assertEqual(pinned_kib() - before, LARGE // 1024)
        said = "\n".join(self.log.read())
        self.assertRegex(said, r"mkey 0x\w+: UMR failed: ")
        self.assertNotIn("fatal error", said)
        control("faults", "clear")  # so the end of the context destroys it

    def test_replaced_key_not_destroyed_keeps_memory(self) -> None:
        """Of both regions: the old key still leads to the memory when the program has deregistered the new one. The program
        does not know the old region any more, so it is the driver's to destroy it with the context."""
        keys = living_keys()
        refuse_destroys()
        self.make_fail(f"field=opcode:{FAILED}")
        self.assertNotEqual(self.key_after(raw_verbs.REREG_ACCESS, access=7), self.key)
        self.assertEqual(living_keys(), keys + 1)
        self.assertRegex("\n".join(leftovers()[1:]), "^destroy_mkey .*: not tried again$")
        control("faults", "clear")
        self.device.deregister(self.region)
        self.assertEqual(living_keys(), keys)
        self.assertEqual(self.pinned(), 2 * PAGE // 1024)
        self.assertNotIn("fatal error", "\n".join(self.log.read()))
        self.device.close()
        self.device = raw_verbs.Device(rdma.devices()[0])
        self.assertEqual(living_keys(), keys - 1)
        self.assertEqual(len(leftovers()), 1)

    def test_changed_memory_of_replaced_key_kept(self) -> None:
        """The new region gets other memory; the old key leads to what both had."""
        refuse_destroys()
        self.make_fail(f"field=opcode:{FAILED}")
        replaced = self.key_after(raw_verbs.REREG_ACCESS, access=7)
        control("faults", "clear")
        other = self.memory + 8 * PAGE
        self.assertEqual(self.key_after(raw_verbs.REREG_TRANS, start=other, address=other, length=PAGE), replaced)
        self.assertEqual(self.pinned(), 3 * PAGE // 1024)

    def test_change_failed_and_not_destroyed_keeps_memory(self) -> None:
        """The change fails, and so does the registration of another key for the same memory, which then cannot be destroyed."""
        memory = raw_verbs.Memory(LARGE + HUGE_PAGE, mmap.MAP_PRIVATE)
        start = -(-memory.address // HUGE_PAGE) * HUGE_PAGE
        region, _ = self.device.register_region(start, LARGE, start + PAGE, 1)
        keys = living_keys()
        refuse_destroys()
        self.make_fail(f"field=opcode:{FAILED}", times=2)
        with self.assertRaises(OSError) as refused:
            self.device.reregister(region, raw_verbs.REREG_ACCESS, access=7)
        self.assertEqual(refused.exception.errno, errno.EIO)
        self.assertEqual(living_keys(), keys + 1)
        control("faults", "clear")
        self.device.deregister(region)
        self.assertEqual(living_keys(), keys)
        self.assertEqual(self.pinned(), (LARGE + 2 * PAGE) // 1024)
        self.assertNotIn("fatal error", "\n".join(self.log.read()))

    def test_device_removed_fails_change(self) -> None:
        ends: list[object] = []

        def change() -> None:
            try:
                ends.append(self.key_after(raw_verbs.REREG_TRANS, start=self.memory + 8 * PAGE))
            except OSError as refused:
                ends.append(errno.errorcode[refused.errno])

        self.make_fail("drop")
        program = threading.Thread(target=change)
        program.start()
        until(self.has_struck, "the device has been asked")
        control("fault", "health syndrome=1 @hca0")
        program.join()
        self.assertEqual(ends, ["EIO"])
        until(lambda: "up after" in "\n".join(self.log.read()), "the device comes back")


if __name__ == "__main__":
    unittest.main(verbosity=2)
