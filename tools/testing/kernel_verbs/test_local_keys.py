# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that all kernel PDs share a local key if the device has one for them. On a device without it, each PD has its own.
The cases must pass with either (test_cases.py)."""

from exerciser import UlpTest, run_case
from machines import ALL, DEBUG, OWN_KEYS

GUESTS = [*(guest.with_tests("Shared") for guest in (*ALL, DEBUG)), OWN_KEYS.with_tests("Own")]


class Shared(UlpTest):
    def test_local_key_shared_where_device_has_one(self) -> None:
        self.assert_right("local_key_shared")


class Own(UlpTest):
    def test_local_keys_differ_where_device_has_none_for_all(self) -> None:
        self.assertEqual(run_case("local_key_shared"), "domains have local keys of their own")
