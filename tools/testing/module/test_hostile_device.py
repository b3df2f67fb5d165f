#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A device that answers, reports and does anything, from a seed: the kernel has nothing to report, the driver can be
unbound and unloaded, and a device that behaves again works.

With an even seed it does so from the first command on, with an odd one as soon as it is up. CXIB_SEEDS is how many seeds
are tried on each HCA, CXIB_FIRST_SEED the first one (default: 1).
"""

import os
import pathlib
import subprocess
import threading
import unittest
from collections.abc import Callable

import guest
from control import control
from guest import driver_of
from hca import DEBUGFS, HcaTest

FIRST = int(os.environ.get("CXIB_FIRST_SEED", "1"))
SEEDS = int(os.environ.get("CXIB_SEEDS", "5"))
LIMIT_MS = 300
USUAL_LIMIT_MS = 60000
# In percent, of each of a dozen ways to do wrong. A probe has some 50 commands: with 0.2 % half of all devices come up.
CHANCES_FROM_THE_START = (0.05, 0.1, 0.2, 0.5, 2)
CHANCES_WHEN_UP = (0.5, 2, 10)


def read_all(directory: pathlib.Path) -> None:
    """Has the driver ask the device for all that sysfs shows of it."""
    for path in directory.rglob("*"):
        try:
            if path.is_file() and not path.is_symlink():
                path.read_bytes()
        except OSError:
            pass  # it may say no


def run(*words: str) -> None:
    """Whatever comes of it."""
    subprocess.run(["timeout", "--signal=KILL", "60", *words],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def use(hca: pathlib.Path) -> None:
    for port in hca.glob("infiniband/*/ports"):
        read_all(port)
    for device in hca.glob("infiniband/*"):
        run("ibv_devinfo", "-v", "-d", device.name)
        run("smpquery", "-D", "-C", device.name, "nodeinfo", "0")
    run("devlink", "health", "diagnose", f"pci/{hca.name}", "reporter", "device")


def misbehave(seed: int) -> None:
    chances = CHANCES_WHEN_UP if seed % 2 else CHANCES_FROM_THE_START
    control("fault", f"seed {seed}")
    control("fault", f"random-device {chances[seed // 2 % len(chances)]}%")


class HostileDevice(HcaTest):
    def setUp(self) -> None:
        super().setUp()
        guest.write_attribute(DEBUGFS / "command_limit_ms", str(LIMIT_MS))
        self.addCleanup(guest.write_attribute, DEBUGFS / "command_limit_ms", str(USUAL_LIMIT_MS))
        self.addCleanup(control, "faults", "clear")
        self.came_up = 0

    def in_parallel(self, action: Callable[[pathlib.Path], None]) -> None:
        """Does something with all HCAs at once; whatever fails may fail."""
        threads = [threading.Thread(target=action, args=(hca,)) for hca in self.hcas]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def use_and_unbind(self, hca: pathlib.Path) -> None:
        if driver_of(hca) == "cxib":
            self.came_up += 1
            use(hca)
            guest.unbind(hca)

    def endure(self, seed: int) -> None:
        control("faults", "clear")
        if seed % 2:
            self.in_parallel(guest.bind_error)
            misbehave(seed)
        else:
            misbehave(seed)
            self.in_parallel(guest.bind_error)
        self.in_parallel(self.use_and_unbind)

    def test_is_survived(self) -> None:
        for seed in range(FIRST, FIRST + SEEDS):
            self.endure(seed)
            with self.subTest(seed=seed):
                self.assert_nothing_is_left()
        print(f"{SEEDS} seeds on {len(self.hcas)} HCAs, which came up {self.came_up} times")
        control("faults", "clear")
        guest.write_attribute(DEBUGFS / "command_limit_ms", str(USUAL_LIMIT_MS))
        self.bind()
        self.unbind()
        self.assert_nothing_is_left()


if __name__ == "__main__":
    unittest.main(verbosity=2)
