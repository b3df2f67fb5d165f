#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A completion event is delivered late, and the consumer has armed its CQ meanwhile.

The device ignores that arming, because it bears the number of the event. The driver repeats it, so that the next completion
raises an event although the consumer has ignored the late one.
"""

import unittest

from exerciser import UlpTest


class LateEvents(UlpTest):
    def test_arming_before_late_event_keeps_next_event(self) -> None:
        self.assert_right("pending_event")


if __name__ == "__main__":
    unittest.main(verbosity=2)
