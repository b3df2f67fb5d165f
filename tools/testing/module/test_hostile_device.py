#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A device that answers, reports and does anything, from a seed: the kernel has nothing to report, the driver can be
unbound and unloaded, and a device that behaves again works.

CXIB_SEEDS is how many seeds are tried on each HCA, CXIB_FIRST_SEED the first one (default: 1).
"""

import os
import pathlib
import subprocess
import threading
import unittest

import guest
from control import control
from guest import driver_of
from hca import DEBUGFS, HcaTest

FIRST = int(os.environ.get("CXIB_FIRST_SEED", "1"))
SEEDS = int(os.environ.get("CXIB_SEEDS", "5"))
LIMIT_MS = 300
USUAL_LIMIT_MS = 60000
CHANCES = (0.5, 1, 2, 5)  # percent


def read_all(directory: pathlib.Path) -> None:
    """Has the driver ask the device for all that sysfs shows of it."""
    for path in directory.rglob("*"):
        try:
            if path.is_file() and not path.is_symlink():
                path.read_bytes()
        except OSError:
            pass  # it may say no


def use(hca: pathlib.Path) -> None:
    for port in hca.glob("infiniband/*/ports"):
        read_all(port)
    subprocess.run(["devlink", "health", "diagnose", f"pci/{hca.name}", "reporter", "device"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


class HostileDevice(HcaTest):
    def setUp(self) -> None:
        super().setUp()
        guest.write_attribute(DEBUGFS / "command_limit_ms", str(LIMIT_MS))
        self.addCleanup(guest.write_attribute, DEBUGFS / "command_limit_ms", str(USUAL_LIMIT_MS))
        self.addCleanup(control, "faults", "clear")
        self.came_up = 0

    def endure(self, hca: pathlib.Path) -> None:
        """Binds, uses and unbinds an HCA once; whatever fails may fail."""
        guest.bind_error(hca)
        if driver_of(hca) == "cxib":
            self.came_up += 1
            use(hca)
            guest.unbind(hca)

    def test_is_survived(self) -> None:
        for seed in range(FIRST, FIRST + SEEDS):
            control("faults", "clear")
            control("fault", f"seed {seed}")
            control("fault", f"random-device {CHANCES[seed % len(CHANCES)]}%")
            threads = [threading.Thread(target=self.endure, args=(hca,)) for hca in self.hcas]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
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
