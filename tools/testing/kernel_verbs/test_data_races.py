#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets KCSAN find unordered accesses of a posting and a polling thread, in kernels that have KCSAN.

KCSAN delays each access that it watches, so it watches only one of thousands by default; here it watches one of
KVERBS_SKIP_WATCH. Its reports are in the kernel log, and the lab fails the run.
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
