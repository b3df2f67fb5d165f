# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests an HCA on the last of several NUMA nodes: memory that the driver gives to it is on the same node."""

import os
import pathlib
import re

import control
import module_machines as machines
from hca import HcaTest, interrupts

GUEST = machines.UNCOUNTED
NODES = pathlib.Path("/sys/devices/system/node")
MEMORY = pathlib.Path("/sys/devices/system/memory")
LOG = control.DIRECTORY.parent / "commands"
"""The device's commands."""


def node_of(device: pathlib.Path) -> int:
    return int((device / "numa_node").read_text())


def blocks_of(node: int) -> set[int]:
    """Numbers of the blocks of memory on a node."""
    return {int(path.name.removeprefix("memory")) for path in (NODES / f"node{node}").glob("memory[0-9]*")}


def processors_of(node: int) -> set[int]:
    return {int(path.name.removeprefix("cpu")) for path in (NODES / f"node{node}").glob("cpu[0-9]*")}


class Nodes(HcaTest):
    def setUp(self) -> None:
        super().setUp()
        self.bind()
        self.last = len(list(NODES.glob("node[0-9]*"))) - 1
        self.assertGreater(self.last, 0, "the guest has one node")

    def test_rdma_device_on_node_of_hca(self) -> None:
        for hca in self.hcas:
            name = next((hca / "infiniband").iterdir()).name
            self.assertEqual(node_of(pathlib.Path(f"/sys/class/infiniband/{name}/device")), self.last)

    def test_device_memory_on_node_of_hca(self) -> None:
        size = int((MEMORY / "block_size_bytes").read_text(), 16)
        near = blocks_of(self.last)
        commands = re.findall(r"^ *\d+ \S+ (\w+): (.*) -> ", LOG.read_text(), re.MULTILINE)
        given = {}
        for command, fields in commands:
            for address in re.findall(r"\bpas\[\d+\]=(0x[0-9a-f]+)", fields):
                given.setdefault(command, set()).add(int(address, 16) // size)
        self.assertLessEqual({"MANAGE_PAGES", "CREATE_EQ", "CREATE_CQ", "CREATE_QP"}, given.keys())
        self.assertEqual({command: blocks - near for command, blocks in given.items() if blocks - near}, {})

    def test_completion_vectors_cover_processors_and_node(self) -> None:
        for hca in self.hcas:
            homes = {int(pathlib.Path(f"/proc/irq/{number}/smp_affinity_list").read_text())
                     for number, name in interrupts(hca).items() if "-comp" in name}
            self.assertEqual(homes, set(range(os.cpu_count() or 1)))
            self.assertLessEqual(processors_of(self.last), homes)
