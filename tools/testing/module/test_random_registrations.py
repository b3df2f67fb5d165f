# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests registrations of XRC receive QPs while processes are killed, allocations fail and the device is removed.

CXIB_REGISTRATIONS is the number of processes, domains and rounds; CXIB_SEED selects the operations. The programs are in
cases/. The lab looks for leaked memory at the end.
"""

import errno
import os
import unittest

import failing_allocations
import guest
import module_machines as machines
import raw_verbs
import rdma
from test_cases import Programs
from test_user_space import ProgramTest

GUESTS = [machines.DEBUG, machines.REGISTRATIONS]
SIZES = os.environ.get("CXIB_REGISTRATIONS", "8 64 100").split()
SEED = os.environ.get("CXIB_SEED", "1")


class Registrations(Programs):
    def test_registration_of_removed_device_fails(self) -> None:
        self.check("xrc_registration", "removed")

    def test_random_registrations_leave_nothing(self) -> None:
        # The program takes long, so its progress is printed at once.
        self.assertEqual(self.run_program("xrc_random", SEED, *SIZES), 0)


def make_receive_qp() -> tuple[raw_verbs.Device, int]:
    """A device whose last QP is an XRC_TGT QP, and the handle of its XRC domain."""
    device = raw_verbs.Device(rdma.devices()[0])
    device.make_basics()
    xrcd = device.open_xrcd()
    device.create_xrc_target(device.create_cq(), xrcd)
    return device, xrcd


@unittest.skipUnless(failing_allocations.available(), "this kernel cannot make allocations fail where the driver is")
class FailingRegistrations(ProgramTest):
    """Fails each allocation of a registration once: no registration remains, and the next attempt succeeds."""

    def setUp(self) -> None:
        super().setUp()
        self.device, self.xrcd = make_receive_qp()
        self.addCleanup(self.device.close)
        self.number = self.device.qp_number

    def register(self) -> str:
        try:
            self.device.register_qp(self.xrcd, self.number)
        except OSError as failure:
            return os.strerror(failure.errno or 0)
        return ""

    def unregister(self) -> None:
        self.device.unregister_qp(self.device.find_registration(self.xrcd, self.number), self.xrcd, self.number)

    def assert_not_registered(self) -> None:
        with self.assertRaises(OSError) as caught:
            self.device.find_registration(self.xrcd, self.number)
        self.assertEqual(caught.exception.errno, errno.ENOENT)

    def fail_each(self, module: str) -> int:
        """Returns the number of failed registrations."""
        failing_allocations.count_only("failslab", module)
        total = failing_allocations.count(self.register)
        self.unregister()
        failed = 0
        for number in range(1, total + 1):
            with self.subTest(module=module, number=number, of=total):
                error = failing_allocations.with_failure(number, self.register).error
                if error:
                    self.assertEqual(error, os.strerror(errno.ENOMEM))
                    self.assert_not_registered()
                    failed += 1
                else:
                    self.unregister()
                self.assertEqual(self.register(), "")
                self.unregister()
        print(f"{module}: {total} allocations, {failed} registrations failed")
        return failed

    def test_failed_driver_allocation_leaves_no_registration(self) -> None:
        # Allocations: the registration and the QP handle. The array of registrations needs memory if its first entry
        # does not fit.
        self.assertGreaterEqual(self.fail_each("cxib"), 2)

    def test_failed_uverbs_allocation_leaves_no_registration(self) -> None:
        # One more allocation: the uobject.
        self.assertGreaterEqual(self.fail_each("ib_uverbs"), 3)

    def test_unregistration_needs_no_memory_of_driver(self) -> None:
        """The exit of a process does the same and cannot be repeated. The registration is the last handle of its QP."""
        qp = self.device.create_xrc_target(self.device.create_cq(), self.xrcd)
        number = self.device.qp_number
        registration = self.device.register_qp(self.xrcd, number)
        self.device.destroy_qp(qp)
        failing_allocations.count_only("failslab", "cxib")
        self.assertEqual(failing_allocations.count(lambda: self.device.unregister_qp(registration, self.xrcd, number) or ""), 0)


class Unloading(unittest.TestCase):
    """This class is last, because it removes the devices from all other users."""

    def test_module_with_registration_unloaded(self) -> None:
        before = rdma.devices()
        device, xrcd = make_receive_qp()
        self.addCleanup(device.close)
        device.register_qp(xrcd, device.qp_number)
        guest.unload()
        self.addCleanup(rdma.until, lambda: rdma.devices() == before, "the devices are back")
        self.addCleanup(guest.load)
        with self.assertRaises(OSError) as caught:
            device.register_qp(xrcd, device.qp_number)
        self.assertEqual(caught.exception.errno, errno.EIO)
