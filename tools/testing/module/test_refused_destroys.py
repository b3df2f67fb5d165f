#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Firmware refuses to destroy the objects of a program that ends: they and their memory are kept until it does.

Runs in a guest of tools/testing/module/recovery, as test_recovery.py does.
"""

import contextlib
import os
import pathlib
import traceback
import unittest
from collections.abc import Callable

import guest
from control import control, until
from pyverbs import enums
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR, MW
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.srq import SRQ, SrqInitAttr
from recovering import RecoveryTest, trouble

SIZE = 1 << 20
REFUSED = "status=BAD_RESOURCE_STATE"

COMMANDS = ("DESTROY_QP", "2RST_QP", "DESTROY_CQ", "DESTROY_RMP", "DESTROY_MKEY", "DEALLOC_PD", "DEALLOC_UAR",
            "DESTROY_UCTX")
"""Each destroys what the program below has: queues and regions with memory, and objects that they refer to."""


class Program:
    """A context with a connected QP, an SRQ, a CQ, a region, a memory window and a region on demand."""

    def __init__(self, name: str) -> None:
        self.context = Context(name=name)
        self.domain = PD(self.context)
        self.completions = CQ(self.context, 64)
        self.shared = SRQ(self.domain, SrqInitAttr())
        self.region = MR(self.domain, SIZE, enums.IBV_ACCESS_LOCAL_WRITE)
        self.window = MW(self.domain, enums.IBV_MW_TYPE_2)
        self.on_demand = MR(self.domain, SIZE, enums.IBV_ACCESS_LOCAL_WRITE | enums.IBV_ACCESS_ON_DEMAND)
        capacity = QPCap(max_send_wr=16, max_recv_wr=16, max_send_sge=1, max_recv_sge=1)
        wanted = QPInitAttr(qp_type=enums.IBV_QPT_RC, scq=self.completions, rcq=self.completions, cap=capacity)
        self.queue = QP(self.domain, wanted)
        self.queue.to_init(QPAttr(port_num=1))


class RefusedDestroys(RecoveryTest):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(control, "faults", "clear")
        self.run_program(Program)  # the driver creates objects of its own for the first region on demand
        self.before = self.objects()

    def objects(self) -> dict[str, int]:
        return {kind: numbers["living"] for kind, numbers in control("objects", "@hca1")["hca1"].items()
                if numbers["living"]}

    def leftovers(self) -> list[str]:
        """The first line is that of the number."""
        return pathlib.Path(f"/sys/kernel/debug/cxib/{self.hca.name}/leftovers").read_text().splitlines()

    def count(self) -> int:
        return int(self.leftovers()[0].removeprefix("objects of closed contexts: "))

    def run_program(self, make: Callable[[str], object]) -> None:
        """It ends without closing anything."""
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                try:
                    owned = make(self.device_name())
                    os._exit(0 if owned else 1)
                except BaseException:
                    traceback.print_exc()
            os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def refuse(self, *commands: str) -> None:
        for command in commands:
            trouble("fault", f"command {command} {REFUSED}")

    def test_objects_are_destroyed_when_firmware_gives_in(self) -> None:
        for command in COMMANDS:
            with self.subTest(command):
                self.refuse(command)
                self.run_program(Program)
                self.assertGreater(self.count(), 0)
                self.assertIn(command.lower(), "\n".join(self.leftovers()))
                control("faults", "clear")
                until(self.has_none_left, "all are destroyed as further programs end")
                self.assertEqual(self.objects(), self.before)
        self.assertIn("objects of closed user contexts not destroyed, memory kept until reset: ", self.new_messages())
        self.assertEqual(self.failures(), 0)

    def has_none_left(self) -> bool:
        """The end of each context tries some again."""
        self.run_program(lambda name: Context(name=name))
        return self.count() == 0

    def test_commands_that_are_refused_together(self) -> None:
        self.refuse(*COMMANDS)
        for _ in range(3):
            self.run_program(Program)
        self.assertGreaterEqual(self.count(), 3 * len(COMMANDS) - 3)
        control("faults", "clear")
        until(self.has_none_left, "all are destroyed as further programs end")
        self.assertEqual(self.objects(), self.before)
        self.assertEqual(self.failures(), 0)

    def test_unbinding_resets_the_device(self) -> None:
        control("violations", "allow", "objects_left_at_teardown", "100", "firmware has refused to destroy them")
        self.refuse(*COMMANDS)
        self.run_program(Program)
        self.assertGreater(self.count(), 0)
        guest.unbind(self.hca)
        self.assertRegex(self.new_messages(), rf"{self.hca.name}: teardown incomplete, resetting device")
        control("faults", "clear")
        self.assertEqual(guest.bind_error(self.hca), "")
        until(self.is_active, "the port is active again")
        self.assertEqual(self.count(), 0)

    def test_unbinding_while_a_program_has_the_objects(self) -> None:
        program = Program(self.device_name())
        self.refuse("DESTROY_QP", "DESTROY_MKEY")
        guest.unbind(self.hca)
        control("faults", "clear")
        self.assertEqual(guest.bind_error(self.hca), "")
        until(self.is_active, "the port is active again")
        for gone in (program.queue, program.on_demand, program.window, program.region, program.shared,
                     program.completions, program.domain, program.context):
            with contextlib.suppress(PyverbsRDMAError):
                gone.close()

    def test_program_that_goes_on_gets_the_error(self) -> None:
        context = Context(name=self.device_name())
        domain, completions = PD(context), CQ(context, 64)
        self.refuse("DESTROY_CQ", "DEALLOC_PD")
        for owned in (completions, domain):
            with self.assertRaises(PyverbsRDMAError):
                owned.close()
        self.assertEqual(self.count(), 0)
        control("faults", "clear")
        context.close()
        self.assertEqual(self.objects(), self.before)
        self.assertEqual(self.failures(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
