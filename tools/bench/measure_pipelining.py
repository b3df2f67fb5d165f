#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures in a guest reads of a disk with protection information whose NVMe target does or does not post data and
response together: connections of the same module with or without signature pipelining. Writes JSON to OUTPUT.

usage: measure_pipelining.py OUTPUT ROUNDS SECONDS     SECONDS is the time of each measurement
       measure_pipelining.py OUTPUT ROUNDS             measures the cost of a read; needs a guest with one processor
                                                       whose clock counts instructions

Runs with tools/testing/ulp/guest/python.
"""

import contextlib
import json
import pathlib
import re
import sys
from collections.abc import Iterator

import disks
import nvme
import pipelined
import protection
import wire
from control import control

SIZE = "8m"
COUNTED_READS = 2000
DELAYS_MS = (0, 2, 5, 10)
COSTED_READS = 1000  # twice as many must be fewer than the blocks of the disk, where fio would end
DELAYED_READS = 100
DELAYED_ROUNDS = 3  # delays dominate other differences, so more turns add nothing
DEPTHS = (1, 16)
BAD = 16  # number of reads of a bad block
INTERRUPTS = pathlib.Path("/proc/interrupts")
STATISTICS = pathlib.Path("/proc/stat")
TIMERS = pathlib.Path("/proc/timer_list")


@contextlib.contextmanager
def disk(is_pipelined: bool) -> Iterator[str]:
    with contextlib.ExitStack() as stack:
        if not is_pipelined:
            stack.enter_context(pipelined.switched_off())
        path = stack.enter_context(nvme.connection(1))
        stack.enter_context(protection.left_to_the_hca(path))
        if bool(pipelined.counters()) != is_pipelined:
            raise AssertionError(f"the target has {pipelined.counters()}")
        yield path


def read(path: str, *options: str) -> dict:
    return disks.fio(path, "--rw=randread", "--bs=4k", "--norandommap", "--iodepth=1", "--lat_percentiles=1",
                     *options, size=SIZE)["read"]


def fio_time(path: str, seconds: int, *options: str) -> dict:
    return disks.fio(path, "--bs=4k", "--norandommap", "--lat_percentiles=1", "--time_based", f"--runtime={seconds}", *options, size=SIZE)


def percentile_us(found: dict, percent: int) -> float:
    return found["lat_ns"]["percentile"][f"{percent}.000000"] / 1000


def work_queues() -> dict:
    """Work queues of the target's HCA."""
    return control("stats")["hca0"]["parts"]["work_queues"]


def interrupts() -> list[int]:
    """Interrupts of the completion vectors: the target's HCA, then the host's."""
    lines = INTERRUPTS.read_text().splitlines()
    sums = []
    for end in wire.ends():
        device = pathlib.Path(f"/sys/class/infiniband/{end.device}/device").resolve().name
        rows = [line.split() for line in lines if device in line and "comp" in line]
        sums.append(sum(int(word) for row in rows for word in row[1:] if re.fullmatch(r"\d+", word)))
    return sums


def count(path: str) -> dict[str, float]:
    """Cost of a read for the target's HCA."""
    before, interrupted = work_queues(), interrupts()[0]
    done = read(path, f"--number_ios={COUNTED_READS}")["total_ios"]
    after = work_queues()
    return {
        "send_completions": (after["completions"]["req"] - before["completions"]["req"]) / done,
        "send_doorbells": (after["send_doorbells"] - before["send_doorbells"]) / done,
        "interrupts": (interrupts()[0] - interrupted) / done,
    }


def delayed(path: str) -> list[float]:
    """Latency in µs of the fastest tenth for each delay of all packets. The other reads waited for a processor of the
    host machine."""
    latencies = []
    for delay in DELAYS_MS:
        if delay:
            control("fault", f"packet delay={delay}ms service=rc direction=out data")
        latencies.append(percentile_us(read(path, f"--number_ios={DELAYED_READS}"), 10))
        control("faults", "clear")
    return latencies


def measure(is_pipelined: bool, seconds: int, has_delays: bool) -> dict:
    with disk(is_pipelined) as path:
        single = fio_time(path, seconds, "--rw=randread", "--iodepth=1")["read"]
        deep = fio_time(path, seconds, "--rw=randread", "--iodepth=16")["read"]
        mixed = fio_time(path, seconds, "--rw=randrw", "--rwmixread=50", "--iodepth=16")
        found = {
            "latency_us": percentile_us(single, 50),
            "latency_p10_us": percentile_us(single, 10),
            "latency_p99_us": percentile_us(single, 99),
            "iops": deep["iops"],
            "mixed_iops": mixed["read"]["iops"] + mixed["write"]["iops"],
            "counts": count(path),
        }
        if has_delays:
            found["delayed_us"] = delayed(path)
    print("with" if is_pipelined else "without", json.dumps(found), flush=True)
    return found


def commands() -> int:
    return control("stats")["hca0"]["command_queue"]["commands"]


def stops() -> dict[str, int]:
    """Cost of stops of the target's QP, one after the other, caused by reads of a bad block."""
    with disk(is_pipelined=True) as path, pipelined.bad_blocks(protection.PLACE // pipelined.BLOCK):
        before = commands()
        for _ in range(BAD):
            with contextlib.suppress(OSError):
                protection.read(path)
                raise AssertionError("a bad block was read without an error")
        (found,) = pipelined.counters().values()
        return {"stops": found[0], "cancelled": found[1], "commands": commands() - before}


def busy_ns() -> int:
    """Time in which the guest's only processor was busy. It equals the number of instructions, as each takes 1 ns."""
    text = TIMERS.read_text()
    idle = sum(int(time) for time in re.findall(r"\.(?:idle|iowait)_sleeptime\s*: (\d+) nsecs", text))
    return int(re.search(r"^now at (\d+) nsecs", text, re.MULTILINE)[1]) - idle


def switches() -> int:
    return int(re.search(r"^ctxt (\d+)", STATISTICS.read_text(), re.MULTILINE)[1])


def spent(path: str, depth: int, reads: int) -> dict[str, int]:
    """Cost of a fio run for the guest."""
    def now() -> dict[str, int]:
        return {"instructions": busy_ns(), "switches": switches(), "interrupts": sum(interrupts())}

    before = now()
    read(path, f"--number_ios={reads}", f"--iodepth={depth}")
    return {name: value - before[name] for name, value in now().items()}


def spent_on_read(path: str, depth: int) -> dict[str, float]:
    """Cost of a read for fio, host and target: the difference of two runs, without fio's start and end."""
    few, many = (spent(path, depth, factor * COSTED_READS) for factor in (1, 2))
    return {name: (value - few[name]) / COSTED_READS for name, value in many.items()}


def measure_cost(is_pipelined: bool) -> dict[int, dict[str, float]]:
    with disk(is_pipelined) as path:
        found = {depth: spent_on_read(path, depth) for depth in DEPTHS}
    print("with" if is_pipelined else "without", json.dumps(found), flush=True)
    return found


def measure_times(rounds: int, seconds: int) -> dict:
    results = {"delays_ms": DELAYS_MS, "seconds": seconds, "stops": stops(), "with": [], "without": []}
    for number in range(rounds):
        # The two kinds take turns, and each is first equally often.
        for is_pipelined in (True, False) if number % 2 == 0 else (False, True):
            results["with" if is_pipelined else "without"].append(measure(is_pipelined, seconds, number < DELAYED_ROUNDS))
    return results


def measure_costs(rounds: int) -> dict:
    turns = [(measure_cost(is_pipelined=True), measure_cost(is_pipelined=False)) for _ in range(rounds)]
    return {"with": [turn[0] for turn in turns], "without": [turn[1] for turn in turns]}


def main() -> int:
    output, rounds, *seconds = sys.argv[1:]
    wire.ends()
    with pipelined.target():
        with disk(is_pipelined=True) as path:
            disks.fio(path, "--rw=write", "--bs=64k", "--iodepth=4", size=SIZE)
        results = measure_times(int(rounds), int(seconds[0])) if seconds else measure_costs(int(rounds))
    disks.unload("nvme_rdma", "nvmet_rdma", "nvme_fabrics", "nvmet")
    pathlib.Path(output).write_text(json.dumps(results) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
