#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Polling contexts of cxib: done() runs where the ULP has asked for it, each completion once and in order.

KVERBS_SEEDS is how many seeds the random cases are tried with, KVERBS_ROUNDS the rounds of each.
"""

import os
import unittest

from exerciser import UlpTest, cases

SEEDS = int(os.environ.get("KVERBS_SEEDS", "3"))
ROUNDS = int(os.environ.get("KVERBS_ROUNDS", "2"))
RANDOM = ("_changes", "_resizes", "_free")


class Contexts(UlpTest):
    def test_context_cases_pass(self) -> None:
        for name in (name for name in cases() if name.startswith("context_")):
            for seed in range(1, SEEDS + 1) if name.endswith(RANDOM) else [1]:
                print(f"{name}, seed {seed}", flush=True)
                self.assert_right(name, seed, ROUNDS)


if __name__ == "__main__":
    unittest.main()
