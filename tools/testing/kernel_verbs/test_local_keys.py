#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that all kernel PDs share a local key if the device has one for them.

On a device without it (KVERBS_SHARED_KEY=no), each PD has its own key. The cases must pass with either (test_cases).
"""

import os
import unittest

from exerciser import UlpTest, run_case

IS_SHARED = os.environ.get("KVERBS_SHARED_KEY", "yes") == "yes"


class LocalKeys(UlpTest):
    def test_local_key_shared_where_device_has_one(self) -> None:
        self.assertEqual(run_case("local_key_shared"), "" if IS_SHARED else "domains have local keys of their own")


if __name__ == "__main__":
    unittest.main()
