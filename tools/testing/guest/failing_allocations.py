# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes one memory allocation of the driver fail: the n-th one that this thread, or another process, requests in the
driver.

The kernel counts an allocation only if the driver's code is among the innermost stack frames, so a number selects the
same allocation in each run.
"""

import contextlib
import itertools
import os
import pathlib
import re
import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

import guest
from hca import spread

FAULTS = pathlib.Path("/sys/kernel/debug")
KINDS = ("failslab", "fail_page_alloc", "fail_usercopy", "fail_make_request")
MOST = 1_000_000
NOWHERE = (0, 0)
DEPTHS = {"failslab": 8, "fail_page_alloc": 10}
"""Functions that the kernel looks back for the driver's code, by kind. What it does farther away is not the driver's
business; in there it does not survive all failures either (those of /proc/irq end in warnings)."""
REJECTED = "ib_mad_post_receive_mads"
"""Allocates a thousand buffers one by one; the driver's own are not different each time."""


class Outcome(NamedTuple):
    error: str
    allocations: int
    """How many there were, up to the one that failed."""


def available() -> bool:
    return (FAULTS / "failslab" / "require-start").exists()


def texts(module: str) -> dict[str, tuple[int, int]]:
    """Start and end addresses of the module's code, and of the functions whose allocations are not counted."""
    # /proc/kallsyms of a debug kernel has a quarter of a million symbols and takes seconds to read.
    symbols = pathlib.Path("/proc/kallsyms").read_bytes()
    found = [(int(address, 16), name.decode(), owner.decode())
             for address, name, owner in re.findall(rb"(?m)^(\w+) [tT] (\S+)\t\[(\w+)\]$", symbols)
             if owner.decode() in (module, "ib_core")]
    counted = [address for address, _, owner in found if owner == module]
    start = next(address for address, name, _ in found if name == REJECTED)
    end = min(address for address, _, owner in found if owner == "ib_core" and address > start)
    return {"counted": (min(counted), max(counted) + 1), "rejected": (start, end)}


def count_only(kind: str, module: str = "cxib") -> None:
    """Makes the kernel count only allocations of this kind that the driver, or another module, requests."""
    text = texts(module)
    for other in KINDS:
        directory = FAULTS / other
        if not directory.exists():
            continue
        start, end = text["counted"] if other == kind else NOWHERE
        reject_start, reject_end = text["rejected"]
        values = {"require-start": start, "require-end": end, "reject-start": reject_start, "reject-end": reject_end,
                  "stacktrace-depth": DEPTHS.get(other, 1), "probability": 0, "verbose": 0,
                  "ignore-gfp-wait": "N", "ignore-gfp-highmem": "N", "min-order": 0}
        for name, value in values.items():
            if (directory / name).exists():
                guest.write_attribute(directory / name, str(value))


def probe_in_this_thread(device: pathlib.Path) -> None:
    """Lets the thread that binds a device probe it, not a worker thread of the device's NUMA node."""
    guest.write_attribute(device / "numa_node", "-1")


def with_failure(number: int, action: Callable[[], str], process: int | None = None) -> Outcome:
    """Runs an action while allocation number `number` fails. The action returns an error text. This thread runs the
    action, or the main thread of `process`."""
    thread = threading.get_native_id() if process is None else process
    # Opening the file allocates memory, so it is opened before allocations are counted.
    switch = os.open(f"/proc/{process or 'self'}/task/{thread}/fail-nth", os.O_RDWR)
    try:
        os.write(switch, str(number).encode())
        error = action()
        left = int(os.pread(switch, 16, 0))
        os.pwrite(switch, b"0", 0)
    finally:
        os.close(switch)
    return Outcome(error, number - left)


def numbers(total: int, sample: int, seen: Callable[[], bool]) -> Iterator[int]:
    """Yields `sample` of the numbers 1 to `total` (all of them if `sample` is 0), then the other numbers until an error
    has been seen.

    The driver works without many of its allocations (debugfs, reporters, notifications). A small sample may contain
    only those, and then would not show that an allocation fails at all.
    """
    yield from spread(total, sample)
    yield from itertools.takewhile(lambda _: not seen(), range(1, total + 1))


def count(action: Callable[[], str]) -> int:
    """Number of allocations that an action requests."""
    return with_failure(MOST, action).allocations


def function_range(name: str) -> tuple[int, int]:
    """Start address of a function of the driver, and of the next function."""
    symbols = re.findall(r"(?m)^(\w+) [tT] (\S+)\t\[cxib\]$", pathlib.Path("/proc/kallsyms").read_text())
    start = next(int(address, 16) for address, symbol in symbols if symbol == name)
    return start, min(int(address, 16) for address, _ in symbols if int(address, 16) > start)


@contextlib.contextmanager
def no_memory_in(function: str) -> Iterator[None]:
    """Makes each object allocation that this function of the driver requests fail."""
    directory = FAULTS / "failslab"
    start, end = function_range(function)
    values = {"require-start": start, "require-end": end, "reject-start": 0, "reject-end": 0, "stacktrace-depth": 32, "verbose": 0,
              "task-filter": "N", "ignore-gfp-wait": "N", "interval": 1, "times": -1, "probability": 100}
    for name, value in values.items():
        guest.write_attribute(directory / name, str(value))
    try:
        yield
    finally:
        guest.write_attribute(directory / "probability", "0")
