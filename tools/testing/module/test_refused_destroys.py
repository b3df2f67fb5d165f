# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests a refusal by firmware to destroy the objects of a process that exits: the driver keeps them and their memory
until firmware destroys them."""

import contextlib
import errno
import pathlib
from collections.abc import Callable

import guest
import module_machines as machines
import raw_verbs
from control import control, until
from ending import run_to_end
from pyverbs import enums
from pyverbs.cq import CQ
from pyverbs.device import AllocDmAttr, Context, DM
from pyverbs.mr import MR, MW
from pyverbs.pd import PD
from pyverbs.providers.mlx5.mlx5dv import Mlx5DmOpAddr
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.srq import SRQ, SrqInitAttr
from recovering import RecoveryTest, trouble
from test_device_commands import PAGE, queue_pair

GUESTS = [machines.RECOVERY, machines.RECOVERY_DEBUG]
SIZE = 1 << 20
REFUSED = "status=BAD_RESOURCE_STATE"
OPERATION = 1
"""Test and set: enum hw_memic_operation_type."""
UNMAPPED = 64
"""An address in the first page, which no program has."""

COMMANDS = ("DESTROY_QP", "2RST_QP", "DESTROY_CQ", "DESTROY_RMP", "DESTROY_MKEY", "DEALLOC_PD", "DEALLOC_UAR",
            "DESTROY_UCTX")
"""Each destroys what the program below has: queues and regions with memory, and objects that they refer to."""


class Program:
    """A context with a connected QP, an SRQ, a CQ, an MR, a memory window and an ODP MR."""

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


def open_raw(name: str, flags: int = 0) -> raw_verbs.Device:
    device = raw_verbs.Device(name)
    device.make_basics(flags)
    return device


def make_xrc(name: str) -> object:
    device = open_raw(name)
    return device, device.create_xrc_srq(device.create_cq(), device.open_xrcd())


def make_tags(name: str) -> object:
    device = open_raw(name)
    return device, device.create_tagged_srq(device.create_cq())


def make_target(name: str) -> object:
    """A DCT. It exists in the device from RTR on."""
    device = open_raw(name)
    target = device.create_target(device.create_cq(), device.create_srq())
    device.modify_qp(target, raw_verbs.QP_PKEY_INDEX | raw_verbs.QP_PORT | raw_verbs.QP_ACCESS_FLAGS, raw_verbs.INIT)
    device.modify_qp(target, raw_verbs.QP_AV | raw_verbs.QP_PATH_MTU | raw_verbs.QP_MIN_RNR_TIMER, raw_verbs.RTR)
    return device


def make_by_commands(name: str) -> object:
    """A QP created by DEVX in DEVX memory."""
    device = open_raw(name, raw_verbs.CONTEXT_WITH_COMMANDS)
    device.create_cq()
    _, memory = device.register_memory(device.queue.address + 65536, 2 * PAGE)
    device.create_object(queue_pair(device, memory))
    return device


def make_device_memory(name: str) -> object:
    context = Context(name=name)
    return context, DM(context, AllocDmAttr(length=64))


def make_xrc_target(name: str) -> object:
    """An XRC_TGT QP, which belongs to no user context because several processes may have it open."""
    device = open_raw(name)
    target = device.create_xrc_target(device.create_cq(), device.open_xrcd())
    device.modify_qp(target, raw_verbs.QP_PKEY_INDEX | raw_verbs.QP_PORT | raw_verbs.QP_ACCESS_FLAGS, raw_verbs.INIT)
    return device


OTHERS: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("DESTROY_XRC_SRQ", make_xrc), ("DEALLOC_XRCD", make_xrc), ("DESTROY_XRQ", make_tags),
    ("DRAIN_DCT", make_target), ("DESTROY_DCT", make_target),
    ("2RST_QP", make_xrc_target), ("DESTROY_QP", make_xrc_target),
    ("DESTROY_QP", make_by_commands), ("DESTROY_UMEM", make_by_commands),
    ("DEALLOC_MEMIC", make_device_memory),
)
"""The commands that destroy other kinds of objects, and programs that have them."""


class RefusedDestroys(RecoveryTest):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(control, "faults", "clear")
        self.run_program(Program)  # for the first ODP MR the driver creates its own objects
        self.before = self.objects()

    def objects(self) -> dict[str, int]:
        return {kind: numbers["living"] for kind, numbers in control("objects", "@hca1")["hca1"].items()
                if numbers["living"]}

    def orphans(self) -> list[str]:
        """The first line is the number of objects."""
        return pathlib.Path(f"/sys/kernel/debug/cxib/{self.hca.name}/orphans").read_text().splitlines()

    def count(self) -> int:
        return int(self.orphans()[0].removeprefix("objects of closed contexts: "))

    def run_program(self, make: Callable[[str], object]) -> None:
        self.assertEqual(run_to_end(lambda: make(self.device_name())), 0)

    def refuse(self, *commands: str) -> None:
        for command in commands:
            trouble("fault", f"command {command} {REFUSED}")

    def assert_is_kept_for_later(self, command: str, make: Callable[[str], object]) -> None:
        self.refuse(command)
        self.run_program(make)
        self.assertGreater(self.count(), 0)
        self.assertIn(command.lower(), "\n".join(self.orphans()))
        control("faults", "clear")
        until(self.has_none_left, "all are destroyed as further programs end")
        self.assertEqual(self.objects(), self.before)

    def test_refused_destroy_of_other_types_repeated_until_success(self) -> None:
        self.run_program(make_xrc_target)  # for the first XRC QP the driver creates its own objects
        self.before = self.objects()
        for command, make in OTHERS:
            with self.subTest(command, make=make.__name__):
                self.assert_is_kept_for_later(command, make)
        self.assertEqual(self.failures(), 0)

    def test_refused_destroy_repeated_until_success(self) -> None:
        for command in COMMANDS:
            with self.subTest(command):
                self.assert_is_kept_for_later(command, Program)
        self.assertIn("objects of closed user contexts not destroyed, memory kept until reset: ", self.new_messages())
        self.assertEqual(self.failures(), 0)

    def has_none_left(self) -> bool:
        """Each end of a context tries some objects again."""
        self.run_program(lambda name: Context(name=name))
        return self.count() == 0

    def test_commands_refused_together_repeated(self) -> None:
        self.refuse(*COMMANDS)
        for _ in range(3):
            self.run_program(Program)
        self.assertGreaterEqual(self.count(), 3 * len(COMMANDS) - 3)
        control("faults", "clear")
        until(self.has_none_left, "all are destroyed as further programs end")
        self.assertEqual(self.objects(), self.before)
        self.assertEqual(self.failures(), 0)

    def test_unbind_with_refused_objects_resets_device(self) -> None:
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

    def test_unbind_with_objects_in_use_allows_rebind(self) -> None:
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

    def fail_to_create(self, create: Callable[[raw_verbs.Device], object]) -> None:
        """The driver cannot write the response to the process when the device already has the object. The creation
        fails for that reason; the process continues and exits later."""
        device = raw_verbs.Device(self.device_name())
        try:
            device.make_basics()
            with self.assertRaises(OSError) as caught:
                create(device)
            self.assertEqual(caught.exception.errno, errno.EFAULT)
            self.assertEqual(self.count(), 0)
            self.assertEqual(self.failures(), 0)
        finally:
            device.close()

    def test_refused_destroy_after_failed_create_repeated(self) -> None:
        def without_response(create: Callable[[raw_verbs.Device], object]) -> Callable[[raw_verbs.Device], object]:
            def act(device: raw_verbs.Device) -> object:
                device.response_address = UNMAPPED
                return create(device)
            return act

        def create_qp(device: raw_verbs.Device) -> object:
            cq = device.create_cq()
            device.response_address = UNMAPPED
            return device.create_qp(cq)

        creations: dict[str, Callable[[raw_verbs.Device], object]] = {
            "DEALLOC_PD": without_response(raw_verbs.Device.allocate_pd),
            "DESTROY_CQ": without_response(raw_verbs.Device.create_cq),
            "DESTROY_RMP": without_response(raw_verbs.Device.create_srq),
            "DESTROY_QP": create_qp,
        }
        for command, create in creations.items():
            with self.subTest(command):
                self.refuse(command)
                self.fail_to_create(create)
                self.assertIn(command.lower(), "\n".join(self.orphans()))
                control("faults", "clear")
                until(self.has_none_left, "all are destroyed as further programs end")
                self.assertEqual(self.objects(), self.before)
        self.assertEqual(self.failures(), 0)

    def test_refused_memic_operation_keeps_memic(self) -> None:
        """The process can unmap the pages of the operation and free the device memory, but the device still has both.
        The device memory is freed after the operation, at the latest with the context."""
        context = Context(name=self.device_name())
        memory = DM(context, AllocDmAttr(length=64))
        operation = Mlx5DmOpAddr(memory, OPERATION)
        operation.unmap(64)
        self.refuse("MODIFY_MEMIC")
        memory.close()
        kept = self.orphans()
        self.assertEqual(kept[0], "objects of closed contexts: 0")
        self.assertRegex(kept[1], r"^modify_memic .*: not tried again$")
        self.assertRegex(kept[2], r"^dealloc_memic .*: not tried again$")
        other = DM(context, AllocDmAttr(length=64))
        other.copy_to_dm(0, b"anything", 8)
        self.assertEqual(other.copy_from_dm(0, 8), b"anything")
        control("faults", "clear")
        other.close()
        everything = AllocDmAttr(length=context.query_device_ex().max_dm_size)
        with self.assertRaises(PyverbsRDMAError):
            DM(context, everything)
        context.close()
        self.assertEqual(len(self.orphans()), 1)
        with Context(name=self.device_name()) as later:
            DM(later, everything).close()
        self.assertEqual(self.objects(), self.before)
        self.assertEqual(self.failures(), 0)

    def test_running_program_gets_error(self) -> None:
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
