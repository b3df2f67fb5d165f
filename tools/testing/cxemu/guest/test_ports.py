# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests a device with two ports, each with its own cable to the switch. Needs a subnet manager."""

import unittest

import rdma
from machine import Guest

GUEST = Guest("ports", driver="mlx5", hcas=1, sm="cxemu", cxemu="--ports 2")


class TwoPorts(unittest.TestCase):
    """Tests the only device of the guest."""

    @classmethod
    def setUpClass(cls) -> None:
        device, = rdma.devices()
        cls.ports = [rdma.Port(device, 1), rdma.Port(device, 2)]

    def test_device_has_two_ports(self) -> None:
        numbers = sorted(path.name for path in self.ports[0].directory.parent.glob("*"))
        self.assertEqual(numbers, ["1", "2"])

    def test_ports_active_with_own_lids_and_guids(self) -> None:
        for port in self.ports:
            self.assertEqual(port.state, "ACTIVE", port)
        self.assertEqual(len({port.lid for port in self.ports} | {0}), 3)
        self.assertEqual(len({port.guid for port in self.ports}), 2)

    def test_subnet_has_one_node_with_two_links(self) -> None:
        text = rdma.run("ibnetdiscover", *rdma.MAD_TIMEOUT)
        self.assertEqual(text.count("\nCa\t"), 1, text)
        self.assertIn("Ca\t2 ", text)

    def test_agents_of_both_ports_respond(self) -> None:
        for port in self.ports:
            for source in self.ports:
                text = rdma.run("smpquery", "-C", source.device, "-P", source.number, *rdma.MAD_TIMEOUT, "portinfo", port.lid,
                                port.number)
                self.assertRegex(text, rf"(?m)^Lid:\.*{port.lid}$")

    def test_datagrams_between_ports_arrive(self) -> None:
        for source, target in (self.ports, self.ports[::-1]):
            for output in rdma.exchange(["ibv_ud_pingpong", "-c", "-n", 100, "-s", 1024], source, target):
                self.assertNotIn("invalid data", output)
                self.assertRegex(output, r"\b100 iters in")


if __name__ == "__main__":
    unittest.main(verbosity=2)
