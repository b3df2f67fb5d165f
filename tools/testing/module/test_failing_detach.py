# SPDX-License-Identifier: GPL-2.0-or-later
"""Fails each allocation of a detach from a multicast group: it succeeds, since the RDMA core cannot repeat it. Otherwise the
QP would stay until a reset, and with it its context."""

import os
import unittest

import failing_allocations
import module_machines as machines
import raw_verbs
import rdma
from test_user_space import ProgramTest

GUESTS = [machines.DEBUG]
MGID, MLID = bytes.fromhex("ff12401bffff00000000000000000077"), 0xC077


@unittest.skipUnless(failing_allocations.available(), "this kernel cannot make allocations fail where the driver is")
class FailingDetach(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.device = raw_verbs.Device(rdma.devices()[0])
        self.addCleanup(self.device.close)
        self.device.make_basics()
        self.qp = self.device.create_qp(self.device.create_cq(), type=raw_verbs.UD)
        self.device.modify_qp(self.qp, raw_verbs.QP_PKEY_INDEX | raw_verbs.QP_PORT | raw_verbs.QP_QKEY, raw_verbs.INIT)

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


if __name__ == "__main__":
    unittest.main(verbosity=2)
