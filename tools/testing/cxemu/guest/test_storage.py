# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests NVMe over RDMA between two devices on one switch, with the tests of tools/testing/ulp. Needs a subnet manager.

The last file of its guests, because the IP addresses stay on the ports.
"""

import unittest

import test_nvme
from cxemu_machines import MATRIX

GUESTS = MATRIX
serve, unload = test_nvme.serve, test_nvme.unload  # The base class finds them here.


class Nvme(test_nvme.Disk):
    """Tests a disk of the kernel's target."""


if __name__ == "__main__":
    unittest.main(verbosity=2)
