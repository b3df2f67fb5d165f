# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests port counters of two HCAs with two ports each. Needs a subnet manager."""

import re
import unittest

import rdma
from cxemu_machines import TWO_PORTS

GUESTS = TWO_PORTS
MESSAGES, SIZE = 1000, 1024
BYTES_PER_UNIT = 4
NAMES = {
    "port_xmit_data": "PortXmitData", "port_rcv_data": "PortRcvData",
    "port_xmit_packets": "PortXmitPkts", "port_rcv_packets": "PortRcvPkts",
    "unicast_xmit_packets": "PortUnicastXmitPkts", "unicast_rcv_packets": "PortUnicastRcvPkts",
    "multicast_xmit_packets": "PortMulticastXmitPkts", "multicast_rcv_packets": "PortMulticastRcvPkts",
}
"""What sysfs and what perfquery call a counter."""


def counters(port: rdma.Port) -> dict[str, int]:
    return {name: int(port.attribute(f"counters/{name}")) for name in NAMES}


def moved(before: dict[str, int], port: rdma.Port) -> dict[str, int]:
    return {name: value - before[name] for name, value in counters(port).items()}


class PortCounters(unittest.TestCase):
    def setUp(self) -> None:
        self.ports = [rdma.Port(device, number) for device in rdma.devices() for number in (1, 2)]
        self.assertEqual(len(self.ports), 4)

    def test_traffic_counted_at_its_ports_only(self) -> None:
        before = {port: counters(port) for port in self.ports}
        rdma.exchange(["ibv_ud_pingpong", "-n", MESSAGES, "-s", SIZE], self.ports[1], self.ports[3])
        for port in self.ports:
            changes = moved(before[port], port)
            for direction in ("xmit", "rcv"):
                with self.subTest(port=port, direction=direction):
                    packets = changes[f"port_{direction}_packets"]
                    if port.number == 1:
                        # These packets are MADs of the subnet manager.
                        self.assertLess(packets, MESSAGES // 2)
                        continue
                    self.assertGreaterEqual(packets, MESSAGES)
                    self.assertGreaterEqual(changes[f"unicast_{direction}_packets"], MESSAGES)
                    self.assertLess(changes[f"multicast_{direction}_packets"], MESSAGES // 2)
                    self.assertGreaterEqual(changes[f"port_{direction}_data"] * BYTES_PER_UNIT, MESSAGES * SIZE)

    def test_agents_respond_as_sysfs(self) -> None:
        """The first port queries each port."""
        for port in self.ports:
            before = counters(port)
            text = rdma.ask("perfquery", "-x", port.lid, port.number)
            after = counters(port)
            found = dict(re.findall(r"^(\w+):\.*(\d+)$", text, re.MULTILINE))
            for name, agents_name in NAMES.items():
                with self.subTest(port=port, counter=name):
                    self.assertLessEqual(before[name], int(found[agents_name]))
                    self.assertLessEqual(int(found[agents_name]), after[name])


if __name__ == "__main__":
    unittest.main(verbosity=2)
