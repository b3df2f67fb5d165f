# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the programs of another rdma-core release on this guest's HCAs, also if the kernel does not let them allocate
UARs."""

import pathlib
import re
import unittest

import programs
import rdma
import test_older_libraries
import test_user_space
from machine import LONG, Guest
from programs import TREE

BOOKWORM = Guest("44", sm="cxemu", cxemu="--profile connectx7", builds=("tools/testing/rdma_core/release_tree bookworm",),
                 level=LONG, settings=("SUITE_TREE=/repo/build/rdma-core/bookworm/tree",))
FORKY = BOOKWORM.but("65", builds=("tools/testing/rdma_core/release_tree --if-there forky",),
                     settings=("SUITE_TREE=/repo/build/rdma-core/forky/tree",))
GUESTS = [BOOKWORM, FORKY]
OWN = "/usr/bin/ibv_devinfo"  # the guest's program


def setUpModule() -> None:  # noqa: N802  (unittest's name)
    programs.use()


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
        version = (TREE.parent / "version").read_text(encoding="ascii").split("-")[0]
        name = f"libmlx5.so.1.*.{version}"
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


class PingPong(test_user_space.PingPong):
    """The programs of the release."""


class ConnectionManager(test_user_space.ConnectionManager):
    """The programs of the release."""


class OlderPrograms(test_older_libraries.OlderPrograms):
    """The programs of the release, with static UARs."""


if __name__ == "__main__":
    unittest.main(verbosity=2)
