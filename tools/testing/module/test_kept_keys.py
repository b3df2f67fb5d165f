# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests reregistration of an MR: the MR keeps its keys. If the device refuses the change or is removed during it, the
process loses only the keys."""

import ctypes
import errno
import mmap
import pathlib
import re
import threading
import unittest

import guest
import module_machines as machines
import raw_verbs
import rdma
from control import control, until
from ending import run_to_end
from machine import LONG, Guest
from pyverbs import enums
from pyverbs.addr import AHAttr
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR, MW, MWBind, MWBindInfo
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR

GUESTS = [
    *(each.with_tests("KeptKeys") for each in (machines.DEVICE_COMMANDS, machines.DEVICE_COMMANDS_DEBUG)),
    Guest("bound-windows", sm="cxemu", level=LONG).with_tests("BoundWindow"),
]
PAGE, HUGE_PAGE = 4096, 1 << 21
LARGE = 40 << 20
"""More pages than one command has translations for: 8192, a number of the driver's choice."""
FAILED = 13  # opcode of an error CQE


def pinned_kib() -> int:
    (pinned,) = re.findall(r"VmPin:\s+(\d+) kB", pathlib.Path("/proc/self/status").read_text())
    return int(pinned)


def pins() -> int:
    """Number of pins since boot; a page pinned several times counts several times."""
    pathlib.Path("/proc/sys/vm/stat_refresh").read_bytes()  # adds up the counters of all processors
    (acquired,) = re.findall(r"^nr_foll_pin_acquired (\d+)", pathlib.Path("/proc/vmstat").read_text(), re.MULTILINE)
    return int(acquired)


def living_keys() -> int:
    """Number of mkeys of the device."""
    return control("objects", "@hca0")["hca0"]["memory key"]["living"]


def orphans() -> list[str]:
    """Objects that firmware has refused to destroy. The first line is the number of those whose context is closed."""
    adapter = pathlib.Path(f"/sys/class/infiniband/{rdma.devices()[0]}/device").resolve().name
    return pathlib.Path(f"/sys/kernel/debug/cxib/{adapter}/orphans").read_text().splitlines()


def refuse_destroys() -> None:
    """Makes firmware refuse to destroy objects until the faults are cleared."""
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
        """Makes the next UMR WQEs of the driver fail."""
        control("fault", f"cqe wqe=UMR nth=1 times={times} {fault} @hca0")

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
        """The size of an mkey, and so whether other memory fits, must not depend on chance."""
        memory = raw_verbs.Memory(2 * HUGE_PAGE, mmap.MAP_PRIVATE)
        memory.map.madvise(mmap.MADV_HUGEPAGE)
        start = -(-memory.address // HUGE_PAGE) * HUGE_PAGE
        ctypes.memset(start, 0, HUGE_PAGE)
        self.region, self.key = self.device.register_region(start, 8 * PAGE, start, 1)
        # With this offset the memory starts inside any larger page.
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
        """WQEs write the translations, and the first one fails."""
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
        control("faults", "clear")  # so that the end of the context destroys it

    def test_replaced_key_not_destroyed_keeps_memory(self) -> None:
        """The memory of both MRs stays: the old key still leads to it after the process has deregistered the new MR.
        The process no longer has the old MR, so the driver destroys it with the context."""
        keys = living_keys()
        refuse_destroys()
        self.make_fail(f"field=opcode:{FAILED}")
        self.assertNotEqual(self.key_after(raw_verbs.REREG_ACCESS, access=7), self.key)
        self.assertEqual(living_keys(), keys + 1)
        self.assertRegex("\n".join(orphans()[1:]), "^destroy_mkey .*: not tried again$")
        control("faults", "clear")
        self.device.deregister(self.region)
        self.assertEqual(living_keys(), keys)
        self.assertEqual(self.pinned(), 2 * PAGE // 1024)
        self.assertNotIn("fatal error", "\n".join(self.log.read()))
        self.device.close()
        self.device = raw_verbs.Device(rdma.devices()[0])
        self.assertEqual(living_keys(), keys - 1)
        self.assertEqual(len(orphans()), 1)

    def test_changed_memory_of_replaced_key_kept(self) -> None:
        """The new MR gets other memory. The old key still leads to the memory that both MRs had before."""
        refuse_destroys()
        self.make_fail(f"field=opcode:{FAILED}")
        replaced = self.key_after(raw_verbs.REREG_ACCESS, access=7)
        control("faults", "clear")
        other = self.memory + 8 * PAGE
        self.assertEqual(self.key_after(raw_verbs.REREG_TRANS, start=other, address=other, length=PAGE), replaced)
        self.assertEqual(self.pinned(), 3 * PAGE // 1024)

    def test_change_failed_and_not_destroyed_keeps_memory(self) -> None:
        """The change fails, as does the registration of another key for the same memory, which then cannot be
        destroyed."""
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


class BoundWindow(unittest.TestCase):
    """Tests a refusal by firmware to destroy the mkey of an MR to which a memory window is bound. Needs a subnet
    manager."""

    def setUp(self) -> None:
        until(has_two_devices, "no device is gone any more")
        rdma.until(lambda: all(port.state == "ACTIVE" for port in rdma.ports()), "its port is active")
        self.log = guest.LogTail()
        self.addCleanup(self.log.close)
        self.addCleanup(control, "faults", "clear")

    def connect_to_itself(self, context: Context, queue: QP) -> None:
        attributes = QPAttr(port_num=1)
        attributes.qp_access_flags = enums.IBV_ACCESS_REMOTE_WRITE
        attributes.path_mtu = enums.IBV_MTU_1024
        attributes.max_rd_atomic = attributes.max_dest_rd_atomic = 1
        attributes.min_rnr_timer, attributes.timeout = 12, 18
        attributes.retry_cnt = attributes.rnr_retry = 7
        attributes.ah_attr = AHAttr(port_num=1, dlid=context.query_port(1).lid)
        attributes.dest_qp_num = queue.qp_num
        queue.to_rts(attributes)

    def await_success(self, completions: CQ) -> None:
        found: list[int] = []

        def poll() -> bool:
            found.extend(completion.status for completion in completions.poll(1)[1] or [])
            return bool(found)

        until(poll, "the request is completed")
        self.assertEqual(found, [enums.IBV_WC_SUCCESS])

    def replace_region(self) -> object:
        """Binds a window to the MR and changes the MR's access. The device fails to do this, so the MR gets another
        key."""
        access = enums.IBV_ACCESS_LOCAL_WRITE | enums.IBV_ACCESS_MW_BIND
        old, new = raw_verbs.Memory(PAGE), raw_verbs.Memory(PAGE)
        context = Context(name=rdma.devices()[0])
        domain, completions = PD(context), CQ(context, 8)
        window = MW(domain, enums.IBV_MW_TYPE_1)
        queue = QP(domain, QPInitAttr(qp_type=enums.IBV_QPT_RC, scq=completions, rcq=completions,
                                      cap=QPCap(max_send_wr=4, max_recv_wr=1, max_send_sge=1, max_recv_sge=1)))
        self.connect_to_itself(context, queue)
        source = MR(domain, PAGE, access, address=new.address)
        before = pinned_kib()
        region = MR(domain, PAGE, access, address=old.address)
        bind = MWBindInfo(region, old.address, PAGE, enums.IBV_ACCESS_REMOTE_WRITE)
        queue.bind_mw(window, MWBind(bind, enums.IBV_SEND_SIGNALED))
        self.await_success(completions)

        refuse_destroys()
        control("fault", f"cqe wqe=UMR nth=1 field=opcode:{FAILED} @hca0")
        replaced, keys = region.lkey, living_keys()
        region.rereg(enums.IBV_REREG_MR_CHANGE_ACCESS, access=access | enums.IBV_ACCESS_REMOTE_READ)
        self.assertNotEqual(region.lkey, replaced)
        self.assertEqual(living_keys(), keys + 1)
        self.assertEqual(pinned_kib() - before, PAGE // 1024)
        self.assertRegex("\n".join(orphans()[1:]), "^destroy_mkey ")
        control("faults", "clear")
        region.close()
        self.assertEqual(living_keys(), keys)
        self.assertEqual(pinned_kib() - before, PAGE // 1024)

        new.map[:8] = b"anything"
        write = SendWR(opcode=enums.IBV_WR_RDMA_WRITE, num_sge=1, sg=[SGE(new.address, 8, source.lkey)],
                       send_flags=enums.IBV_SEND_SIGNALED)
        write.set_wr_rdma(window.rkey, old.address)
        queue.post_send(write)
        self.await_success(completions)
        self.assertEqual(old.map[:8], b"anything")
        return context, domain, completions, window, queue, source

    def test_replaced_mr_of_window_keeps_memory(self) -> None:
        """The window still leads to the memory when the process has no other object for it, so the memory stays pinned
        until the device has destroyed both."""
        keys = living_keys()
        self.assertEqual(run_to_end(self.replace_region), 0)
        self.assertEqual(living_keys(), keys)
        self.assertEqual(len(orphans()), 1)
        self.assertNotIn("fatal error", "\n".join(self.log.read()))
