# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that a detach from a multicast group does not fail, because the RDMA core cannot repeat it: otherwise the QP would stay
until a reset, and with it its context."""

import errno
import os
import pathlib
import re
import unittest

import failing_allocations
import module_machines as machines
import raw_verbs
import rdma
from control import control, until
from recovering import RecoveryTest, trouble
from test_user_space import ProgramTest

GUESTS = [
    machines.DEBUG.with_tests("FailingDetach"),
    *(each.with_tests("Groups") for each in (machines.RECOVERY, machines.RECOVERY_DEBUG)),
]
MGID, MLID = bytes.fromhex("ff12401bffff00000000000000000077"), 0xC077


def open_datagram_qp(name: str) -> tuple[raw_verbs.Device, int]:
    device = raw_verbs.Device(name)
    device.make_basics()
    qp = device.create_qp(device.create_cq(), type=raw_verbs.UD)
    device.modify_qp(qp, raw_verbs.QP_PKEY_INDEX | raw_verbs.QP_PORT | raw_verbs.QP_QKEY, raw_verbs.INIT)
    return device, qp


@unittest.skipUnless(failing_allocations.available(), "this kernel cannot make allocations fail where the driver is")
class FailingDetach(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.device, self.qp = open_datagram_qp(rdma.devices()[0])
        self.addCleanup(self.device.close)

    def detach(self) -> str:
        try:
            self.device.detach(self.qp, MGID, MLID)
        except OSError as failure:
            return os.strerror(failure.errno or 0)
        return ""

    def test_detach_without_memory_succeeds(self) -> None:
        failing_allocations.count_only("failslab")
        self.device.attach(self.qp, MGID, MLID)
        total = failing_allocations.count(self.detach)
        self.assertGreater(total, 0)
        for number in range(1, total + 1):
            with self.subTest(number=number, of=total):
                self.device.attach(self.qp, MGID, MLID)
                self.assertEqual(failing_allocations.with_failure(number, self.detach).error, "")
        self.device.destroy_qp(self.qp)


class Groups(RecoveryTest):
    """The QP can be destroyed, and afterwards the device has what it had before."""

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(control, "faults", "clear")
        self.before = self.queue_pairs()

    def open(self) -> tuple[raw_verbs.Device, int]:
        device, qp = open_datagram_qp(self.device_name())
        self.addCleanup(device.close)
        return device, qp

    def queue_pairs(self) -> int:
        return control("objects", "@hca1")["hca1"]["queue pair"]["living"]

    def assert_qp_is_destroyed(self, device: raw_verbs.Device, qp: int) -> None:
        device.destroy_qp(qp)
        until(lambda: self.queue_pairs() == self.before, "the QP is gone")

    def test_group_with_two_lids_left_with_last_one(self) -> None:
        """The device knows the GID only."""
        device, qp = self.open()
        for lid in (MLID, MLID + 1):
            device.attach(qp, MGID, lid)
        for lid in (MLID, MLID + 1):
            device.detach(qp, MGID, lid)
        with self.assertRaises(OSError) as refused:
            device.detach(qp, MGID, MLID)
        self.assertEqual(refused.exception.errno, errno.EINVAL)
        self.assert_qp_is_destroyed(device, qp)

    def test_group_with_two_lids_left_at_end_of_context(self) -> None:
        device, qp = open_datagram_qp(self.device_name())
        for lid in (MLID, MLID + 1):
            device.attach(qp, MGID, lid)
        device.close()
        until(lambda: self.queue_pairs() == self.before, "the QP is gone")

    def test_detach_that_firmware_refuses_repeated_at_destruction(self) -> None:
        for status in ("INTERNAL_ERR", "BAD_PARAMETER"):
            with self.subTest(status=status):
                device, qp = self.open()
                device.attach(qp, MGID, MLID)
                trouble("fault", f"command DETACH_FROM_MCG status={status} times=1")
                device.detach(qp, MGID, MLID)
                self.assert_qp_is_destroyed(device, qp)

    def test_detach_with_unknown_result_succeeds(self) -> None:
        self.limit_commands(3000)
        self.before = self.queue_pairs()
        for fault in ("drop-completion", "hang"):
            with self.subTest(fault=fault):
                device, qp = self.open()
                device.attach(qp, MGID, MLID)
                trouble("fault", f"command DETACH_FROM_MCG {fault} times=1")
                device.detach(qp, MGID, MLID)
                self.assert_qp_is_destroyed(device, qp)

    def detached(self) -> int:
        """Number of DETACH_FROM_MCG commands that succeeded. The emulator refuses one for a QP that is no member."""
        shown = pathlib.Path("/sys/kernel/debug/cxib", self.hca.name, "commands").read_text()
        found = re.search(r"detach_from_mcg +(\d+) +(\d+)", shown)
        return int(found[1]) - int(found[2]) if found else 0

    def test_attach_with_unknown_result_leaves_no_member(self) -> None:
        self.limit_commands(1500)
        for fault, error in (("drop-completion", errno.ETIMEDOUT), ("bad-length", errno.EBADMSG)):
            with self.subTest(fault=fault):
                device, qp = self.open()
                before = self.detached()
                trouble("fault", f"command ATTACH_TO_MCG {fault} times=1")
                with self.assertRaises(OSError) as failed:
                    device.attach(qp, MGID, MLID)
                self.assertEqual(failed.exception.errno, error)
                self.assertEqual(self.detached(), before + 1)
                device.attach(qp, MGID, MLID)
                control("complete")
                device.detach(qp, MGID, MLID)
                self.assertEqual(self.detached(), before + 2)
                device.destroy_qp(qp)


if __name__ == "__main__":
    unittest.main(verbosity=2)
