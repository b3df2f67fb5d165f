#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs each case of the test module: completions come once, in order and with the right status, and the data are
correct.

KVERBS_SEEDS is the number of seeds for random cases, KVERBS_FIRST_SEED the first seed, KVERBS_ROUNDS the number of
rounds for each seed. KVERBS_CASES is a regular expression for the names of cases.
"""

import os
import re
import unittest

from exerciser import UlpTest, cases

SEEDS = int(os.environ.get("KVERBS_SEEDS", "3"))
FIRST_SEED = int(os.environ.get("KVERBS_FIRST_SEED", "1"))
ROUNDS = int(os.environ.get("KVERBS_ROUNDS", "2"))
CHOSEN = re.compile(os.environ.get("KVERBS_CASES", ""))
RANDOM = re.compile("(rc|uc|ud|arming|concurrent|resizing)_")
MEASURES = {"cost"}
OTHERS = ("pending_", "xrc_", "moderation_", "local_key_", "context_", "pipelining_")
"""Of tests in other files."""


class Cases(UlpTest):
    def test_chosen_cases_pass(self) -> None:
        names = [name for name in cases() if name not in MEASURES and not name.startswith(OTHERS) and CHOSEN.search(name)]
        self.assertTrue(names, f"no case matches '{CHOSEN.pattern}'")
        for name in names:
            seeds = range(FIRST_SEED, FIRST_SEED + SEEDS) if RANDOM.match(name) else [1]
            for seed in seeds:
                print(f"{name}, seed {seed}", flush=True)
                self.assert_right(name, seed, ROUNDS)


if __name__ == "__main__":
    unittest.main()
