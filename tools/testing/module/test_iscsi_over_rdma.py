# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests iSER in a guest with an isolated processor (../ulp/guest). The block layer refuses queues that only isolated
processors would serve, so the NVMe host cannot have one queue for each processor."""

import module_machines as machines
import test_iser
import ulp

GUEST = machines.STRICT_ISOLATED
# What ulp.Protocol looks for.
serve, unload = test_iser.serve, test_iser.unload


class Disk(ulp.Protocol):
    test_file_system_keeps_files = test_iser.Disk.test_file_system_keeps_files
