# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests devices with random outputs, events and faults, each from a seed: the kernel reports nothing, the driver can be
unbound and unloaded, and a device that works again is usable.

With an even seed a device is faulty from its first command on, with an odd seed after bring-up. All HCAs are tested in
parallel, each with its own seed, because most of the time they wait for completions that do not come.

CXIB_SEEDS is the number of seeds, CXIB_FIRST_SEED the first one (default: 1). The kernel log shows the seed of each
device.
"""

import contextlib
import os
import pathlib
import random
import subprocess
import threading
import time
from collections.abc import Iterator

import guest
import module_machines as machines
from control import control, control_lines
from guest import driver_of
from hca import DEBUGFS, HcaTest
from machine import LONG

RANDOM = machines.WRONG_DEVICES.but("random-devices", settings=("CXIB_SEEDS=20",))
GUESTS = [
    machines.WRONG_DEVICES_DEBUG, RANDOM, machines.on_debug(RANDOM, settings=("CXIB_SEEDS=12",)),
    RANDOM.but("random-devices-all", settings=("CXIB_FIRST_SEED=21", "CXIB_SEEDS=400"), level=LONG, seconds=10800),
]
FIRST = int(os.environ.get("CXIB_FIRST_SEED", "1"))
SEEDS = int(os.environ.get("CXIB_SEEDS", "8"))
LIMIT_MS = 300
USUAL_LIMIT_MS = 60000
# Chance in percent of each of a dozen faults. A probe has about 20 commands, so with 0.2 % half of all devices come up.
CHANCES_FROM_THE_START = (0.05, 0.1, 0.2, 0.5, 2)
CHANCES_WHEN_UP = (0.5, 2, 10)


def read_all(directory: pathlib.Path) -> None:
    """Reads every file of the device in sysfs, so that the driver queries the device. Reads only two entries of each
    table (P_Keys, GIDs): the first one makes the driver read the table, the second one comes from its cache."""
    for path in directory.rglob("*"):
        try:
            if path.name.isdecimal() and int(path.name) > 1:
                continue
            if path.is_file() and not path.is_symlink():
                path.read_bytes()
        except OSError:
            pass  # the read may fail


def run(*words: str) -> None:
    """Runs a program and ignores its result."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=60)


def use(hca: pathlib.Path, seed: int) -> None:
    """Uses a device as long as it exists. It may fail and return under another name at any time. The seed selects one
    program, because on the debug kernel starting all of them takes far longer than their requests."""
    for port in hca.glob("infiniband/*/ports"):
        read_all(port)
    run("devlink", "health", "diagnose", f"pci/{hca.name}", "reporter", "device")
    for device in hca.glob("infiniband/*"):
        run(*random.Random(seed).choice((
            ("ibv_devinfo", "-v", "-d", device.name),
            ("smpquery", "-D", "-C", device.name, "nodeinfo", "0"),
        )))


class Record:
    """Results, shared by the threads of all HCAs."""

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
