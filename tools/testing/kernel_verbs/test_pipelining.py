#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Signature pipelining for in-kernel ULPs: never a good response for bad data, and one response for each command.

KVERBS_PIPELINING_SEEDS is how many seeds the random target is tried with, KVERBS_FIRST_SEED the first,
KVERBS_SIGNATURE_STOP where the HCAs stop. With KVERBS_PIPELINING_WRAPS the indices of the send queue wrap.
"""

import os
import subprocess
import unittest

from exerciser import UlpTest, cases, report

SEEDS = int(os.environ.get("KVERBS_PIPELINING_SEEDS", "20"))
FIRST_SEED = int(os.environ.get("KVERBS_FIRST_SEED", "1"))
WRAPS = os.environ.get("KVERBS_PIPELINING_WRAPS")
STOP = os.environ.get("KVERBS_SIGNATURE_STOP", "next")
RANDOM = ("pipelining_random", "pipelining_random_ends", "pipelining_random_threads")
# Of mlx5_ib, of devices with a fault plan (test_lost_reports.py, test_wrong_reports.py), and one that takes minutes.
ELSEWHERE = ("pipelining_finder_finds_nothing", "pipelining_error_without_report", "pipelining_wrong_report",
             "pipelining_index_wraps")


def refused_modifies() -> int:
    kernel_log = subprocess.run(["dmesg"], check=True, capture_output=True, text=True).stdout
    return kernel_log.count("command rts2rts_qp")


class Pipelining(UlpTest):
    def test_single_cases_pass(self) -> None:
        for name in cases():
            if name.startswith("pipelining_") and name not in (*RANDOM, *ELSEWHERE):
                self.assert_right(name)

    def test_device_refusing_because_of_stop_is_not_logged(self) -> None:
        before = refused_modifies()
        for seed in range(3):
            self.assert_right("pipelining_modify_in_other_thread", seed)
        self.assertEqual(before, refused_modifies())

    @unittest.skipUnless(STOP == "fence", "HCAs that stop earlier find one error after the other")
    def test_mrs_failing_before_fence_stop_queue_once(self) -> None:
        self.assert_right("pipelining_three_mrs_fail_together")
        self.assertEqual(report(), "10 stops for 10 commands")

    @unittest.skipUnless(WRAPS, "KVERBS_PIPELINING_WRAPS asks for thousands of commands")
    def test_index_of_16_bits_wraps(self) -> None:
        for seed in range(4):
            self.assert_right("pipelining_index_wraps", seed)

    def test_random_targets_report_correctly(self) -> None:
        for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
            for name in RANDOM:
                self.assert_right(name, seed)
            if seed % 100 == 0:
                print(f"tried up to seed {seed}", flush=True)


if __name__ == "__main__":
    unittest.main()
