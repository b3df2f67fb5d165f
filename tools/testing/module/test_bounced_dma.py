# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests a kernel that bounces all DMA (swiotlb=force)."""

import contextlib
import errno
import pathlib
import unittest

import guest
import module_machines as machines
import raw_verbs
from control import until
from guest import MELLANOX, find_devices

GUESTS = [machines.BOUNCED, machines.TRANSLATED]
HAS_IOMMU = any(pathlib.Path("/sys/class/iommu").glob("dmar*"))
DISABLED = "user contexts: disabled: DMA is bounced (swiotlb)"


class BouncedDma(unittest.TestCase):
    def setUp(self) -> None:
        self.assertIn("swiotlb=force", pathlib.Path("/proc/cmdline").read_text().split())
        self.hca = find_devices(MELLANOX)[0]
        self.log = guest.LogTail()
        self.addCleanup(self.log.close)

    def bind_again(self) -> None:
        guest.unbind(self.hca)
        self.assertEqual(guest.bind_error(self.hca), "")

    def context_error(self) -> int:
        """Error of creating a user context; 0 on success."""
        with contextlib.closing(raw_verbs.Device(next(self.hca.glob("infiniband/*")).name)) as device:
            try:
                device.open_context()
            except OSError as error:
                return error.errno or 0
        return 0

    def is_active(self) -> bool:
        """The port is active only after the subnet manager has exchanged MADs with it."""
        return any("ACTIVE" in state.read_text() for state in self.hca.glob("infiniband/*/ports/1/state"))

    @unittest.skipIf(HAS_IOMMU, "an IOMMU translates")
    def test_bounced_memory_refused_to_programs(self) -> None:
        self.bind_again()
        self.assertIn(DISABLED, self.log.text())
        self.assertEqual(self.context_error(), errno.EOPNOTSUPP)
        until(self.is_active, "the port is active")

    @unittest.skipUnless(HAS_IOMMU, "no IOMMU")
    def test_translated_memory_offered_to_programs(self) -> None:
        self.bind_again()
        self.assertEqual(self.context_error(), 0)
        self.assertNotIn(DISABLED, self.log.text())
        until(self.is_active, "the port is active")
