#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Accesses without order between a thread that posts and another one that polls: KCSAN reports them, in kernels that have it.

KCSAN watches one access of thousands, since each takes a delay. Here it watches one of KVERBS_SKIP_WATCH. What it finds is in
the kernel's log, for which the lab fails the run.
"""

import os
import pathlib
import unittest

from exerciser import UlpTest, cases

PARAMETERS = pathlib.Path("/sys/module/kcsan/parameters")
SKIP_WATCH = os.environ.get("KVERBS_SKIP_WATCH", "200")
SEEDS = int(os.environ.get("KVERBS_SEEDS", "1"))


class DataRaces(UlpTest):
    @unittest.skipUnless(PARAMETERS.exists(), "this kernel does not look for data races")
    def test_concurrent_posting_and_polling_are_ordered(self) -> None:
        watched = PARAMETERS / "skip_watch"
        self.addCleanup(watched.write_text, watched.read_text(encoding="ascii"), encoding="ascii")
        watched.write_text(SKIP_WATCH, encoding="ascii")
        for name in (name for name in cases() if name.startswith("concurrent_")):
            for seed in range(1, SEEDS + 1):
                print(f"{name}, seed {seed}", flush=True)
                self.assert_right(name, seed, 2)


if __name__ == "__main__":
    unittest.main()
