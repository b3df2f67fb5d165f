#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests a ULP that looks for signature pipelining on a device of the in-tree driver, which has the same driver ID: it
finds none, whether cxib's module is loaded or not, or is being loaded or unloaded.

CXIB_MODULE is the path of the module.
"""

import os
import pathlib
import subprocess
import threading
import time
import unittest

from exerciser import UlpTest, run_case

CXIB = os.environ.get("CXIB_MODULE", "cxib.ko")
CASE = "pipelining_finder_finds_nothing"
CHANGES = 5


def load() -> None:
    subprocess.run(["insmod", CXIB], check=True)


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


if __name__ == "__main__":
    unittest.main()
