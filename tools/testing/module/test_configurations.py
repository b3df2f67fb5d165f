# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that guests with unusual configurations have them; other files test cxib in the same guests. A kernel with lockdown
refuses the unsigned module."""

import os
import pathlib
import re
import subprocess
import unittest

import guest
import module_machines as machines
import rdma

GUESTS = [
    machines.STRICT_ISOLATED.with_tests("Configuration.test_iommu_strict", "Configuration.test_processor_isolated"),
    machines.IDENTITY_FIVE_LEVELS.with_tests("Configuration.test_iommu_passes_through", "Configuration.test_five_levels"),
    machines.OFF_NOSMT.with_tests("Configuration.test_iommu_off", "Configuration.test_threads_off",
                                  "Configuration.test_three_vectors"),
    machines.ONE_PROCESSOR.with_tests("Configuration.test_one_processor"),
    machines.MANY_PROCESSORS.with_tests("Configuration.test_64_processors"),
    machines.SIGNATURES.with_tests("Lockdown"),
    *(each.with_tests("OldFirmware") for each in (machines.OLD_FIRMWARE, machines.OLD_FIRMWARE_MLX5)),
]
PROCESSORS = pathlib.Path("/sys/devices/system/cpu")


def iommu_types() -> set[str]:
    return {(port / "device/iommu_group/type").read_text().strip() for port in rdma.CLASS.iterdir()}


def completion_vectors() -> int:
    """Interrupts of all HCAs for completions. Commands, events and page faults have other ones."""
    return len(re.findall(r"cxib-comp\d*@", pathlib.Path("/proc/interrupts").read_text()))


class Configuration(unittest.TestCase):
    def test_iommu_strict(self) -> None:
        """The device cannot access memory that is not mapped for it."""
        self.assertEqual(iommu_types(), {"DMA"})

    def test_iommu_passes_through(self) -> None:
        self.assertEqual(iommu_types(), {"identity"})

    def test_iommu_off(self) -> None:
        self.assertEqual(os.listdir("/sys/kernel/iommu_groups"), [])

    def test_one_processor(self) -> None:
        self.assertEqual(os.cpu_count(), 1)

    def test_64_processors(self) -> None:
        self.assertEqual(os.cpu_count(), 64)
        self.assertEqual(completion_vectors(), 122)

    def test_three_vectors(self) -> None:
        """One of the three of each HCA is for completions."""
        self.assertEqual(completion_vectors(), 2)

    def test_threads_off(self) -> None:
        """Two cores with two threads each, one of them in use."""
        self.assertEqual(os.cpu_count(), 2)

    def test_processor_isolated(self) -> None:
        """The second processor has no timer ticks."""
        self.assertEqual([(PROCESSORS / name).read_text().strip() for name in ("isolated", "nohz_full")], ["1", "1"])

    def test_five_levels(self) -> None:
        self.assertRegex(pathlib.Path("/proc/cpuinfo").read_text(), r"\bla57\b")


class Lockdown(unittest.TestCase):
    def insert(self) -> int:
        return subprocess.run(["insmod", guest.MODULE], check=False).returncode

    def test_unsigned_module_refused_and_kernel_driver_works(self) -> None:
        self.assertIn("Kernel is locked down from command line", guest.kernel_log())
        self.assertNotEqual(self.insert(), 0)
        self.assertIn("Lockdown: insmod: unsigned module loading is restricted", guest.kernel_log())
        guest.write_attribute(pathlib.Path("/sys/module/module/parameters/sig_enforce"), "1")
        self.assertNotEqual(self.insert(), 0)
        self.assertIn("Loading of unsigned module is rejected", guest.kernel_log())
        rdma.run("modprobe", "mlx5_ib")
        rdma.until(lambda: len(rdma.devices()) == 2, "the kernel's own driver has both HCAs")


class OldFirmware(unittest.TestCase):
    def test_no_atomic_operations(self) -> None:
        """Their results would have the wrong byte order."""
        for device in rdma.devices():
            self.assertRegex(rdma.run("ibv_devinfo", "-v", "-d", device), "atomic_cap:.*ATOMIC_NONE")
