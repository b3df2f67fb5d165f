# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests iSER with protection information: the kernel's initiator and target let the device sign and check blocks.

The target's RAM disk stores T10-DIF type 1 and verifies it in software. The initiator's block layer uses IP checksums
as guards, and the device converts them to CRCs.
"""

import pathlib
import random
import unittest

import ipoib
import rdma
from cxemu_machines import SIGNATURES

GUESTS = SIGNATURES
TARGET = "iqn.2026-01.com.lab:protected"
ADDRESS = "10.9.0.1"
PORTAL = f"{ADDRESS}:3260"
CONFIG = pathlib.Path("/sys/kernel/config/target")
DISK = CONFIG / "core/rd_mcp_0/disk"
GROUP = CONFIG / "iscsi" / TARGET / "tpgt_1"
BLOCKS = pathlib.Path("/sys/block")
SIZE = 4 << 20


def make_target() -> None:
    for module in ("target_core_mod", "iscsi_target_mod", "ib_isert"):
        rdma.run("modprobe", module)
    for directory in ("/etc/target", "/var/target/pr", DISK, GROUP / "lun/lun_0"):
        rdma.run("mkdir", "-p", directory)
    (DISK / "control").write_text("rd_pages=4096")
    (DISK / "enable").write_text("1")
    (DISK / "attrib/pi_prot_type").write_text("1")
    settings = {"t10_pi": 1, "authentication": 0, "generate_node_acls": 1, "demo_mode_write_protect": 0}
    for name, value in settings.items():
        (GROUP / "attrib" / name).write_text(str(value))
    (GROUP / "lun/lun_0/disk").symlink_to(DISK)
    rdma.run("mkdir", GROUP / "np" / PORTAL)
    (GROUP / "np" / PORTAL / "iser").write_text("1")
    (GROUP / "enable").write_text("1")


def log_in() -> pathlib.Path:
    """Logs in and returns the directory of the disk in sysfs."""
    rdma.run("modprobe", "sd_mod")
    rdma.run("modprobe", "ib_iser", "pi_enable=1")
    pathlib.Path("/etc/iscsi/initiatorname.iscsi").write_text("InitiatorName=iqn.2026-01.com.lab:initiator\n")
    rdma.run("iscsid")
    node = ("iscsiadm", "-m", "node", "-T", TARGET, "-p", PORTAL, "-I", "iser")
    rdma.run(*node, "-o", "new")
    # With the debug kernel, the initiator's mkeys alone take longer than the default 15 s of an attempt.
    rdma.run(*node, "-o", "update", "-n", "node.conn[0].timeo.login_timeout", "-v", int(rdma.PATIENCE))
    rdma.run(*node, "--login")
    rdma.until(lambda: any(BLOCKS.glob("sd*/integrity/format")), "the disk is there")
    return next(BLOCKS.glob("sd*"))


class Protection(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        ipoib.set_up(rdma.ports()[0], f"{ADDRESS}/24")
        make_target()
        cls.disk = log_in()

    @classmethod
    def tearDownClass(cls) -> None:
        rdma.run("iscsiadm", "-m", "node", "-T", TARGET, "-p", PORTAL, "--logout")

    def write(self, data: pathlib.Path, block: int, *, signed_by_kernel: bool) -> None:
        (self.disk / "integrity/write_generate").write_text(str(int(signed_by_kernel)))
        rdma.run("dd", f"if={data}", f"of=/dev/{self.disk.name}", f"bs={block}", f"count={SIZE // block}", "oflag=direct")

    def read(self, data: pathlib.Path, block: int, *, checked_by_kernel: bool) -> None:
        (self.disk / "integrity/read_verify").write_text(str(int(checked_by_kernel)))
        rdma.run("dd", f"if=/dev/{self.disk.name}", f"of={data}", f"bs={block}", f"count={SIZE // block}", "iflag=direct")

    def test_disk_protected_up_to_block_layer(self) -> None:
        self.assertEqual((self.disk / "integrity/format").read_text().strip(), "T10-DIF-TYPE1-IP")
        modes = [path.read_text().strip() for path in self.disk.glob("device/scsi_disk/*/protection_mode")]
        self.assertEqual(modes, ["dix1"])

    def test_signatures_of_device_and_kernel_agree(self) -> None:
        """If the kernel has no protection information, the initiator's device inserts it in writes and strips it from
        reads."""
        source, copy = pathlib.Path("/tmp/written"), pathlib.Path("/tmp/read")  # noqa: S108
        generator = random.Random(2)  # noqa: S311
        for block in (4096, 65536, 1 << 20):
            for signed in (True, False):
                for checked in (True, False):
                    with self.subTest(block=block, signed_by_kernel=signed, checked_by_kernel=checked):
                        source.write_bytes(generator.randbytes(SIZE))
                        self.write(source, block, signed_by_kernel=signed)
                        self.read(copy, block, checked_by_kernel=checked)
                        self.assertEqual(copy.read_bytes(), source.read_bytes())


if __name__ == "__main__":
    unittest.main()
