# SPDX-License-Identifier: GPL-2.0-or-later
"""Both twins, alone in their guests, so that the wires carry no other traffic (host/test_twin.py)."""

import unittest

import twin_mlx5dv
from exerciser import UlpTest


class Kernel(UlpTest):
    def test_bursts_answered(self) -> None:
        self.assert_right("pipelining_bursts")


class UserSpace(unittest.TestCase):
    def test_bursts_answered(self) -> None:
        twin_mlx5dv.run()
