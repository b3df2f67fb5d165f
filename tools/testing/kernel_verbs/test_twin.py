# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that a thread which does not know of the stops cannot change attributes of a stopped QP."""

import unittest

import twin_mlx5dv
from machines import MLX5, STOCK

GUESTS = [STOCK, MLX5]


class Unaware(unittest.TestCase):
    def test_attributes_of_stopped_qp_not_changed(self) -> None:
        self.assertTrue(twin_mlx5dv.run(is_unaware=True).refused, "no stop was met by a change of attributes")
