# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets KCSAN find unordered accesses of a posting and a polling thread, in kernels that have KCSAN.

KCSAN delays each access that it watches, so it watches only one of thousands by default; here it watches one of SKIP_WATCH.
Its reports are in the kernel log, and the lab fails the run.
"""

import pathlib
import unittest

from exerciser import UlpTest, tests_each_case
from machines import DEBUG_RT

GUEST = DEBUG_RT

PARAMETERS = pathlib.Path("/sys/module/kcsan/parameters")
SKIP_WATCH = "200"


@unittest.skipUnless(PARAMETERS.exists(), "this kernel does not look for data races")
@tests_each_case("concurrent_")
class DataRaces(UlpTest):
    def setUp(self) -> None:
        watched = PARAMETERS / "skip_watch"
        self.addCleanup(watched.write_text, watched.read_text(encoding="ascii"), encoding="ascii")
        watched.write_text(SKIP_WATCH, encoding="ascii")
