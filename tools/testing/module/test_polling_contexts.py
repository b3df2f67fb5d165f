# SPDX-License-Identifier: GPL-2.0-or-later
"""Polling contexts of CQs, chosen by devlink: values, what they do to CQs that exist, and how long they last."""

import ctypes
import json
import os
import pathlib
import platform
import re
import struct
import subprocess
import threading
import unittest

import failing_allocations
import guest
import module_machines as machines
from control import control, until
from guest import MELLANOX, find_devices
from machine import LONG, Guest
from recovering import RecoveryTest, trouble

ISOLATING = Guest("isolated-processor", sm="cxemu", cpus=4, append="isolcpus=3", level=LONG)
GUESTS = [
    machines.DEBUG.with_tests("FailingContexts.test_new_cq_without_thread_left_to_core"),
    ISOLATING.with_tests("IsolatedProcessors"),
    *(each.with_tests("FailingContexts", "Mads", "PollingContexts") for each in (machines.RECOVERY, machines.RECOVERY_DEBUG)),
]
DEFAULTS = {"cq_softirq_context": "core", "cq_process_context": "core", "cq_quantum_us": 50, "cq_busy_poll_us": 0}

PROCESSORS = pathlib.Path("/sys/devices/system/cpu")
ISOLATED = (PROCESSORS / "isolated").read_text().strip()
SYS_SCHED_GETATTR = {"x86_64": 315, "aarch64": 275}[platform.machine()]
SCHED_ATTR = struct.Struct("=IIQiIQQQ")
"""Size, policy, flags, nice value, priority, runtime, deadline, period: struct sched_attr of the first version."""


def slice_us(thread: int) -> float:
    """How long the scheduler lets a thread run, in microseconds; 0 if that is not a property of threads in this kernel."""
    attributes = ctypes.create_string_buffer(SCHED_ATTR.size)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(SYS_SCHED_GETATTR, thread, attributes, SCHED_ATTR.size, 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return SCHED_ATTR.unpack(attributes.raw)[5] / 1000


def name_of(comm: pathlib.Path) -> str:
    """Of a process or thread, empty if it has ended meanwhile."""
    try:
        return comm.read_text().strip()
    except OSError:
        return ""


class PollingTest(RecoveryTest):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(self.set_all, DEFAULTS)

    def set(self, name: str, value: str | int) -> str:
        """What devlink says if it refuses."""
        command = ["devlink", "dev", "param", "set", self.name, "name", name, "value", str(value), "cmode", "runtime"]
        return subprocess.run(command, check=False, capture_output=True, text=True).stderr

    def set_all(self, values: dict[str, str | int]) -> None:
        for name, value in values.items():
            self.assertEqual(self.set(name, value), "")

    def values(self) -> dict[str, str | int]:
        """Those of all devices are asked for: 6.1 cannot show what one device has."""
        command = ["devlink", "-j", "dev", "param", "show"]
        shown = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return {param["name"]: param["values"][0]["value"] for param in shown["param"][self.name]}

    def completion_queues(self) -> str:
        return (pathlib.Path("/sys/kernel/debug/cxib") / self.hca.name / "completion_queues").read_text()

    def cqs(self) -> list[tuple[str, int]]:
        """Context and number of turns of each CQ."""
        rows = [line.split('"') for line in self.completion_queues().splitlines() if line.startswith("0x")]
        return [(context, int(rest.split()[2])) for _, context, rest in rows]

    def tracked_contexts(self) -> frozenset[str]:
        """What the resource tracker says of the CQs of the kernel."""
        command = ["rdma", "-dd", "resource", "show", "cq", "dev", self.device_name()]
        shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return frozenset(re.findall(r"drv_context (\w+(?: \w+)??) drv_completed", shown))

    def thread_numbers(self) -> dict[int, str]:
        """Threads that poll CQs of the device, and their names."""
        names = {int(path.parent.name): name_of(path) for path in pathlib.Path("/proc").glob("[0-9]*/comm")}
        own = (f"{self.device_name()}/cq", f"{self.device_name()}/comp")
        return {number: name for number, name in names.items() if name.startswith(own)}

    def threads(self) -> list[str]:
        """Names of the threads that poll CQs of the device."""
        return list(self.thread_numbers().values())

    def await_threads(self, expected: list[str]) -> None:
        """A thread that the driver has stopped is in /proc for a moment."""
        until(lambda: sorted(self.threads()) == sorted(expected), f"the threads are {expected}")

    def use_cqs(self) -> None:
        """A MAD and its answer."""
        subprocess.run(["smpquery", "--timeout", "60000", "-C", self.device_name(), "-D", "nodeinfo", "0,1"], check=True,
                       stdout=subprocess.DEVNULL)

    def recover(self) -> None:
        recovered = self.new_messages().count("the device has recovered")
        trouble("health", "fatal", "1")
        until(lambda: self.new_messages().count("the device has recovered") > recovered, "the device recovers")
        until(self.is_active, "the port is active again")


class PollingContexts(PollingTest):
    def test_invalid_values_refused_and_change_nothing(self) -> None:
        self.assertEqual(self.values(), DEFAULTS)
        for name, value, message in [
            ("cq_softirq_context", "workqueue", "values are core, softirq and thread"),
            ("cq_process_context", "softirq", "values are core, workqueue, unbound and thread"),
            ("cq_quantum_us", 9, r"microseconds out of range \[10, 2000\]"),
            ("cq_quantum_us", 2001, r"microseconds out of range \[10, 2000\]"),
            ("cq_busy_poll_us", 1001, r"microseconds out of range \[0, 1000\]"),
        ]:
            with self.subTest(name=name, value=value):
                self.assertRegex(self.set(name, value), message)
        self.assertEqual(self.values(), DEFAULTS)

    def test_cqs_change_context_at_next_event(self) -> None:
        for value, context in [("workqueue", "workqueue"), ("unbound", "unbound workqueue"), ("thread", "own thread")]:
            with self.subTest(context=value):
                self.set_all({"cq_process_context": value})
                before = sum(turns for _, turns in self.cqs())
                self.use_cqs()
                until(lambda: sum(turns for _, turns in self.cqs()) > before, "a CQ has a turn")
                # That turn may have been due before the change.
                until(lambda context=context: {name for name, _ in self.cqs()} == {context}, "the CQs have changed")
                self.assertEqual(self.tracked_contexts(), {context})
        self.assertEqual(len(self.threads()), len(self.cqs()))

    def test_own_threads_end_with_change_of_context(self) -> None:
        for value in ("workqueue", "unbound", "core"):
            with self.subTest(context=value):
                self.set_all({"cq_process_context": "thread"})
                self.assertEqual(len(self.threads()), len(self.cqs()))
                self.set_all({"cq_process_context": value})
                self.await_threads([])
                self.assertIn("own threads: 0,", self.completion_queues())
                self.use_cqs()

    def test_slice_of_own_thread_is_turn(self) -> None:
        """Else a CQ waits for the tick of another's thread. The scheduler takes 100 µs at least."""
        self.set_all({"cq_process_context": "thread", "cq_quantum_us": 300})
        threads = list(self.thread_numbers())
        if slice_us(os.getpid()) == 0:
            self.skipTest("this kernel has no slices of threads")
        for quantum, expected in ((10, 100), (700, 700)):
            with self.subTest(quantum=quantum):
                self.assertEqual({slice_us(thread) for thread in threads}, {300})
                self.set_all({"cq_quantum_us": quantum})
                self.assertEqual({slice_us(thread) for thread in threads}, {expected})
                self.set_all({"cq_quantum_us": 300})

    def test_policy_and_nice_value_of_administrator_kept(self) -> None:
        self.set_all({"cq_process_context": "thread"})
        thread = next(iter(self.thread_numbers()))
        self.addCleanup(os.setpriority, os.PRIO_PROCESS, thread, 0)
        os.setpriority(os.PRIO_PROCESS, thread, 5)
        self.set_all({"cq_quantum_us": 300})
        self.assertEqual(os.getpriority(os.PRIO_PROCESS, thread), 5)
        self.addCleanup(os.sched_setscheduler, thread, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(7))
        self.set_all({"cq_quantum_us": 700})
        self.assertEqual(os.sched_getscheduler(thread), os.SCHED_FIFO)
        self.assertEqual(os.sched_getparam(thread).sched_priority, 7)

    def test_settings_survive_recovery_but_not_rebind(self) -> None:
        chosen = {"cq_softirq_context": "thread", "cq_process_context": "thread", "cq_quantum_us": 10, "cq_busy_poll_us": 7}
        self.set_all(chosen)
        self.recover()
        self.assertEqual(self.values(), chosen)
        self.assertEqual({context for context, _ in self.cqs()}, {"own thread"})
        guest.unbind(self.hca)
        self.assertEqual(guest.bind_error(self.hca), "")
        self.assertEqual(self.values(), DEFAULTS)
        self.await_threads([])


class IsolatedProcessors(PollingTest):
    """The kernel chooses the processors of a thread as well: when it begins, and when a processor comes online."""

    def masks(self) -> set[str]:
        """Where the threads of CQs may run."""
        files = [pathlib.Path(f"/proc/{thread}/status") for thread in self.thread_numbers()]
        return {re.search(r"(?m)^Cpus_allowed_list:\s*(\S+)$", file.read_text())[1] for file in files}

    def test_threads_keep_off_isolated_processors(self) -> None:
        self.assertEqual(ISOLATED, "3")
        self.set_all({"cq_process_context": "thread"})
        self.use_cqs()
        self.assertEqual(self.masks(), {"0-2"})
        guest.write_attribute(PROCESSORS / "cpu1/online", "0")
        guest.write_attribute(PROCESSORS / "cpu1/online", "1")
        self.use_cqs()
        self.assertEqual(self.masks(), {"0-2"})


class Mads(PollingTest):
    """MADs arrive while the HCA is unbound, and the device takes its time over each, so that a handler is always running."""

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(control, "faults", "clear")
        self.ends = threading.Event()
        self.addCleanup(self.ends.set)

    def ask(self) -> None:
        """The first HCA asks the second one, which does not answer once it is unbound."""
        lid = next(self.hca.glob("infiniband/*/ports/1/lid")).read_text().strip()
        asker = next(find_devices(MELLANOX)[0].glob("infiniband/*")).name
        while not self.ends.is_set():
            subprocess.run(["smpquery", "--timeout", "3000", "-C", asker, "nodeinfo", str(int(lid, 16))], check=False,
                           capture_output=True)

    def unbind_amid_mads(self) -> None:
        trouble("fault", "command MAD_IFC delay=250ms")
        self.ends.clear()
        askers = [threading.Thread(target=self.ask) for _ in range(4)]
        for asker in askers:
            asker.start()
        before = sum(turns for _, turns in self.cqs())
        until(lambda: sum(turns for _, turns in self.cqs()) > before + 4, "MADs arrive")
        guest.unbind(self.hca)
        self.ends.set()
        for asker in askers:
            asker.join()

    def test_unbinding_waits_for_mad_handlers_in_each_context(self) -> None:
        for context in ("workqueue", "unbound", "thread"):
            with self.subTest(context=context):
                self.set_all({"cq_process_context": context})
                self.unbind_amid_mads()
                control("faults", "clear")
                self.assertEqual(guest.bind_error(self.hca), "")
                until(self.is_active, "the port is active again")


@unittest.skipUnless(failing_allocations.available(), "this kernel cannot make allocations fail where the driver is")
class FailingContexts(PollingTest):
    def left_to_core(self) -> int:
        return int(re.search(r"CQs left to the core: (\d+)", self.completion_queues())[1])

    def test_context_without_memory_refused_and_changes_nothing(self) -> None:
        # Workqueues that there are would be used again.
        self.recover()
        for value, function in [("thread", "cxib_poll_thread_create"), ("workqueue", "cxib_poll_workqueue"),
                                ("unbound", "cxib_poll_workqueue")]:
            with self.subTest(context=value):
                with failing_allocations.no_memory_in(function):
                    self.assertIn("Cannot allocate memory", self.set("cq_process_context", value))
                    self.assertEqual(self.values(), DEFAULTS)
                    self.assertEqual({name for name, _ in self.cqs()}, {"core"})
                    self.await_threads([])
                    self.use_cqs()
                self.assertEqual(self.set("cq_process_context", value), "")
                self.use_cqs()
                self.set_all(DEFAULTS)

    def test_new_cq_without_thread_left_to_core(self) -> None:
        self.set_all({"cq_process_context": "thread"})
        with failing_allocations.no_memory_in("cxib_poll_thread_create"):
            self.recover()
            self.assertEqual({name for name, _ in self.cqs()}, {"core"})
            self.assertEqual(self.left_to_core(), len(self.cqs()))
            self.use_cqs()
        # devlink does not set the value that a parameter has.
        self.set_all({"cq_process_context": "core"})
        self.set_all({"cq_process_context": "thread"})
        self.assertEqual(self.left_to_core(), 0)
        self.assertEqual({name for name, _ in self.cqs()}, {"own thread"})
