# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of QEMU: the processor, guests with NUMA nodes."""

import unittest

from labrun import qemu


def command_line(**changes):
    machine = {"accelerator": "tcg", "cpus": 3, "memory": 1000, "iommu": False, "reboots": 0, "nodes": 1} | changes
    kernel = {"image": "/image", "initramfs": "/initramfs", "arguments": ""}
    return " ".join(qemu.command_line(machine, kernel, {"console": 3}, ["/hca0.sock"], False))


class Processor(unittest.TestCase):
    def test_emulated_processor_has_no_fast_string_flags(self):
        for feature in ("erms", "fsrm", "fsrs", "fzrm"):
            self.assertRegex(command_line(), f"-cpu max,\\S*\\b{feature}=off")

    def test_real_processor_has_all_features(self):
        self.assertIn("-cpu max,la57=off ", command_line(accelerator="kvm"))


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
