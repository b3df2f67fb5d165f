# SPDX-License-Identifier: GPL-2.0-or-later
"""Polling contexts of cxib: done() runs where the ULP has asked for it, each completion once and in order; what cannot be
is refused, and the kernel log says why; what the CQs do is seen by trace events, in debugfs and in the resource tracker."""

import collections
import dataclasses
import json
import pathlib
import re
import subprocess
import threading
import unittest

import failing_allocations
import guest
from completion_queues import Queue, Shown
from control import until
from exerciser import ROUNDS, UlpTest, kernel_objects, run_case, tests_each_case
from machines import ALL, DEBUG

GUESTS = [*ALL, DEBUG.with_tests("Contexts", "Traced")]
MESSAGES = 1000
"""Of a round of traffic: MESSAGES of module/cases_contexts.c."""
CONTEXTS = ("softirq", "thread", "own_thread", "workqueue", "unbound")
TRACE = pathlib.Path("/sys/kernel/tracing")
EVENTS = ("cq_queue", "cq_run", "cq_arm")
RUN = r"waited \d+ ns ran \d+ ns completed (\d+) end (\w+)"
QUANTUM_US = 10
"""The shortest, and the shortest time that a done() sleeps; the first one does, whose batch is one completion."""
ATTEMPTS = 6
"""How often a case is run, at most, each time for twice as long, until it is looked at before it ends."""
DYNAMIC_DEBUG = pathlib.Path("/proc/dynamic_debug/control")
ENOMEM = "error -12"

# Argument, value and limit of each argument that the case context_invalid_options passes. Numbers are those of
# include/cxib/poll_context.h; limits of the device are any number.
REFUSALS = (
    r"allocate CQ: nr_cqe 0 out of range \[1, \d+\]",
    r"allocate CQ: nr_cqe -1 out of range \[1, \d+\]",
    r"allocate CQ: nr_cqe [1-9]\d* out of range \[1, \d+\]",
    r"allocate CQ: comp_vector -2 out of range \[-1, \d+\]",
    r"allocate CQ: comp_vector [1-9]\d* out of range \[-1, \d+\]",
    r"CQ context: context 6 out of range \[0, 5\]",
    r"CQ context: unsupported flags 0x2 \(mask 0x1\)",
    r"CQ context: flags 0x1 with context 1 \(need context 2\)",
    r"CQ context: flags 0x1 with context 3 \(need context 2\)",
    r"CQ context: weight 17 out of range \[0, 16\]",
    r"CQ context: busy_poll_us 1001 out of range \[0, 1000\]",
    r"CQ context: busy_poll_us 1 with context 1 \(needs context 2\)",
    r"CQ context: busy_poll_us 1 with context 3 \(needs context 2\)",
    r"CQ context: weight 1 with context 5 \(needs another context\)",
    r"allocate CQ: context 5 \(needs ib_alloc_cq\(\)\)",
    r"CQ context: not a CQ with events and done\(\) handlers",
    r"CQ context: CQ of the pool of the RDMA core",
    r"CQ context: context 3 flags 0x0 for a CQ whose done\(\) must not sleep",
    r"CQ context: context 1 flags 0x0 for a CQ whose done\(\) may sleep",
)


@tests_each_case("context_")
class Contexts(UlpTest):
    @unittest.skipUnless(DYNAMIC_DEBUG.exists(), "this kernel prints no debugging messages")
    def test_refusals_logged_with_value_and_limit(self) -> None:
        guest.write_attribute(DYNAMIC_DEBUG, "module cxib file *poll_context.c +p")
        self.addCleanup(guest.write_attribute, DYNAMIC_DEBUG, "module cxib file *poll_context.c -p")
        log = guest.LogTail()
        self.addCleanup(log.close)
        self.assert_right("context_invalid_options")
        logged = log.text()
        for refusal in REFUSALS:
            with self.subTest(refusal=refusal):
                self.assertRegex(logged, rf"(?m){refusal}$")

    @unittest.skipUnless(failing_allocations.available(), "this kernel cannot make allocations fail where the driver is")
    def test_own_thread_without_memory_refused_and_leaves_nothing(self) -> None:
        before = kernel_objects()
        for name in ("context_own_thread_traffic", "context_sleeping_changes"):
            with self.subTest(case=name):
                with failing_allocations.no_memory_in("cxib_poll_thread_create"):
                    self.assertIn(ENOMEM, run_case(name, rounds=ROUNDS))
                self.assertEqual(kernel_objects(), before)
                self.assert_right(name)


class TurnsOfCq:
    """What the trace events of one CQ have said."""

    def __init__(self) -> None:
        self.queued = 0
        self.completed = 0
        self.ends: collections.Counter[str] = collections.Counter()
        self.armings: collections.Counter[str] = collections.Counter()

    def note(self, event: str, text: str) -> None:
        if event == "cq_queue":
            self.queued += 1
        elif event == "cq_arm":
            self.armings[text] += 1
        else:
            completed, end = re.fullmatch(RUN, text).groups()
            self.completed += int(completed)
            self.ends[end] += 1


class Traced(UlpTest):
    def setUp(self) -> None:
        self.addCleanup(self.trace, "0")

    def trace(self, state: str) -> None:
        for event in EVENTS:
            (TRACE / "events/cxib" / event / "enable").write_text(state)

    def turns(self, name: str) -> list[TurnsOfCq]:
        """Of each CQ that has had any while the case ran. Those of the RDMA core and of IPoIB have none."""
        (TRACE / "trace").write_text("")
        self.trace("1")
        self.assert_right(name)
        self.trace("0")
        found: dict[str, TurnsOfCq] = collections.defaultdict(TurnsOfCq)
        lines = re.findall(r"(?m): (cq_queue|cq_run|cq_arm): (\w+ CQ 0x\w+) ?(.*)$", (TRACE / "trace").read_text())
        for event, number, text in lines:
            found[number].note(event, text)
        return list(found.values())

    def test_each_turn_traced_with_its_completions(self) -> None:
        for context in CONTEXTS:
            with self.subTest(context=context):
                turns = self.turns(f"context_{context}_traffic")
                # One CQ has the sends, another one the receives.
                self.assertEqual([cq.completed for cq in turns], [MESSAGES, MESSAGES])
                for cq in turns:
                    self.assertEqual(cq.armings, {f"missed {missed}": cq.ends[end]
                                                  for missed, end in enumerate(("armed", "missed")) if cq.ends[end]})
                    # The CQ may be destroyed while it waits for its turn.
                    self.assertIn(cq.queued - cq.ends["armed"] - cq.ends["destroyed"], (0, 1))


@dataclasses.dataclass(frozen=True)
class Look:
    """At an HCA while a case runs: debugfs, the resource tracker, and debugfs again."""

    before: Shown
    tracked: dict[int, dict]
    after: Shown

    def is_complete(self) -> bool:
        return bool(self.tracked) and self.before.queues.keys() >= self.tracked.keys() <= self.after.queues.keys()


class Shows(UlpTest):
    def setUp(self) -> None:
        self.hcas = guest.find_devices(guest.MELLANOX)
        self.set_quantum(QUANTUM_US)
        self.addCleanup(self.set_quantum, 50)

    def set_quantum(self, microseconds: int) -> None:
        for hca in self.hcas:
            subprocess.run(["devlink", "dev", "param", "set", f"pci/{hca.name}", "name", "cq_quantum_us", "value",
                            str(microseconds), "cmode", "runtime"], check=True)

    def device(self, hca: pathlib.Path) -> str:
        return next(hca.glob("infiniband/*")).name

    def tracked(self, hca: pathlib.Path) -> dict[int, dict]:
        """The CQs of the test module whose quantum was used up once, by number, as the resource tracker shows them."""
        command = ["rdma", "-j", "-dd", "resource", "show", "cq", "dev", self.device(hca)]
        shown = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return {cq["drv_number"]: cq for cq in shown if cq["comm"] == "cxib_kverbs" and cq.get("drv_quantum_ends")}

    def attempt(self, name: str, rounds: int) -> list[Look]:
        """At each HCA in the middle of a case; none if the case was too short for that."""
        looks: list[Look] = []
        found: list[str] = []
        case = threading.Thread(target=lambda: found.append(run_case(name, rounds=rounds)))
        case.start()

        def is_seen() -> bool:
            looks[:] = [Look(Shown(hca), self.tracked(hca), Shown(hca)) for hca in self.hcas]
            return all(look.is_complete() for look in looks)

        until(lambda: not case.is_alive() or is_seen(), "the counters are shown", 0.05)
        case.join()
        self.assertEqual(found, [""])
        return looks if looks and all(look.is_complete() for look in looks) else []

    def seen(self, name: str) -> list[Look]:
        for number in range(ATTEMPTS):
            looks = self.attempt(name, 5 << number)
            if looks:
                return looks
        self.fail(f"{name} has ended before its counters were shown, {ATTEMPTS} times")

    def check_counters(self, first: Queue, cq: dict, last: Queue) -> None:
        """Each only grows."""
        for counter in ("completed", "quantum_ends", "wait_us_max"):
            self.assertLessEqual(getattr(first, counter), cq[f"drv_{counter}"], counter)
            self.assertLessEqual(cq[f"drv_{counter}"], getattr(last, counter), counter)
        self.assertLessEqual(first.quantum_ends + first.missed, last.turns)

    def test_counters_of_tracker_are_those_of_debugfs(self) -> None:
        for name in ("workqueue", "own_thread"):
            for look in self.seen(f"context_{name}_traffic"):
                self.assertEqual(look.after.own_threads, sum(queue.pid > 0 for queue in look.after.queues.values()))
                for number, cq in look.tracked.items():
                    first, last = look.before.queues[number], look.after.queues[number]
                    with self.subTest(context=name, cq=number, first=first, tracked=cq, last=last):
                        self.assertEqual({cq["drv_context"], last.context}, {name.replace("_", " ")})
                        self.assertEqual(last.pid > 0, name == "own_thread")
                        self.assertIn(last.state, ("armed", "queued", "running"))
                        self.check_counters(first, cq, last)
                        self.assertGreaterEqual(last.wait_us_max, first.wait_us_max)
        self.assertEqual([Shown(hca).own_threads for hca in self.hcas], [0, 0])

    def test_vectors_shown_with_threads_and_cqs(self) -> None:
        self.assert_right("context_thread_traffic")
        for hca in self.hcas:
            shown = Shown(hca)
            # The thread is that of all CQs of the vector, now and later.
            thread = pathlib.Path(f"/proc/{shown.vectors[0].pid}/comm").read_text().strip()
            self.assertEqual(thread, f"{self.device(hca)}/comp0")
            cqs = collections.Counter(queue.vector for queue in shown.queues.values())
            self.assertEqual({number: vector.cqs for number, vector in shown.vectors.items() if vector.cqs}, cqs)
