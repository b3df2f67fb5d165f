# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that adaptive moderation of the RDMA core is a setting of the device. (The cases check the completions.)"""

import pathlib
import subprocess

from exerciser import UlpTest, run_case
from machines import ALL, DEBUG, MLX5

GUESTS = [*ALL, DEBUG, MLX5]

CASES = ("moderation_in_softirq", "moderation_in_workqueue")


def switch(state: str) -> None:
    for device in pathlib.Path("/sys/class/infiniband").iterdir():
        subprocess.run(["rdma", "dev", "set", device.name, "adaptive-moderation", state], check=True)


class AdaptiveModeration(UlpTest):
    def setUp(self) -> None:
        self.addCleanup(switch, "on")

    def test_moderation_switched_off_and_on(self) -> None:
        switch("off")
        for name in CASES:
            self.assertIn("does not adapt", run_case(name))
        switch("on")
        for name in CASES:
            self.assert_right(name)
