# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests commands that create an object and complete late or never: memory that the device may access stays pinned."""

import concurrent.futures
import contextlib
import ctypes
import mmap
import os
import pathlib
import re
import time
from collections.abc import Callable, Iterator

import guest
import module_machines as machines
import raw_verbs
import rdma
import verbs
from control import control, until
from pyverbs import enums
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPCap, QPInitAttr
from pyverbs.srq import SRQ, SrqInitAttr
from recovering import RecoveryTest, trouble

GUESTS = [machines.RECOVERY, machines.RECOVERY_DEBUG]
LIMIT = 6000  # command time-out in milliseconds
PAUSE = 1  # seconds after which a process should wait for the completion; a longer time is no error
LATE = "drop-completion"  # the test lets the command complete
SIZE = 1 << 20
WRITTEN, UNTOUCHED = b"\x5a" * 8, b"\x00" * 8


def pinned() -> int:
    """Bytes that this process has pinned."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmPin:"))


def next_key(domain: PD) -> int:
    """The number of the next mkey: mkeys are numbered in sequence."""
    with contextlib.closing(MR(domain, 4096, verbs.ALL_ACCESS)) as first, \
            contextlib.closing(MR(domain, 4096, verbs.ALL_ACCESS)) as second:
        index = 2 * (second.rkey >> 8) - (first.rkey >> 8)
        with contextlib.closing(MR(domain, 4096, verbs.ALL_ACCESS)) as third:
            assert third.rkey >> 8 == index
            return index << 8 | (third.rkey + 1) & 0xFF


def address_of(memory: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def num_sleeping() -> int:
    """Number of this process's threads in uninterruptible sleep."""
    states = [path.read_text().rsplit(")", 1)[1].split()[0] for path in pathlib.Path("/proc/self/task").glob("*/stat")]
    return states.count("D")


class LateAnswers(RecoveryTest):
    def setUp(self) -> None:
        super().setUp()
        self.limit_commands(LIMIT)
        self.pinned = pinned()

    def objects(self) -> dict[str, int]:
        return {kind: numbers["living"] for kind, numbers in control("objects", "@hca1")["hca1"].items()
                if numbers["living"]}

    def is_refused(self, make: Callable[[], object], fault: str) -> None:
        """Asserts that the caller gets an error, whatever the device does afterwards."""
        trouble("fault", f"command {fault} times=1")
        with self.assertRaises(PyverbsRDMAError):
            make()

    def complete_late(self) -> None:
        self.assertEqual(control("complete", "@hca1"), {"hca1": 1})

    @contextlib.contextmanager
    def completing_late(self) -> Iterator[None]:
        """Lets another process complete the command, so that the code inside the context may wait for it."""
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                time.sleep(PAUSE)
                self.complete_late()
                os._exit(0)
            os._exit(1)
        yield
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def came_late(self) -> bool:
        return "late completion after" in self.new_messages()

    def test_mr_created_late_destroyed(self) -> None:
        before = self.objects()
        context = Context(name=self.device_name())
        domain = PD(context)
        self.is_refused(lambda: MR(domain, SIZE, enums.IBV_ACCESS_LOCAL_WRITE), f"CREATE_MKEY {LATE}")
        self.assertGreaterEqual(pinned() - self.pinned, SIZE, "the device has the region still")
        with self.completing_late():
            domain.close()  # waits for the completion
        self.assertTrue(self.came_late())
        until(lambda: pinned() == self.pinned, "the memory is free")
        context.close()
        self.assertEqual(self.objects(), before)

    def test_mr_refused_late_freed(self) -> None:
        context = Context(name=self.device_name())
        domain = PD(context)
        self.is_refused(lambda: MR(domain, SIZE, enums.IBV_ACCESS_LOCAL_WRITE),
                        f"CREATE_MKEY {LATE} status=NO_RESOURCES")
        self.assertGreaterEqual(pinned() - self.pinned, SIZE)
        self.complete_late()
        until(lambda: pinned() == self.pinned, "the memory is free")
        domain.close()
        context.close()

    def test_queues_created_late_destroyed(self) -> None:
        before = self.objects()
        context = Context(name=self.device_name())
        domain, completions = PD(context), CQ(context, 16)
        capacity = QPCap(max_send_wr=16, max_recv_wr=16, max_send_sge=1, max_recv_sge=1)
        wanted = QPInitAttr(qp_type=enums.IBV_QPT_RC, scq=completions, rcq=completions, cap=capacity)
        makers: dict[str, Callable[[], object]] = {
            "CREATE_CQ": lambda: CQ(context, 4096),
            "CREATE_RMP": lambda: SRQ(domain, SrqInitAttr()),
            "CREATE_QP": lambda: QP(domain, wanted),
        }
        for command, make in makers.items():
            here = pinned()
            self.is_refused(make, f"{command} {LATE}")
            self.assertGreater(pinned(), here, command)
            self.complete_late()
            until(lambda: pinned() <= here, "the memory is free")
        for owned in (completions, domain, context):
            owned.close()
        self.assertEqual(self.objects(), before)

    def test_guessed_key_does_not_reach_freed_memory(self) -> None:
        port = next(port for port in rdma.ports() if port.device == self.device_name())
        here, there = verbs.Side(port, "rc"), verbs.Side(port, "rc")
        here.connect(there)
        there.connect(here)
        memory = mmap.mmap(-1, SIZE)
        key = next_key(there.domain)
        self.is_refused(lambda: MR(there.domain, SIZE, verbs.ALL_ACCESS, address=address_of(memory)),
                        f"CREATE_MKEY {LATE}")
        self.complete_late()
        until(self.came_late, "the answer comes")
        until(lambda: pinned() - self.pinned < 2 * (verbs.BULK + verbs.DEPTH * verbs.MESSAGE) + SIZE, "it is unpinned")
        here.memory.write(WRITTEN, 8)
        request = here.request(enums.IBV_WR_RDMA_WRITE, 0, 8)
        request.set_wr_rdma(key, address_of(memory))
        here.post(request, there)
        found: list = []
        rdma.until(lambda: bool(found.extend(here.completions.poll(1)[1]) or found), "the request ends")
        self.assertEqual(found[0].status, enums.IBV_WC_REM_ACCESS_ERR)
        self.assertEqual(memory[:8], UNTOUCHED)
        here.close()
        there.close()

    def test_unreported_object_keeps_memory_until_reset(self) -> None:
        """Objects that the unreported object uses cannot be destroyed: their process gets the error, and other
        processes continue."""
        device = raw_verbs.Device(self.device_name())
        device.make_basics()
        memory = raw_verbs.Memory(SIZE)
        trouble("fault", "command CREATE_MKEY drop-completion times=1")
        with self.assertRaises(OSError):
            device.register(memory.address, SIZE, memory.address, enums.IBV_ACCESS_LOCAL_WRITE)
        control("violations", "allow", "destroyed_while_referenced", "8", "the unreported region")
        with self.assertRaises(OSError):
            device.deallocate_pd()
        device.close()
        self.assertIn("objects of closed user contexts not destroyed, memory kept until reset: dealloc_pd failed",
                      self.new_messages())
        self.assertNotIn("fatal error: ", self.new_messages())
        self.assertGreaterEqual(pinned() - self.pinned, SIZE)
        Context(name=self.device_name()).close()
        guest.unbind(self.hca)
        self.assertEqual(pinned(), self.pinned)
        self.assertEqual(guest.bind_error(self.hca), "")
        until(self.is_active, "the port is active again")

    def test_unbind_with_output_pending_leaks_nothing(self) -> None:
        context = Context(name=self.device_name())
        domain = PD(context)
        self.is_refused(lambda: MR(domain, SIZE, enums.IBV_ACCESS_LOCAL_WRITE), "CREATE_MKEY drop-completion")
        guest.unbind(self.hca)
        self.assertEqual(pinned(), self.pinned)
        self.assertRegex(self.new_messages(), rf"{self.hca.name}: teardown incomplete, resetting device")
        for gone in (domain, context):
            with contextlib.suppress(PyverbsRDMAError):
                gone.close()
        self.assertEqual(guest.bind_error(self.hca), "")
        until(self.is_active, "the port is active again")


class Flood(RecoveryTest):
    """Tests many processes that request slow commands."""

    PROGRAMS, DELAY = 40, 15000  # milliseconds
    SLOTS = 31
    """One of 32 is for pages."""

    def issued(self) -> int:
        text = pathlib.Path(f"/sys/kernel/debug/cxib/{self.hca.name}/command_queue").read_text()
        return len(re.findall(r"^slot \d+: issued, query_hca_vport_context", text, re.MULTILINE))

    def test_programs_leave_slots_to_kernel(self) -> None:
        state = next(self.hca.glob("infiniband/*/ports/1/state"))
        self.addCleanup(control, "faults", "clear")
        trouble("fault", f"command QUERY_HCA_VPORT_CONTEXT delay={self.DELAY}ms")
        with concurrent.futures.ThreadPoolExecutor(self.PROGRAMS) as pool:
            readers = [pool.submit(state.read_text) for _ in range(self.PROGRAMS)]
            # Each process is in the kernel, waiting for its command or for a slot.
            until(lambda: num_sleeping() == self.PROGRAMS, "all wait")
            issued = self.issued()
            control("faults", "clear")
            self.assertEqual({reader.result() for reader in readers}, {"4: ACTIVE\n"})
        self.assertEqual(issued, self.SLOTS // 2)
