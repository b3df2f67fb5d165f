# SPDX-License-Identifier: GPL-2.0-or-later
"""The clock rate on the command line of a guest's kernel."""

import platform
import unittest

from labrun import clock, qemu


class Counter(unittest.TestCase):
    @unittest.skipUnless(platform.machine() == "x86_64", "only these processors have a time stamp counter")
    def test_two_measurements_agree_in_the_first_thousandth(self):
        first, second = clock.counter_khz(), clock.counter_khz()
        self.assertGreater(first, 100_000)
        self.assertAlmostEqual(first / second, 1, places=3)

    def test_kernel_is_told_what_is_known(self):
        self.assertIn("tsc_early_khz=2600000", qemu.kernel_arguments("/directory", "", counter_khz=2_600_000).split())
        self.assertNotIn("tsc_early_khz", qemu.kernel_arguments("/directory", ""))

    def test_emulated_processor_that_counts_time_has_the_counter_of_the_host(self):
        self.assertTrue(qemu.shares_counter({"accelerator": "tcg"}, "-device bochs-display"))
        self.assertFalse(qemu.shares_counter({"accelerator": "tcg"}, "-icount shift=0"))
        self.assertFalse(qemu.shares_counter({"accelerator": "kvm"}, ""))


if __name__ == "__main__":
    unittest.main()
