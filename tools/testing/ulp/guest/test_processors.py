# SPDX-License-Identifier: GPL-2.0-or-later
"""Takes processors offline and online and moves interrupts in the middle of I/O: I/O continues in each polling
context."""

import contextlib
import pathlib
import re
import unittest
from collections.abc import Iterator

import disks
import load
import nvme
import polling
import rdma
import ulp
from machines import GOES, NODES, PROCESSORS_DEBUG

GUESTS = [GOES, NODES, PROCESSORS_DEBUG]
NODES = pathlib.Path("/sys/devices/system/node")
PROCESSORS = pathlib.Path("/sys/devices/system/cpu")
TRACE = pathlib.Path("/sys/kernel/tracing")
RUN = TRACE / "events/cxib/cq_run/enable"
CONTEXTS = [("core", "core"), ("softirq", "workqueue"), ("thread", "unbound"), ("thread", "thread")]
ROUNDS = 5 if ulp.WHOLE else 1
TURNS = 50
"""Of the CQs, by which I/O has gone on after a change. A turn has at least one completion."""


@contextlib.contextmanager
def offline(processor: pathlib.Path) -> Iterator[None]:
    disks.write(processor / "online", 0)
    try:
        yield
    finally:
        disks.write(processor / "online", 1)


@contextlib.contextmanager
def contexts(softirq: str, process: str) -> Iterator[None]:
    """Sets the polling contexts of the CQs of all HCAs."""
    for device in polling.devices():
        if not polling.set_contexts(device, softirq, process):
            raise AssertionError(f"{device} refuses {softirq}:{process}")
    try:
        yield
    finally:
        for device in polling.devices():
            polling.set_contexts(device, "core", "core")


def completion_interrupts() -> list[int]:
    """Interrupt numbers of the completion vectors of all HCAs."""
    lines = pathlib.Path("/proc/interrupts").read_text().splitlines()
    return [int(line.split(":")[0]) for line in lines if re.search(r"cxib-comp\d+@", line)]


def affinity(file: pathlib.Path) -> str:
    """Processors of an interrupt. Linux reads the mask of a pending move without a lock, and the interrupt that carries
    the move out clears it, so an empty mask is read again."""
    while not (processors := file.read_text().strip()):
        pass
    return processors


@contextlib.contextmanager
def moved(processor: int) -> Iterator[None]:
    """Moves all completion vectors to this processor inside the context."""
    files = [pathlib.Path(f"/proc/irq/{number}/smp_affinity_list") for number in completion_interrupts()]
    before = [affinity(file) for file in files]
    try:
        for file in files:
            disks.write(file, processor)
        yield
    finally:
        for file, value in zip(files, before, strict=True):
            disks.write(file, value)


class IoTest(load.Faulty):
    def io_goes_on(self, what: str, chosen: tuple[str, str]) -> None:
        """Asserts that I/O continues. CQs of the RDMA core have no turns, so for them only the end of the load shows
        it."""
        if chosen[0] == "core":
            return
        before = polling.turns()
        rdma.until(lambda: polling.turns() > before + TURNS, f"I/O goes on {what}")

    def check(self, change: contextlib.AbstractContextManager, chosen: tuple[str, str], what: str) -> None:
        with change:
            self.io_goes_on(what, chosen)
        self.io_goes_on(f"after that ({what})", chosen)

    @contextlib.contextmanager
    def io(self, chosen: tuple[str, str]) -> Iterator[None]:
        with contexts(*chosen), nvme.target(disks.in_memory(0)), nvme.connection(2) as disk:
            running = load.writes(disk)
            yield
            status, output = running.end()
            self.assertEqual(status, 0, output)


class Processors(IoTest):
    def test_offline_under_io(self) -> None:
        processors = sorted(path.parent for path in PROCESSORS.glob("cpu[0-9]*/online"))
        self.assertTrue(processors, "no processor can be taken offline")
        for chosen in CONTEXTS:
            with self.subTest(contexts=chosen), self.io(chosen):
                for processor in processors * ROUNDS:
                    self.check(offline(processor), chosen, f"without {processor.name}")

    def test_moved_vectors_move_softirq_and_workqueue(self) -> None:
        """Compares the processors of turns. The scheduler places threads and unbound work items, so they are not
        tested."""
        chosen = "softirq", "workqueue"
        self.addCleanup(disks.write, RUN, 0)
        with self.io(chosen):
            for processor in (0, 1, 0):
                with self.subTest(processor=processor), moved(processor):
                    # A runner that is never idle takes its next turn on the old processor.
                    rdma.until(lambda number=processor: self.processors_of_turns(chosen) == {number}, "all turns are there")

    def processors_of_turns(self, chosen: tuple[str, str]) -> set[int]:
        """Processors of the turns in the next interval."""
        disks.write(TRACE / "trace", "")
        disks.write(RUN, 1)
        self.io_goes_on("where its vectors are", chosen)
        disks.write(RUN, 0)
        return {int(number) for number in re.findall(r"\[(\d+)\].* cq_run: ", (TRACE / "trace").read_text())}


def processors_of(node: int) -> str:
    return (NODES / f"node{node}/cpulist").read_text().strip()


def vector_threads() -> dict[str, pathlib.Path]:
    """The threads of completion vectors in /proc, by name."""
    names = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):  # a thread that has just ended
            names[path.read_text().strip()] = path.parent
    return {name: path for name, path in names.items() if re.fullmatch(r"cxib\d+/comp\w+", name)}


def allowed(thread: pathlib.Path) -> str:
    """The processors on which a thread may run."""
    return re.search(r"(?m)^Cpus_allowed_list:\s*(\S+)$", (thread / "status").read_text())[1]


@unittest.skipIf(len(list(NODES.glob("node[0-9]*"))) < 2, "the guest has one NUMA node")
class Nodes(IoTest):
    """Tests HCAs on the second NUMA node."""

    def test_threads_stay_on_node_of_hca_or_where_they_were_moved(self) -> None:
        near, far = processors_of(1), processors_of(0)
        with self.io(("thread", "core")):
            threads = vector_threads()
            kept, *others = threads.values()
            rdma.run("taskset", "-pc", far, kept.name)
            with moved(int(far.split("-")[0])):
                self.io_goes_on("on the other node", ("thread", "core"))
                self.assertEqual({allowed(thread) for thread in others}, {near})
                self.assertEqual(allowed(kept), far)
            self.io_goes_on("on its own node", ("thread", "core"))
