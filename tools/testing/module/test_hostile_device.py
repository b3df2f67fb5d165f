#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices that answer, report and do anything, each from a seed: the kernel has nothing to report, the driver can be
unbound and unloaded, and a device that behaves again works.

With an even seed a device does so from the first command on, with an odd one as soon as it is up. All HCAs do so at the
same time, each with a seed of its own: they wait for answers that do not come most of the time.

CXIB_SEEDS is how many seeds are tried, CXIB_FIRST_SEED the first one (default: 1). The kernel log tells which device
has had which seed.
"""

import contextlib
import os
import pathlib
import random
import subprocess
import threading
import time
import unittest
from collections.abc import Iterator

import guest
from control import control, control_lines
from guest import driver_of
from hca import DEBUGFS, HcaTest

FIRST = int(os.environ.get("CXIB_FIRST_SEED", "1"))
SEEDS = int(os.environ.get("CXIB_SEEDS", "8"))
LIMIT_MS = 300
USUAL_LIMIT_MS = 60000
# In percent, of each of a dozen ways to do wrong. A probe has some 20 commands: with 0.2 % half of all devices come up.
CHANCES_FROM_THE_START = (0.05, 0.1, 0.2, 0.5, 2)
CHANCES_WHEN_UP = (0.5, 2, 10)


def read_all(directory: pathlib.Path) -> None:
    """Has the driver ask the device for all that sysfs shows of it; of its tables (P_Keys, GIDs) for the first two
    entries: the first has the driver read the table, the second is what it keeps of it."""
    for path in directory.rglob("*"):
        try:
            if path.name.isdecimal() and int(path.name) > 1:
                continue
            if path.is_file() and not path.is_symlink():
                path.read_bytes()
        except OSError:
            pass  # it may say no


def run(*words: str) -> None:
    """Whatever comes of it."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=60)


def use(hca: pathlib.Path, seed: int) -> None:
    """As long as it is there: it may fail, and come back under another name, at any time. The seed chooses one of the
    programs to run: on the debug kernel starting them takes far longer than what they ask of the device."""
    for port in hca.glob("infiniband/*/ports"):
        read_all(port)
    run("devlink", "health", "diagnose", f"pci/{hca.name}", "reporter", "device")
    for device in hca.glob("infiniband/*"):
        run(*random.Random(seed).choice((
            ("ibv_devinfo", "-v", "-d", device.name),
            ("smpquery", "-D", "-C", device.name, "nodeinfo", "0"),
        )))


class Record:
    """How it went; shared by the threads of all HCAs."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.came_up = 0
        self.seconds: dict[str, float] = {}

    @contextlib.contextmanager
    def measure(self, what: str) -> Iterator[None]:
        start = time.monotonic()
        yield
        with self.lock:
            self.seconds[what] = self.seconds.get(what, 0) + time.monotonic() - start


class HostileDevice(HcaTest):
    def setUp(self) -> None:
        super().setUp()
        guest.write_attribute(DEBUGFS / "command_timeout_ms", str(LIMIT_MS))
        self.addCleanup(guest.write_attribute, DEBUGFS / "command_timeout_ms", str(USUAL_LIMIT_MS))
        self.addCleanup(control, "faults", "clear")
        self.record = Record()

    def behave(self, index: int) -> None:
        control("faults", "clear", f"@hca{index}")

    def misbehave(self, index: int, seed: int) -> None:
        chances = CHANCES_WHEN_UP if seed % 2 else CHANCES_FROM_THE_START
        chance = chances[seed // 2 % len(chances)]
        control_lines(f"fault seed {seed}", f"fault random-device {chance}% @hca{index}")

    def endure(self, index: int, seed: int) -> None:
        hca = self.hcas[index]
        guest.write_attribute(pathlib.Path("/dev/kmsg"), f"{hca.name}: seed {seed}")
        if seed % 2:
            with self.record.measure("bound"):
                guest.bind_error(hca)
            self.misbehave(index, seed)
        else:
            self.misbehave(index, seed)
            with self.record.measure("bound"):
                guest.bind_error(hca)
        if driver_of(hca) == "cxib":
            self.record.came_up += 1
            with self.record.measure("used"):
                use(hca, seed)
            with self.record.measure("unbound"):
                guest.unbind(hca)
        self.behave(index)
        self.assert_has_let_go(hca)

    def test_random_faults_survived(self) -> None:
        self.share_out(range(FIRST, FIRST + SEEDS), self.endure)
        shares = ", ".join(f"{what} for {seconds:.0f} s" for what, seconds in self.record.seconds.items())
        print(f"{SEEDS} seeds from {FIRST} on, on {len(self.hcas)} HCAs, which came up {self.record.came_up} times; "
              f"together they were {shares}")
        guest.write_attribute(DEBUGFS / "command_timeout_ms", str(USUAL_LIMIT_MS))
        self.bind()
        self.unbind()
        self.assert_nothing_is_left()


if __name__ == "__main__":
    unittest.main(verbosity=2)
