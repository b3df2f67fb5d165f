# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests tools/testing/guest/hw.py, which reads constants from the generated headers."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "guest"))

import hw  # noqa: E402  (found through the path above)


class Constants(unittest.TestCase):
    def test_opcodes_offsets_and_masks_found(self) -> None:
        # From mlx5_ifc.h: 0x500 is the opcode of CREATE_QP, 0x1fc the offset of the bit "initializing", 1 is bit 0 of
        # mkey_mask.
        self.assertEqual((hw.HW_CMD_CREATE_QP, hw.HW_INITIAL_SEG_OFFSET_INITIALIZING, hw.HW_MKEY_MASK_LEN), (0x500, 0x1FC, 1))

    def test_unknown_name_raises_error(self) -> None:
        with self.assertRaisesRegex(AttributeError, "has HW_CMD_NONE"):
            getattr(hw, "HW_CMD_NONE")
