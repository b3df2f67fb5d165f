# SPDX-License-Identifier: GPL-2.0-or-later
"""Restarts the kernel while cxib drives two HCAs: by a machine reset, which shuts nothing down, by an orderly reboot, and by
kexec, which leaves the devices in their state. Afterwards they must come up and receive datagrams."""

import test_datagrams
import test_fabric
from machine import LONG, Guest

GUESTS = [Guest(f"reboots-{way}", kernel=kernel, sm="opensm", reboots=2, options=("--reboot-by", way), level=LONG)
          for way, kernel in (("kexec", "debug"), ("reset", "stock"), ("reboot", "stock"))]


class Subnet(test_fabric.Subnet):
    """The ports are active."""


class Datagrams(test_datagrams.PingPong):
    """The ports exchange datagrams."""
