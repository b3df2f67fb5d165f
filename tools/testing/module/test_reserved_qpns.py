# SPDX-License-Identifier: GPL-2.0-or-later
"""QPNs that DEVX programs reserve, on an HCA that supports it: queue pairs of other programs keep their share."""

import contextlib
import errno
import itertools
import unittest

import module_machines as machines
import raw_verbs
import rdma
from machine import Guest
from test_device_commands import CREATE_GENERAL_OBJECT, RESERVED_NUMBERS, command

RESERVED = Guest("reserved-qpns", hcas=1, cxemu="--profile connectx7")
GUESTS = [RESERVED, machines.on_debug(RESERVED)]
LOG_RANGE = 6


class ReservedQpns(unittest.TestCase):
    def open_device(self) -> raw_verbs.Device:
        device = raw_verbs.Device(rdma.devices()[0])
        device.make_basics(raw_verbs.CONTEXT_WITH_COMMANDS)
        return device

    def reserve_all(self, device: raw_verbs.Device) -> int:
        """Reserves ranges of QPNs until the driver refuses. Returns the number of ranges."""
        for count in itertools.count():
            try:
                device.create_object(command(CREATE_GENERAL_OBJECT, w1=RESERVED_NUMBERS, w3=LOG_RANGE << 24))
            except OSError as error:
                self.assertEqual(error.errno, errno.ENOSPC)
                return count
        raise AssertionError

    def test_contexts_together_reserve_half_of_qpns(self) -> None:
        with contextlib.closing(self.open_device()) as third:
            with contextlib.closing(self.open_device()) as second, contextlib.closing(self.open_device()) as first:
                quarter = self.reserve_all(first)
                self.assertGreater(quarter, 0)
                self.assertEqual(self.reserve_all(second), quarter)
                self.assertEqual(self.reserve_all(third), 0)
                third.create_qp(third.create_cq())
            self.assertEqual(self.reserve_all(third), quarter)
