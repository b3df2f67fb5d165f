#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests a completion event that arrives after the consumer has armed its CQ again.

The device ignores this arming, because it has the sequence number of the late event. The driver repeats the arming, so
that the next completion raises an event although the consumer has ignored the late one.
"""

import unittest

from exerciser import UlpTest


class LateEvents(UlpTest):
    def test_arming_before_late_event_keeps_next_event(self) -> None:
        self.assert_right("pending_event")


if __name__ == "__main__":
    unittest.main(verbosity=2)
