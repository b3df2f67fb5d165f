# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests which memory a device can access: all of it, or, with an IOMMU, what its driver has mapped.

The device has no driver during the test. The test itself submits a command to it.
"""

import pathlib
import unittest

import raw_hca
import rdma
from cxemu_machines import DEVICE, IOMMU

GUESTS = [*DEVICE, *IOMMU]
DRIVER = pathlib.Path("/sys/bus/pci/drivers/mlx5_core")
HAS_IOMMU = any(pathlib.Path("/sys/class/iommu").glob("dmar*"))


class DirectMemoryAccess(unittest.TestCase):
    """Tests the first device of the guest."""

    def setUp(self) -> None:
        self.devices = rdma.devices()
        self.function = (rdma.CLASS / self.devices[0] / "device").resolve()
        (DRIVER / "unbind").write_text(self.function.name)
        self.addCleanup(self.give_back)
        self.hca = raw_hca.RawHca(self.function)
        self.page = raw_hca.Page()
        self.hca.submit_enable_hca(self.page)

    def give_back(self) -> None:
        (self.function / "reset").write_text("1")
        (DRIVER / "bind").write_text(self.function.name)
        rdma.until(lambda: rdma.devices() == self.devices, f"the devices {self.devices} are there again")
        self.assertIn("link_layer:\t\tInfiniBand", rdma.run("ibv_devinfo", "-d", self.devices[0]))

    @unittest.skipIf(HAS_IOMMU, "the guest has an IOMMU")
    def test_page_without_iommu_reached(self) -> None:
        rdma.until(lambda: self.page.memory[raw_hca.OWNER] & 1 == 0, "the command is answered")
        self.assertEqual(self.page.memory[raw_hca.OWNER], 0, "delivery status")
        self.assertEqual(self.page.memory[0x20], 0, "status of the command")
        self.assertFalse(self.hca.has_aborted)

    @unittest.skipUnless(HAS_IOMMU, "the guest has no IOMMU")
    def test_unmapped_page_not_read_and_abort_noted(self) -> None:
        before = bytes(self.page.memory)
        rdma.until(lambda: self.hca.has_aborted, "the device notes a master abort")
        self.assertEqual(bytes(self.page.memory), before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
