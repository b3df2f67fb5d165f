# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the programs of another rdma-core release on this guest's HCAs. Started by in_release."""

import os
import pathlib
import re
import unittest

import rdma

TREE = pathlib.Path(os.environ["SUITE_TREE"])
VERSION = (TREE.parent / "version").read_text(encoding="ascii").split("-")[0]
OWN = "/usr/bin/ibv_devinfo"  # the guest's program


def libraries(process: int) -> set[pathlib.Path]:
    maps = pathlib.Path(f"/proc/{process}/maps").read_text(encoding="utf-8")
    return {pathlib.Path(path) for path in re.findall(r"/\S+/lib\S*\.so\S*", maps)}


def attributes(text: str) -> dict[tuple[str, str], str]:
    """Attributes that ibv_devinfo prints for each device. Lines below a line without a value belong to that line."""
    found = {}
    device = ""
    for name, value in re.findall(r"(?m)^\s*([\w.-]+(?:\[ *\d+\])?):[ \t]+(\S.*?)\s*$", text):
        device = value if name == "hca_id" else device
        found[device, name] = value
    return found


class Libraries(unittest.TestCase):
    def test_programs_use_libraries_of_release(self) -> None:
        name = f"libmlx5.so.1.*.{VERSION}"
        # Runs on each device: with the first QP the in-tree driver creates a CQ that stays, and later tests count
        # objects.
        for device in rdma.devices():
            port = next(rdma.TCP_PORTS)
            with self.subTest(device), rdma.background("ibv_rc_pingpong", "-d", device, "-p", port) as server:
                rdma.await_listener(port, server)  # the server has created its QP
                mapped = libraries(server.pid)
                self.assertTrue(any(path.match(name) for path in mapped), mapped)
                self.assertEqual([path for path in mapped if not path.is_relative_to(TREE)], [])


class Attributes(unittest.TestCase):
    """Attributes that this release and the guest's release both print must be equal."""

    def test_attributes_match_older_library(self) -> None:
        found, own = attributes(rdma.run("ibv_devinfo", "-v")), attributes(rdma.run(OWN, "-v"))
        both = found.keys() & own.keys()
        self.assertEqual({key: found[key] for key in both}, {key: own[key] for key in both})
        for device in rdma.devices():
            with self.subTest(device):
                self.assertIn((device, "max_qp_wr"), both)
                self.assertIn((device, "state"), both)
                self.assertIn("PORT_ACTIVE", found[device, "state"])
                self.assertEqual(found[device, "link_layer"], "InfiniBand")


if __name__ == "__main__":
    unittest.main(verbosity=2)
