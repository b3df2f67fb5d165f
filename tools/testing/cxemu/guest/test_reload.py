# SPDX-License-Identifier: GPL-2.0-or-later
"""Unloads and loads the driver repeatedly. The lab checks the kernel log."""

import os
import pathlib
import unittest

import rdma
from cxemu_machines import DEVICE, IOMMU, with_tests
from machine import LONG, Guest

GUESTS = [
    *DEVICE,
    *with_tests(IOMMU, "Reload.test_flr_devices_return"),
    Guest("reloads", driver="mlx5", hcas=1, settings=("CXEMU_RELOADS=50",), level=LONG, seconds=7200),
]
DRIVER = pathlib.Path("/sys/bus/pci/drivers/mlx5_core")
RELOADS = int(os.environ.get("CXEMU_RELOADS", "3"))


class Reload(unittest.TestCase):
    """Reloads mlx5_core and mlx5_ib."""

    def setUp(self) -> None:
        self.devices = rdma.devices()

    def check_devices(self) -> None:
        rdma.until(lambda: rdma.devices() == self.devices, f"the devices {self.devices} are there again")
        for device in self.devices:
            self.assertIn("link_layer:\t\tInfiniBand", rdma.run("ibv_devinfo", "-d", device))

    def test_driver_reloaded_devices_return(self) -> None:
        for turn in range(RELOADS):
            with self.subTest(turn):
                rdma.run("modprobe", "-r", "mlx5_ib", "mlx5_core")
                self.assertEqual(rdma.devices(), [])
                rdma.run("modprobe", "-a", "mlx5_core", "mlx5_ib")
                self.check_devices()

    def test_device_rebound_devices_return(self) -> None:
        for function in self.functions():
            (DRIVER / "unbind").write_text(function.name)
            (DRIVER / "bind").write_text(function.name)
        self.check_devices()

    def test_flr_devices_return(self) -> None:
        for function in self.functions():
            (DRIVER / "unbind").write_text(function.name)
            self.assertIn("flr", (function / "reset_method").read_text())
            (function / "reset").write_text("1")
            (DRIVER / "bind").write_text(function.name)
        self.check_devices()

    def functions(self) -> list[pathlib.Path]:
        """The PCI functions of the devices."""
        return [(rdma.CLASS / device / "device").resolve() for device in self.devices]


if __name__ == "__main__":
    unittest.main(verbosity=2)
