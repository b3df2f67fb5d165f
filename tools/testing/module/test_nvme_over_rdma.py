# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests NVMe over RDMA, whose queues register memory with WQEs, on other kernels and devices (../ulp/guest)."""

import module_machines as machines
import test_nvme
import ulp

GUESTS = [*machines.OTHER_KERNELS, *machines.IN_TREE, machines.OLD_FIRMWARE, machines.OLD_FIRMWARE_MLX5,
          *(guest for guest in machines.UNUSUAL if guest != machines.STRICT_ISOLATED)]
# What ulp.Protocol looks for.
serve, unload = test_nvme.serve, test_nvme.unload


class Disk(ulp.Protocol):
    test_several_queues_verified = test_nvme.Disk.test_several_queues_verified
