# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the attributes that ibv_devinfo prints for a device. Needs no subnet manager."""

import os
import re
import unittest

import rdma
from cxemu_machines import DEBUG, DEVICE, MATRIX, REBOOTS, VIRTUAL

GUESTS = [*DEVICE, *VIRTUAL, *REBOOTS, DEBUG, *MATRIX]
DEVICE_ID = int(os.environ.get("CXEMU_DEVICE_ID", "1017"), 16)
FIRMWARE = os.environ.get("CXEMU_FIRMWARE", "16")  # major version
LANE_SPEED = os.environ.get("CXEMU_LANE_SPEED", "25.0")  # Gbit/s as ibv_devinfo rounds it


def attributes(device: str) -> dict[str, str]:
    """The `name: value` lines of ibv_devinfo -v. If a name occurs twice, the first line is used."""
    found: dict[str, str] = {}
    for line in rdma.run("ibv_devinfo", "-v", "-d", device).splitlines():
        name, colon, value = line.strip().partition(":")
        if colon and name not in found:
            found[name] = value.strip()
    return found


class Device(unittest.TestCase):
    """Tests every device of the guest."""

    def setUp(self) -> None:
        self.devices = {device: attributes(device) for device in rdma.devices()}

    def number(self, device: str, name: str) -> int:
        return int(self.devices[device][name].split()[0], 0)

    def test_device_count_matches_lab_hcas(self) -> None:
        self.assertEqual(len(self.devices), int(os.environ["LAB_HCAS"]))

    def test_infiniband_hca_of_profile(self) -> None:
        for device, found in self.devices.items():
            with self.subTest(device):
                self.assertEqual(found["transport"], "InfiniBand (0)")
                self.assertEqual(int(found["vendor_id"], 16), 0x02C9)
                self.assertEqual(int(found["vendor_part_id"]), DEVICE_ID)
                self.assertRegex(found["fw_ver"], rf"^{FIRMWARE}\.\d+\.\d+$")
                self.assertEqual(found["phys_port_cnt"], "1")

    def test_guids_are_set_and_unique(self) -> None:
        guids = [found["node_guid"] for found in self.devices.values()]
        guids += [found["sys_image_guid"] for found in self.devices.values()]
        for guid in guids:
            self.assertRegex(guid, r"^([0-9a-f]{4}:){3}[0-9a-f]{4}$")
            self.assertNotEqual(guid, "0000:0000:0000:0000")
        nodes = [found["node_guid"] for found in self.devices.values()]
        self.assertEqual(len(set(nodes)), len(nodes))

    def test_limits_match_real_device(self) -> None:
        for device in self.devices:
            with self.subTest(device):
                self.assertGreaterEqual(self.number(device, "max_qp"), 1 << 17)
                self.assertGreaterEqual(self.number(device, "max_qp_wr"), 1 << 13)
                self.assertGreaterEqual(self.number(device, "max_cqe"), (1 << 22) - 1)
                self.assertGreaterEqual(self.number(device, "max_cq"), 1 << 14)
                self.assertGreaterEqual(self.number(device, "max_mr"), 1 << 14)
                self.assertGreaterEqual(self.number(device, "max_pd"), 1 << 14)
                self.assertGreaterEqual(self.number(device, "max_srq"), 1 << 14)
                self.assertEqual(self.number(device, "max_sge"), 30)
                self.assertEqual(self.number(device, "max_pkeys"), 128)
                self.assertEqual(self.number(device, "max_qp_rd_atom"), 16)
                self.assertGreater(self.number(device, "max_mcast_grp"), 0)
                self.assertGreater(self.number(device, "max_mcast_qp_attach"), 0)

    def test_page_sizes_include_4k(self) -> None:
        for device in self.devices:
            self.assertTrue(self.number(device, "page_size_cap") & 0x1000)

    def test_port_is_infiniband_and_trained(self) -> None:
        for device, found in self.devices.items():
            with self.subTest(device):
                self.assertEqual(found["link_layer"], "InfiniBand")
                self.assertEqual(found["phys_state"], "LINK_UP (5)")
                self.assertEqual(found["max_mtu"], "4096 (5)")
                self.assertEqual(found["active_width"], "4X (2)")
                self.assertRegex(found["active_speed"], rf"^{re.escape(LANE_SPEED)} Gbps")
                self.assertRegex(found["GID[  0]"], r"^fe80:")

    def test_first_pkey_is_default(self) -> None:
        for port in rdma.ports():
            self.assertEqual(port.attribute("pkeys/0"), "0xffff")

    def test_port_attributes_match_kernel(self) -> None:
        for device, found in self.devices.items():
            port = rdma.Port(device)
            self.assertEqual(int(found["port_lid"]), port.lid)
            self.assertIn(port.state, re.sub("PORT_", "", found["state"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
