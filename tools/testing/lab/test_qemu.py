# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the command line of QEMU: processor and NUMA nodes."""

import unittest
from unittest import mock

from labrun import qemu


def command_line(**changes):
    machine = {"processor": "amd64", "accelerator": "tcg", "cpus": 3, "memory": 1000, "iommu": False, "reboots": 0, "nodes": 1} | changes
    kernel = {"image": "/image", "initramfs": "/initramfs", "arguments": ""}
    return " ".join(qemu.command_line(machine, kernel, {"console": 3}, ["/hca0.sock"], False))


class Processor(unittest.TestCase):
    def test_emulated_processor_has_no_fast_string_flags(self):
        for feature in ("erms", "fsrm", "fsrs", "fzrm"):
            self.assertRegex(command_line(), f"-cpu max,\\S*\\b{feature}=off")

    def test_real_processor_has_all_features(self):
        self.assertIn("-cpu max,la57=off ", command_line(accelerator="kvm"))


class OtherProcessor(unittest.TestCase):
    def test_arm64_guest_has_its_own_board(self):
        words = command_line(processor="arm64")
        self.assertTrue(words.startswith("qemu-system-aarch64 -accel tcg -machine virt,"), words)
        self.assertIn("id=hca-port0,bus=pcie.0,", words)
        self.assertNotIn("q35", words)

    def test_arm64_iommu_is_part_of_board(self):
        words = command_line(processor="arm64", iommu=True)
        self.assertIn(",iommu=smmuv3 ", words)
        self.assertNotIn("intel-iommu", words)

    def test_kernel_arguments_name_console(self):
        self.assertIn("console=ttyAMA0", qemu.kernel_arguments("/directory", "", processor="arm64").split())
        self.assertIn("console=ttyS0", qemu.kernel_arguments("/directory", "").split())
        self.assertNotIn("tsc=reliable", qemu.kernel_arguments("/directory", "", processor="arm64"))

    def test_arm64_is_emulated(self):
        with mock.patch.dict(qemu.os.environ, CXIB_LAB_ACCEL="kvm"):
            self.assertEqual("tcg", qemu.accelerator("arm64"))


class Nodes(unittest.TestCase):
    def test_one_node_adds_no_numa(self):
        words = command_line()
        self.assertNotIn("-numa", words)
        self.assertIn("id=hca-port0,bus=pcie.0,", words)

    def test_nodes_share_memory_and_processors(self):
        words = command_line(nodes=3)
        for node, size in enumerate((333, 333, 334)):
            self.assertIn(f"id=memory{node},size={size}M,share=on -numa node,nodeid={node},memdev=memory{node}", words)
            self.assertIn(f"-numa cpu,node-id={node},socket-id={node}", words)

    def test_hcas_on_last_node(self):
        words = command_line(nodes=2)
        self.assertIn("-device pxb-pcie,id=last-node,bus=pcie.0,bus_nr=128,numa_node=1", words)
        self.assertIn("id=hca-port0,bus=last-node,", words)


if __name__ == "__main__":
    unittest.main()
