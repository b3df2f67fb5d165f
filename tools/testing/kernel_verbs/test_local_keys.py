#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""All protection domains of the kernel share a local key, if the device has one for them.

Without (KVERBS_SHARED_KEY=no), each domain has its own: what works with the one works with the other (test_cases).
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
