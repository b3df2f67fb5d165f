# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests errors that the PCI bus reports about an HCA (AER), and the removal of an HCA in use."""

import pathlib
import struct
import subprocess

import guest
import module_machines as machines
from control import until
from guest import MELLANOX, find_devices
from recovering import RecoveryTest

GUESTS = [machines.RECOVERY, machines.RECOVERY_DEBUG]
INJECTOR = pathlib.Path("/dev/aer_inject")
EXTENDED_CONFIGURATION = 4096  # bytes of configuration space; without extended space 256
POWER_MANAGEMENT = pathlib.Path("/sys/module/pcie_aspm")

# Bits of the Uncorrectable and the Correctable Error Status Register (PCIe 7.8.4).
COMPLETION_TIMEOUT = 1 << 14
MALFORMED_PACKET = 1 << 18
BAD_PACKET = 1 << 6


def inject(device: pathlib.Path, uncorrectable: int = 0, correctable: int = 0) -> None:
    """Simulates an error report of the root port about the device."""
    domain, bus, place = device.name.split(":")
    slot, function = place.split(".")
    header = (0, 1, 2, 3)
    error = struct.pack("=BBBxIIIIIII", int(bus, 16), int(slot, 16), int(function), uncorrectable, correctable,
                        *header, int(domain, 16))
    guest.write_bytes(INJECTOR, error)


class BusErrorTest(RecoveryTest):
    """Injects bus errors."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        subprocess.run(["modprobe", "aer_inject"], check=True)
        until(INJECTOR.exists, "the kernel can inject errors")

    def setUp(self) -> None:
        super().setUp()
        if (self.hca / "config").stat().st_size < EXTENDED_CONFIGURATION:
            self.skipTest("this kernel does not reach the AER capability (no CONFIG_PCI_MMCONFIG)")
        if not POWER_MANAGEMENT.exists():
            self.skipTest("this kernel does not ask the firmware for AER (no CONFIG_PCIEASPM)")


class BusErrors(BusErrorTest):
    def comes_back_after(self, error: int) -> None:
        self.log.forget()
        inject(self.hca, uncorrectable=error)
        until(lambda: "AER: device recovery successful" in self.new_messages(), "the bus and the device recover")
        until(self.is_active, "the port is active again")
        self.assertRegex(self.new_messages(), rf"{self.hca.name}: fatal error: PCI channel error")

    def test_error_without_link_loss_recovered(self) -> None:
        self.comes_back_after(COMPLETION_TIMEOUT)

    def test_error_after_flr_recovered(self) -> None:
        guest.write_attribute(self.hca / "reset", "1")
        until(self.is_active, "the port is active again")
        self.comes_back_after(COMPLETION_TIMEOUT)

    def test_correctable_error_not_fatal(self) -> None:
        inject(self.hca, correctable=BAD_PACKET)
        until(lambda: "Correct" in self.new_messages(), "the kernel mentions it")
        self.assertNotIn("fatal error: ", self.new_messages())
        self.assertTrue(self.is_active())


class LinkLost(BusErrorTest):
    """QEMU's root port resets its link, but does not report that the link is active again."""

    def test_link_lost_device_found_again(self) -> None:
        inject(self.hca, uncorrectable=MALFORMED_PACKET)
        until(lambda: "device recovery failed" in self.new_messages(), "the recovery fails")
        self.assertRegex(self.new_messages(), rf"{self.hca.name}: fatal error: PCI channel error")
        self.assertEqual(list(self.hca.glob("infiniband/*")), [])
        guest.write_attribute(self.hca / "remove", "1")
        guest.write_attribute(pathlib.Path("/sys/bus/pci/rescan"), "1")
        guest.write_attribute(self.hca / "driver_override", "cxib\n")
        self.assertEqual(guest.bind_error(self.hca), "")
        until(self.is_active, "the port is active again")


class Removal(RecoveryTest):
    """The kernel removes the device, because QEMU fails an assertion when it unplugs a vfio-user device."""

    def test_device_in_use_removed_leaves_nothing(self) -> None:
        name = next(self.hca.glob("infiniband/*")).name
        with subprocess.Popen(["bash", "-c", f"while perfquery -x -C {name}; do :; done"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as user:
            guest.write_attribute(self.hca / "remove", "1")
            until(lambda: len(find_devices(MELLANOX)) == 1, "the device is gone")
            user.wait()
        self.assertFalse(pathlib.Path("/sys/class/infiniband", name).exists())
        self.assertFalse(pathlib.Path("/sys/kernel/debug/cxib", self.hca.name).exists())
        guest.write_attribute(pathlib.Path("/sys/bus/pci/rescan"), "1")
        guest.write_attribute(self.hca / "driver_override", "cxib\n")
        self.assertEqual(guest.bind_error(self.hca), "")
        until(self.is_active, "the port is active again")
