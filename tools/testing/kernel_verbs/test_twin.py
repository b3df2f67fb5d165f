#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the kernel's twin, the case pipelining_bursts, alone, so that the wire carries no other traffic."""

import unittest

from exerciser import UlpTest


class Twin(UlpTest):
    def test_bursts_answered(self) -> None:
        self.assert_right("pipelining_bursts")


if __name__ == "__main__":
    unittest.main()
