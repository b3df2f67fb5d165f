# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests cxib.ko as an administrator sees it: loading, binding to devices, and the messages.

The guest has an HCA and three other devices. One of these is a frame buffer: its BAR 0 is memory, so a test can write any
init segment to it.
"""

import mmap
import os
import pathlib
import struct
import subprocess

import guest
import hw
from guest import DEVICES, DRIVER, MELLANOX, MODULE, ModuleTest, driver_of, find_device, write_attribute
from machine import LONG, Guest

GUEST = Guest("binding-debug", driver="none", kernel="debug", hcas=1, level=LONG,
              options=("--qemu", "-device bochs-display -device pci-testdev -device rtl8139,romfile="))
FRAME_BUFFER = "1234:1111"
SMALL_MEMORY_BAR = "1b36:0005"
PORT_BAR = "10ec:8139"

FIRMWARE_OFFSET = hw.HW_INITIAL_SEG_OFFSET_FW_REV_MAJOR
QUEUE_OFFSET = hw.HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_31_12
SEGMENT_SIZE = 0x400C


class InitSegment:
    """The start of the frame buffer as the init segment of a device that does not exist.

    It must be written before the driver probes the device: the kernel then removes the mapping.
    """

    def __init__(self, device: pathlib.Path) -> None:
        write_attribute(device / "enable", "1")
        descriptor = os.open(device / "resource0", os.O_RDWR)
        self.memory = mmap.mmap(descriptor, 0x5000)
        os.close(descriptor)

    def write(self, offset: int, *words: int) -> None:
        for position, word in enumerate(words):
            self.memory[offset + 4 * position : offset + 4 * position + 4] = struct.pack(">I", word)

    def fill(self, byte: int) -> None:
        self.memory[0:SEGMENT_SIZE] = bytes([byte]) * SEGMENT_SIZE

    def become_connectx5(self) -> None:
        """Writes an init segment of running firmware 16.35.4030 with command interface revision 5 and 32 command
        slots."""
        self.fill(0)
        self.write(FIRMWARE_OFFSET, 35 << 16 | 16, 5 << 16 | 4030)
        self.write(QUEUE_OFFSET, 0x56)


class Loading(ModuleTest):
    def test_module_has_no_alias(self) -> None:
        aliases = subprocess.run(["modinfo", "-F", "alias", MODULE], check=True, capture_output=True, text=True)
        self.assertEqual(aliases.stdout, "")

    def test_module_loaded_and_unloaded_repeatedly(self) -> None:
        for _ in range(10):
            guest.unload()
            guest.load()
        self.assertTrue(DRIVER.is_dir())

    def test_module_loaded_binds_no_device(self) -> None:
        self.assertEqual([driver for device in DEVICES.iterdir() if (driver := driver_of(device)) == "cxib"], [])


class Hca(ModuleTest):
    """Tests a device of the driver's ID table. The guest has loaded no other driver for it."""

    def setUp(self) -> None:
        super().setUp()
        self.hca = find_device(MELLANOX)

    def test_hca_without_override_not_bound(self) -> None:
        self.assertEqual(driver_of(self.hca), "")
        self.assertEqual(guest.bind_error(self.hca), "No such device")
        self.assertEqual(driver_of(self.hca), "")

    def test_hca_with_override_bound(self) -> None:
        with guest.override(self.hca):
            self.assertEqual(guest.bind_error(self.hca), "")
        self.assertEqual(driver_of(self.hca), "cxib")
        self.assert_logged(rf"{self.hca.name}: firmware \d+\.\d+\.\d+, .* up after \d+ commands")

    def test_hca_unbound_free_for_others(self) -> None:
        with guest.override(self.hca):
            self.assertEqual(guest.bind_error(self.hca), "")
        guest.unbind(self.hca)
        self.assertEqual(driver_of(self.hca), "")
        self.assertEqual((self.hca / "driver_override").read_text().strip(), "(null)")
        self.assertEqual(guest.bind_error(self.hca), "No such device")


class ForeignDevices(ModuleTest):
    """Tests other devices than HCAs, bound by force."""

    def test_unknown_device_id_refused(self) -> None:
        device = find_device(FRAME_BUFFER)
        with guest.override(device):
            self.assertEqual(guest.bind_error(device), "No such device")
        self.assertEqual(driver_of(device), "")
        self.assert_logged(rf"{device.name}: device id {FRAME_BUFFER} not supported")

    def add_id(self, identity: str) -> pathlib.Path:
        write_attribute(DRIVER / "new_id", identity.replace(":", " "))
        return find_device(identity)

    def test_bar_too_short_refused(self) -> None:
        device = self.add_id(SMALL_MEMORY_BAR)
        self.assertEqual(guest.bind_error(device), "No such device")
        self.assert_logged(r"BAR 0 too small: 0x0*1000 bytes \(init segment 0x400c\)")

    def test_port_bar_refused(self) -> None:
        device = self.add_id(PORT_BAR)
        self.assertEqual(guest.bind_error(device), "No such device")
        self.assert_logged(r"BAR 0 is not memory: resource flags 0x[0-9a-f]+")


class FirmwareStates(ModuleTest):
    """Tests what the driver does with various init segments."""

    def setUp(self) -> None:
        super().setUp()
        self.device = find_device(FRAME_BUFFER)
        self.segment = InitSegment(self.device)
        self.addCleanup(self.segment.memory.close)
        self.segment.fill(0)

    def allow(self) -> None:
        """Adds the frame buffer's ID to the driver, which probes the device."""
        write_attribute(DRIVER / "new_id", FRAME_BUFFER.replace(":", " "))

    def test_empty_init_segment_refused(self) -> None:
        self.allow()
        self.assertEqual(guest.bind_error(self.device), "Protocol not supported")
        self.assert_logged(r"command interface revision 0 not supported, expected 5 \(firmware 0\.0\.0\)")

    def test_all_ones_init_segment_refused(self) -> None:
        self.segment.fill(0xFF)
        self.allow()
        self.assertEqual(guest.bind_error(self.device), "Input/output error")
        self.assert_logged(r"init segment reads as all-ones")

    def test_refused_device_leaves_nothing(self) -> None:
        self.allow()
        self.assertEqual(driver_of(self.device), "")
        self.assertNotIn("cxib", pathlib.Path("/proc/iomem").read_text())

    def test_invalid_command_queue_refused(self) -> None:
        self.segment.become_connectx5()
        self.segment.write(QUEUE_OFFSET, 0x9F)
        self.allow()
        self.assertEqual(guest.bind_error(self.device), "Protocol error")
        self.assert_logged(r"command queue: log_size 9, log_stride 15 not supported")

    def test_silent_device_fatal(self) -> None:
        self.segment.become_connectx5()
        self.allow()
        self.assertEqual(driver_of(self.device), "")
        self.assert_logged(r"fatal error: health counter stalled")
        self.assert_logged(r"bring-up failed at step \d+ of \d+, ENABLE_HCA: error -5")
        self.assertNotIn("cxib", pathlib.Path("/proc/iomem").read_text())
