#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures in a guest with one emulated HCA the time, commands and memory until an RDMA device is registered, and until
it is gone, with cxib and with mlx5_core and mlx5_ib. Writes JSON to OUTPUT.

usage: measure_bring_up.py CXIB_MODULE OUTPUT
"""

import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

CLASS = pathlib.Path("/sys/class/infiniband")
DEVICES = pathlib.Path("/sys/bus/pci/devices")
DEBUGFS = pathlib.Path("/sys/kernel/debug")
PATIENCE = 300.0  # seconds; ends only a run that has already failed
ROUNDS = 3  # drivers take turns; the median is reported


@dataclasses.dataclass(frozen=True)
class Driver:
    name: str
    load: Callable[[], None]
    unload: Callable[[], None]
    commands: Callable[[], int]
    modules: tuple[str, ...]


def show(text: str) -> None:
    print(text, flush=True)


def run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def write(path: pathlib.Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def hca() -> pathlib.Path:
    return next(device for device in DEVICES.iterdir() if (device / "vendor").read_text().strip() == "0x15b3")


def until(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > limit:
            raise RuntimeError("the driver has not got that far")
        time.sleep(0.001)


def is_registered() -> bool:
    return any(CLASS.iterdir()) if CLASS.exists() else False


def load_cxib(module: str) -> None:
    device = hca()
    run("insmod", module)
    write(device / "driver_override", "cxib\n")
    write(DEVICES.parent / "drivers_probe", device.name)


def unload_cxib() -> None:
    run("rmmod", "cxib")
    write(hca() / "driver_override", "\n")


def commands_of_cxib() -> int:
    lines = (DEBUGFS / "cxib" / hca().name / "command_queue").read_text().splitlines()
    return int(next(line.split(": ")[1] for line in lines if line.startswith("issued: ")))


def commands_of_mlx5() -> int:
    directory = DEBUGFS / "mlx5" / hca().name / "commands"
    return sum(int((command / "n").read_text()) for command in directory.iterdir() if (command / "n").exists())


def settled(count: Callable[[], int]) -> int:
    """Waits until a growing number stays constant, so that background work is included."""
    last, same = -1, 0
    while same < 5:
        time.sleep(0.5)
        now = count()
        same = same + 1 if now == last else 0
        last = now
    return last


def free_memory() -> int:
    """Unused memory in KiB. Drops the page cache first; running processes read their files again at once. Pages on the
    kernel's per-CPU lists do not count as free."""
    run("sync")
    write(pathlib.Path("/proc/sys/vm/drop_caches"), "3")
    time.sleep(0.5)
    sizes = dict(re.findall(r"^(\w+): +(\d+) kB$", pathlib.Path("/proc/meminfo").read_text(), re.MULTILINE))
    at_hand = re.findall(r"^ +count: +(\d+)$", pathlib.Path("/proc/zoneinfo").read_text(), re.MULTILINE)
    return (sum(int(sizes[name]) for name in ("MemFree", "Buffers", "Cached"))
            + sum(map(int, at_hand)) * os.sysconf("SC_PAGE_SIZE") // 1024)


def text_size(modules: tuple[str, ...]) -> int:
    """Size of the modules in KiB."""
    return sum(int(pathlib.Path("/sys/module", name, "coresize").read_text()) for name in modules) // 1024


def measure(driver: Driver) -> dict[str, float]:
    before = free_memory()
    start = time.monotonic()
    driver.load()
    until(is_registered)
    up = time.monotonic()
    commands = settled(driver.commands)
    found = {
        "load_us": (up - start) * 1e6,
        "commands": commands,
        "memory_kib": before - free_memory(),
        "modules_kib": text_size(driver.modules),
    }
    start = time.monotonic()
    driver.unload()
    found["unload_us"] = (time.monotonic() - start) * 1e6
    return found


def main() -> int:
    module, output = "/tmp/cxib.ko", pathlib.Path(sys.argv[2])
    # An installed module has no debugging information, which takes more memory than all the rest.
    run("strip", "--strip-debug", "-o", module, sys.argv[1])
    drivers = (
        Driver("cxib", lambda: load_cxib(module), unload_cxib, commands_of_cxib, ("cxib",)),
        Driver("mlx5_core + mlx5_ib", lambda: run("modprobe", "-a", "mlx5_core", "mlx5_ib") and None,
               lambda: run("rmmod", "mlx5_ib", "mlx5_core") and None, commands_of_mlx5, ("mlx5_core", "mlx5_ib")),
    )
    # Modules that both drivers need are loaded first, and both have the same clients of the RDMA core.
    run("modprobe", "-a", "mlx5_ib", "ib_umad", "rdma_ucm")
    run("rmmod", "mlx5_ib", "mlx5_core")
    for name in run("modinfo", "-F", "depends", module).strip().split(","):
        run("modprobe", name)
    rounds: dict[str, list[dict[str, float]]] = {driver.name: [] for driver in drivers}
    for _ in range(ROUNDS):
        for driver in drivers:
            rounds[driver.name].append(measure(driver))
            show(f"{driver.name}: {rounds[driver.name][-1]}")
    results = {name: {key: statistics.median(found[key] for found in all_found) for key in all_found[0]}
               for name, all_found in rounds.items()}
    output.write_text(json.dumps(results, indent=4) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
