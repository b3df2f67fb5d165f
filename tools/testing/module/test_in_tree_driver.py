# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the in-tree driver on kernels and devices on which cxib is tested, too (../cxemu/guest)."""

import module_machines as machines
import test_cm_programs
import test_device
import test_pingpong
import test_reload

GUESTS = [
    *(each.with_tests("Programs", "Connections.test_completion_events", "Examples", "Reload") for each in machines.IN_TREE),
    machines.OLD_FIRMWARE_MLX5.with_tests("Device", "Connections", "Programs", "Examples"),
]


class Device(test_device.Device):
    """Attributes of the devices."""


class Connections(test_pingpong.ReliableConnection):
    """Ping-pong programs over RC."""


class Programs(test_pingpong.PingPong):
    test_shared_receive_queue = test_pingpong.OtherServices.test_shared_receive_queue


class Examples(test_cm_programs.TwoMachines):
    test_rping_data_verified = test_cm_programs.Examples.test_rping_data_verified


class Reload(test_reload.Reload):
    """This class is last, because it removes the devices."""

    test_device_rebound_devices_return = test_flr_devices_return = None
