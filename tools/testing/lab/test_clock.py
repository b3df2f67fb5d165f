# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the clock rate on the kernel command line of a guest."""

import platform
import unittest

from labrun import clock, qemu


class Counter(unittest.TestCase):
    @unittest.skipUnless(platform.machine() == "x86_64", "only these processors have a time stamp counter")
    def test_two_measurements_agree(self):
        first, second = clock.counter_khz(), clock.counter_khz()
        self.assertGreater(first, 100_000)
        self.assertAlmostEqual(first / second, 1, places=3)

    def test_known_frequency_passed_to_kernel(self):
        self.assertIn("tsc_early_khz=2600000", qemu.kernel_arguments("/directory", "", counter_khz=2_600_000).split())
        self.assertNotIn("tsc_early_khz", qemu.kernel_arguments("/directory", ""))

    def test_tcg_shares_counter_of_host(self):
        self.assertTrue(qemu.shares_counter({"processor": "amd64", "accelerator": "tcg"}, "-device bochs-display"))
        self.assertFalse(qemu.shares_counter({"processor": "amd64", "accelerator": "tcg"}, "-icount shift=0"))
        self.assertFalse(qemu.shares_counter({"processor": "amd64", "accelerator": "kvm"}, ""))
        self.assertFalse(qemu.shares_counter({"processor": "arm64", "accelerator": "tcg"}, ""))


if __name__ == "__main__":
    unittest.main()
