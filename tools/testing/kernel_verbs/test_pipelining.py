# SPDX-License-Identifier: GPL-2.0-or-later
"""Signature pipelining for in-kernel ULPs: never a good response for bad data, and one response for each command.

KVERBS_PIPELINING_SEEDS is how many seeds the random target is tried with.
"""

import os
import subprocess

from exerciser import UlpTest, report, tests_each_case
from machines import ALL, LOST_STOPS, OWN_KEYS, SEEDS

GUESTS = [
    *(guest.with_tests("Pipelining", "Random") for guest in ALL if guest != SEEDS),
    SEEDS.with_tests("Pipelining", "Random", "Wrapping"),
    OWN_KEYS.with_tests("Pipelining", "Random", "Fence"),
    LOST_STOPS.with_tests("Random"),
]
RANDOM_SEEDS = int(os.environ.get("KVERBS_PIPELINING_SEEDS", "20"))


def refused_modifies() -> int:
    kernel_log = subprocess.run(["dmesg"], check=True, capture_output=True, text=True).stdout
    return kernel_log.count("command rts2rts_qp")


# Not the cases of the other classes, of test_finder.py and of test_wrong_reports.py.
@tests_each_case("pipelining_(?!random|index_wraps|finder_finds_nothing|error_without_report|wrong_report)")
class Pipelining(UlpTest):
    def test_device_refusing_because_of_stop_is_not_logged(self) -> None:
        before = refused_modifies()
        for seed in range(3):
            self.assert_right("pipelining_modify_in_other_thread", seed)
        self.assertEqual(before, refused_modifies())


class Fence(UlpTest):
    """On HCAs that stop at a fence. Those that stop earlier find one error after the other."""

    def test_mrs_failing_before_fence_stop_queue_once(self) -> None:
        self.assert_right("pipelining_three_mrs_fail_together")
        self.assertEqual(report(), "10 stops for 10 commands")


class Wrapping(UlpTest):
    """Takes minutes: thousands of commands."""

    def test_index_of_16_bits_wraps(self) -> None:
        for seed in range(4):
            self.assert_right("pipelining_index_wraps", seed)


@tests_each_case("pipelining_random")
class Random(UlpTest):
    def check_case(self, name: str) -> None:
        for seed in range(1, RANDOM_SEEDS + 1):
            self.assert_right(name, seed)
