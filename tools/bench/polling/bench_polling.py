# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the module bench_polling in the guest."""

import os
import pathlib

DEBUGFS = pathlib.Path("/sys/kernel/debug/bench_polling")
MODULE = pathlib.Path(os.environ.get("CXIB_BENCH_POLLING", "bench_polling.ko"))


def contexts() -> list[str]:
    return (DEBUGFS / "contexts").read_text().split()


def measure(what: str, **settings: object) -> list[list[str]]:
    """Runs a measurement; returns the lines of its report as words. Raises RuntimeError with the reason if the module
    cannot run it."""
    descriptor = os.open(DEBUGFS / "run", os.O_WRONLY)
    try:
        os.write(descriptor, " ".join([what, *(f"{name}={value}" for name, value in settings.items())]).encode())
    except OSError as error:
        raise RuntimeError(f"{(DEBUGFS / 'report').read_text().strip()} ({error.strerror})") from error
    finally:
        os.close(descriptor)
    return [line.split() for line in (DEBUGFS / "report").read_text().splitlines()]


def alone(context: str, samples: int) -> list[int]:
    """Cycles from the interrupt to done() for each sample."""
    return [int(cycles) for _, cycles in measure("alone", context=context, samples=samples)]


def core(samples: int) -> list[tuple[int, int]]:
    """With polling by the RDMA core: cycles from the interrupt to comp_handler, and from done() to the end of
    arming."""
    return [(int(event), int(arming)) for _, event, arming in measure("core", context="core-workqueue", samples=samples)]


def load(context: str, costs_us: list[int], **settings: int) -> dict:
    """Measures what full CQs ("hogs") with these costs of done() leave to each other and to a mostly idle CQ.

    `hogs`: cost_us, posted and completed of each hog; `windows`: completions of each hog at the end of each second;
    `longest_hold_ns`: the longest time in which only done() of one hog ran; `idle`: posted, completed and delayed WRs,
    and interrupts that reported completions; `latencies_ns`: latency of each completion of the idle CQ.
    """
    found: dict = {"hogs": [], "windows": [], "idle": {}, "latencies_ns": []}
    for name, *words in measure("load", context=context, hogs=",".join(map(str, costs_us)), **settings):
        if name == "hog":
            found["hogs"].append(dict(zip(words[1::2], map(int, words[2::2]), strict=True)))
        elif name == "window":
            number, _, _, _, completed = words
            if int(number) == len(found["windows"]):
                found["windows"].append([])
            found["windows"][-1].append(int(completed))
        elif name == "longest_hold_ns":
            found[name] = int(words[0])
        elif name == "idle":
            found["idle"] = dict(zip(words[::2], map(int, words[1::2]), strict=True))
        else:
            found["latencies_ns"].append(int(words[0]))
    return found
