#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures how polling contexts share one completion vector, in a guest whose time stamp counter counts instructions.
Writes JSON to OUTPUT.

usage: measure_polling.py TEST_MODULE OUTPUT SECONDS
"""

import contextlib
import json
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "polling"))

import bench_polling  # noqa: E402

EQUAL_US = [20] * 7
MIXED_US = [5, 5, 10, 20, 20, 50, 100]
PERIOD_US = 5000
SAMPLES = 101
HOG_LIMIT_US = 10000
"""The default of workqueue.cpu_intensive_thresh_us: work items that run longer are reported."""
HOG_SECONDS = 60
SCHEDULER = pathlib.Path("/sys/kernel/debug/sched")
TRACING = pathlib.Path("/sys/kernel/tracing")
TRIGGERS = {
    "workqueue/workqueue_execute_start": "hist:keys=work:begin=common_timestamp.usecs",
    "workqueue/workqueue_execute_end": "hist:keys=work:us=common_timestamp.usecs-$begin:"
                                       "onmatch(workqueue.workqueue_execute_start).bench_work(function,$us)",
    "synthetic/bench_work": f"hist:keys=function.sym if us > {HOG_LIMIT_US}",
}
"""Of trace events: the times of work items, and how many were too long, by function."""


def preemption() -> str:
    """The current preemption mode, which the kernel prints in parentheses."""
    found = re.search(r"\((\w+)\)", (SCHEDULER / "preempt").read_text())
    return found[1] if found else "fixed"


@contextlib.contextmanager
def without_fair_server() -> Iterator[None]:
    """Turns off the scheduler's fair server: it starts a timer when a processor gets its first task, so that only some
    wake-ups of a task pay for it."""
    before = {path: path.read_text() for path in SCHEDULER.glob("fair_server/cpu*/runtime")}
    for path in before:
        path.write_text("0")
    try:
        yield
    finally:
        for path, runtime in before.items():
            path.write_text(runtime)


def measure(context: str, seconds: int) -> dict:
    with without_fair_server():
        found = {"alone": bench_polling.alone(context, SAMPLES)}
    for name, costs in (("equal", EQUAL_US), ("mixed", MIXED_US)):
        found[name] = bench_polling.load(context, costs, period_us=PERIOD_US, seconds=seconds)
    return found


@contextlib.contextmanager
def work_items_timed() -> Iterator[None]:
    """Traces work items. This costs instructions, so nothing else is measured at the same time."""
    with contextlib.ExitStack() as stack:
        for path, text in [(TRACING / "synthetic_events", "bench_work unsigned long function; u64 us"),
                           *((TRACING / "events" / event / "trigger", trigger) for event, trigger in TRIGGERS.items())]:
            path.write_text(text)
            # Opening the trace file for writing clears it.
            stack.callback(path.write_text, "")
        yield


def long_work_items(context: str) -> int:
    """Number of CQ work items that kept their processor for longer than the kernel's limit."""
    with work_items_timed():
        bench_polling.load(context, EQUAL_US, period_us=PERIOD_US, seconds=HOG_SECONDS)
        found = (TRACING / "events/synthetic/bench_work/hist").read_text()
    return sum(map(int, re.findall(r"\[(?:ib_core|cxib)\] *\} hitcount: +(\d+)", found)))


def main() -> int:
    module, output, seconds = sys.argv[1:]
    subprocess.run(["insmod", module], check=True)
    results = {"seconds": int(seconds), "hog_seconds": HOG_SECONDS, "preemption": preemption(), "contexts": {}, "hogged": {}}
    for context in bench_polling.contexts():
        print(context, flush=True)
        results["contexts"][context] = measure(context, int(seconds))
        pathlib.Path(output).write_text(json.dumps(results) + "\n")
    for context in ("core-workqueue", "cxib-workqueue"):
        print(f"{context}, work items", flush=True)
        results["hogged"][context] = long_work_items(context)
        pathlib.Path(output).write_text(json.dumps(results) + "\n")
    subprocess.run(["rmmod", "bench_polling"], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
