# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests kernels whose pages are larger than those of the device."""

import contextlib
import errno
import mmap
import pathlib
import unittest

import module_machines as machines
import raw_verbs
import rdma

GUEST = machines.LARGER_PAGES
DEVICE_PAGE = 4096
"""Firmware pages, and the decoded part of a UAR page: MLX5_ADAPTER_PAGE_SIZE of mlx5/device.h."""
LARGER = mmap.PAGESIZE > DEVICE_PAGE
SEPARATE = 1  # UAR pages for doorbells only


def numbers(file: pathlib.Path) -> dict[str, int]:
    """Lines "NAME: NUMBER" of a file."""
    return {name: int(value) for name, _, value in (line.partition(": ") for line in file.read_text().splitlines())}


def directories() -> list[pathlib.Path]:
    """debugfs directories, one per device."""
    return sorted(path.parent for path in pathlib.Path("/sys/kernel/debug/cxib").glob("*/capabilities"))


class HostPages(unittest.TestCase):
    def setUp(self) -> None:
        self.port = rdma.ports()[0]

    def open(self) -> raw_verbs.Device:
        device = raw_verbs.Device(self.port.device)
        self.addCleanup(device.close)
        device.make_basics()
        return device

    @unittest.skipUnless(LARGER, "pages of the host are those of the device")
    def test_firmware_pages_share_host_pages(self) -> None:
        """Firmware returns some pages in between, so that the rest of their host pages stays in use."""
        self.assertTrue(directories())
        for directory in directories():
            pages = numbers(directory / "pages")
            self.assertGreater(pages["held"], 0)
            self.assertLessEqual(2 * pages["host pages"], pages["held"], pages)

    def test_uars_of_processes_in_different_host_pages(self) -> None:
        """Each process maps whole host pages."""
        caps = numbers(directories()[0] / "capabilities")
        distance = DEVICE_PAGE << (0 if caps["uar_4k"] else caps["log_uar_page_sz"])
        offsets = [device.allocate_uar(SEPARATE) * distance for device in (self.open(), self.open()) for _ in range(3)]
        self.assertEqual([offset % mmap.PAGESIZE for offset in offsets], [0] * 6)
        self.assertEqual(len(set(offsets)), 6)

    def test_capabilities_name_host_page(self) -> None:
        """mlx5_core sets the same values: handle_hca_cap() in Linux."""
        for directory in directories():
            caps = numbers(directory / "capabilities")
            self.assertEqual(DEVICE_PAGE << caps["log_uar_page_sz"], mmap.PAGESIZE)
            self.assertFalse(caps["uar_4k"] and not LARGER)

    def test_timer_mapped_only_without_its_neighbours(self) -> None:
        """The timer is in the second 4 KiB of BAR 0. The first 4 KiB contain addresses in kernel memory."""
        device = self.open()
        if not LARGER:
            device.map(raw_verbs.CLOCK_PAGE).close()
            return
        with self.assertRaises(OSError) as caught, contextlib.closing(device.map(raw_verbs.CLOCK_PAGE)):
            pass
        self.assertEqual(caught.exception.errno, errno.EOPNOTSUPP)
