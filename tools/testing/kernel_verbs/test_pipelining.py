#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Signature pipelining for in-kernel ULPs: never a good response for bad data, and one response for each command.

KVERBS_PIPELINING_SEEDS is how many seeds the random target is tried with, KVERBS_FIRST_SEED the first,
KVERBS_SIGNATURE_STOP where the HCAs stop.
"""

import os
import unittest

from exerciser import UlpTest, cases, report

SEEDS = int(os.environ.get("KVERBS_PIPELINING_SEEDS", "20"))
FIRST_SEED = int(os.environ.get("KVERBS_FIRST_SEED", "1"))
STOP = os.environ.get("KVERBS_SIGNATURE_STOP", "next")
RANDOM = ("pipelining_random", "pipelining_random_ends")
OF_OTHER_DRIVER = "pipelining_finder_finds_nothing"


class Pipelining(UlpTest):
    def test_single_cases_pass(self) -> None:
        for name in cases():
            if name.startswith("pipelining_") and name not in (*RANDOM, OF_OTHER_DRIVER):
                self.assert_right(name)

    @unittest.skipUnless(STOP == "fence", "HCAs that stop earlier find one error after the other")
    def test_mrs_failing_before_fence_stop_queue_once(self) -> None:
        self.assert_right("pipelining_three_mrs_fail_together")
        self.assertEqual(report(), "10 stops for 10 commands")

    def test_random_targets_report_correctly(self) -> None:
        for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
            for name in RANDOM:
                self.assert_right(name, seed)
            if seed % 100 == 0:
                print(f"tried up to seed {seed}", flush=True)


if __name__ == "__main__":
    unittest.main()
