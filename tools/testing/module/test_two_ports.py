# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests on cxib what HCAs with two ports do (../cxemu/guest)."""

import test_migration
import test_port_counters
from machine import Guest

GUEST = Guest("two-ports", sm="cxemu", cxemu="--ports 2")


class Migration(test_migration.Migration):
    """Connections move to another path."""


class PortCounters(test_port_counters.PortCounters):
    """Each port counts its own traffic."""
