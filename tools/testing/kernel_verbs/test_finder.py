# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests a ULP that looks for signature pipelining on a device of the in-tree driver, which has the same driver ID: it
finds none, whether cxib's module is loaded or not, or is being loaded or unloaded.
"""

import pathlib
import subprocess
import threading
import time

from exerciser import UlpTest, run_case
from guest import MODULE
from machines import MLX5

GUEST = MLX5
CASE = "pipelining_finder_finds_nothing"
CHANGES = 5


def load() -> None:
    subprocess.run(["insmod", MODULE], check=True)


def unload() -> None:
    """Unloads the module, repeatedly: each look holds the module for a moment."""
    while pathlib.Path("/sys/module/cxib").exists():
        if subprocess.run(["rmmod", "cxib"], stderr=subprocess.DEVNULL).returncode:
            time.sleep(0.01)


class Finder(UlpTest):
    def test_cxib_not_loaded_nothing_found(self) -> None:
        self.assert_right(CASE)

    def test_cxib_loaded_nothing_found_on_other_driver(self) -> None:
        load()
        self.addCleanup(unload)
        self.assert_right(CASE)

    def test_cxib_loaded_and_unloaded_meanwhile_nothing_found(self) -> None:
        found, done = [], threading.Event()

        def look() -> None:
            while not done.is_set() and not any(found):
                found.append(run_case(CASE, rounds=1000))

        looking = threading.Thread(target=look)
        looking.start()
        try:
            for _ in range(CHANGES):
                load()
                unload()
        finally:
            done.set()
            looking.join()
        self.assertEqual(set(found), {""})
