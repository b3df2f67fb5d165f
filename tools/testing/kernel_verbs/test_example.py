#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The example of a ULP with a polling context in Documentation: with cxib it has one, without it does."""

import os
import pathlib
import re
import subprocess
import unittest

import guest
from completion_queues import Shown

MODULE = pathlib.Path(os.environ.get("CXIB_EXAMPLE_MODULE", "polling_context.ko"))
NAME = "polling_context"


class Example(unittest.TestCase):
    def setUp(self) -> None:
        log = guest.LogTail()
        self.addCleanup(log.close)
        subprocess.run(["insmod", MODULE], check=True)
        self.addCleanup(subprocess.run, ["rmmod", NAME], check=True)
        self.places = re.findall(r"(\S+): done\(\) runs in (.+): WR flushed", log.text())

    @unittest.skipUnless(guest.find_devices(guest.MELLANOX) and pathlib.Path("/sys/module/cxib").exists(), "cxib is not there")
    def test_done_runs_in_thread_of_vector(self) -> None:
        self.assertEqual(len(self.places), len(guest.find_devices(guest.MELLANOX)))
        for device, place in self.places:
            self.assertRegex(place, rf"^{device.split()[-1]}/comp\w+$")
        for hca in guest.find_devices(guest.MELLANOX):
            self.assertEqual([queue.context for queue in Shown(hca).queues.values()].count("thread"), 1)

    @unittest.skipIf(pathlib.Path("/sys/module/cxib").exists(), "cxib is there")
    def test_done_runs_in_softirq_with_another_driver(self) -> None:
        self.assertEqual({place for _, place in self.places}, {"a softirq"})


if __name__ == "__main__":
    unittest.main()
