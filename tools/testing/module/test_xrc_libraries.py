# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests XRC receive QPs that processes register through libxrcrcv and libxrc2008 (built by tools/testing/xrcrcv/build).

The receivers are on the first HCA, the senders on the second.
"""

import contextlib
import errno
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator

sys.path.insert(0, "/repo/tools/testing/xrcrcv")
# pylint: disable=wrong-import-position
import failing_allocations  # noqa: E402
import guest  # noqa: E402
import module_machines as machines  # noqa: E402
import raw_verbs  # noqa: E402
import rdma  # noqa: E402
from agents import Agent, Failed  # noqa: E402
from control import control  # noqa: E402
from machine import LONG, Guest  # noqa: E402

LIBRARIES = Guest("libraries", sm="cxemu", builds=("tools/testing/xrcrcv/build",))
GUESTS = [
    machines.on_debug(LIBRARIES).with_tests("Example", "Xrc2008", "Xrcrcv", "XrcrcvRemoved"),
    LIBRARIES.but("xrc-libraries-mlx5", driver="mlx5", level=LONG).with_tests("OtherDriver"),
]

# From enum ib_event_type of the RDMA core's interface, with the flag for registered QPs.
COMM_EST = "0x80000004"
QP_REQ_ERR = "0x80000002"
QP_ACCESS_ERR = "0x80000003"
# Milliseconds in which an event that was caused earlier arrives; no result depends on this time.
SHORTLY = 100000
QP_STATE = 1  # bit of enum ibv_qp_attr_mask
QP_PORT = 1 << 5
RATE_LIMIT = 1 << 25
ALL_BITS = 0xffffffff
ENDLESS = 10**9
OTHER_USER = 65534
STATES = {"INIT": 1, "RTR": 2, "RTS": 3}


def target_qps() -> set[int]:
    """Numbers of the receive QPs on the first HCA that the kernel has."""
    text = subprocess.run(["rdma", "-j", "-d", "resource", "show", "qp"], check=True, capture_output=True, text=True).stdout
    device = rdma.devices()[0]
    return {qp["lqpn"] for qp in json.loads(text) if qp.get("type") == "XRC_TGT" and qp.get("ifname") == device}


PREEMPTION = pathlib.Path("/sys/kernel/debug/sched/preempt")


@contextlib.contextmanager
def full_preemption() -> Iterator[None]:
    """Makes the kernel preemptible in the context. A kernel compiled for one kind of preemption does not change."""
    if not PREEMPTION.exists():
        yield
        return
    before = re.search(r"\((\w+)\)", PREEMPTION.read_text())[1]
    guest.write_attribute(PREEMPTION, "full")
    try:
        yield
    finally:
        guest.write_attribute(PREEMPTION, before)


GROUPS = pathlib.Path("/run/xrc_groups")


@contextlib.contextmanager
def control_group() -> Iterator[pathlib.Path]:
    """An rdma control group, whose processes must have exited at the end.

    The kernel (6.12) frees a group with limits while devices refer to it, and crashes when such a device is removed.
    """
    if not GROUPS.exists():
        GROUPS.mkdir()
        rdma.run("mount", "-t", "cgroup2", "none", GROUPS)
        guest.write_attribute(GROUPS / "cgroup.subtree_control", "+rdma")
    group = GROUPS / "libraries"
    group.mkdir()
    try:
        yield group
    finally:
        limit_objects(group, "max")
        group.rmdir()


def limit_objects(group: pathlib.Path, limit: int | str) -> None:
    """Limits the objects that its processes may have on the first HCA."""
    guest.write_attribute(group / "rdma.max", f"{rdma.devices()[0]} hca_object={limit}")


def objects_of(group: pathlib.Path) -> int:
    """Number of objects of the group's processes on the first HCA."""
    for line in (group / "rdma.current").read_text().splitlines():
        device, *amounts = line.split()
        if device == rdma.devices()[0]:
            return int(dict(amount.split("=") for amount in amounts)["hca_object"])
    return 0


class WithAgents(unittest.TestCase):
    """Base class without tests."""

    library = ""

    def setUp(self) -> None:
        self.agents: list[Agent] = []
        self.addCleanup(lambda: [agent.kill() for agent in self.agents if agent.process.poll() is None])
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.file = pathlib.Path(directory.name) / "domain"
        self.file.touch(mode=0o600)
        self.other_file = pathlib.Path(directory.name) / "other"
        self.other_file.touch(mode=0o600)

    def agent(self, device: int = 0) -> Agent:
        agent = Agent(self.library, device)
        self.agents.append(agent)
        return agent

    def member(self) -> Agent:
        """A process that has opened the XRC domain of the file in slot 0."""
        agent = self.agent()
        agent("domain", 0, self.file, "create")
        return agent

    def receiver(self) -> tuple[Agent, int]:
        """A member with an SRQ, and the SRQ's number."""
        agent = self.member()
        return agent, int(agent("srq", 0, 0))

    def sender(self) -> tuple[Agent, int]:
        """A process on the other HCA with a send QP, and the QP's number."""
        agent = self.agent(1)
        agent("domain", 0, "-", "create")
        agent("srq", 0, 0)
        return agent, int(agent("sender", 0))

    def join(self, agent: Agent, qpn: int, masks: str = "") -> Agent:
        """Brings a receive QP to RTR and connects it to a new sender, which is returned."""
        sender, number = self.sender()
        agent("init", 0, qpn)
        agent("rtr", 0, qpn, sender.lid, number)
        sender("connect", 0, agent.lid, qpn, masks)
        return sender

    def check_message(self, sender: Agent, receiver: Agent, srqn: int, text: str) -> None:
        self.assertEqual(sender("send", 0, srqn, text), "success")
        self.assertEqual(receiver("receive"), text)


class Library(WithAgents):
    """Tests of both libraries; base class."""

    # Creation (C) and traffic

    def test_created_qp_receives_for_srq_of_domain(self) -> None:
        creator = self.member()
        receiver, srqn = self.receiver()
        qpn = int(creator("create", 0))
        self.assertIn(qpn, target_qps())
        sender = self.join(creator, qpn)
        self.check_message(sender, receiver, srqn, "first")

    def test_qp_in_rtr_needs_no_further_transition(self) -> None:
        receiver, srqn = self.receiver()
        qpn = int(receiver("create", 0))
        sender = self.join(receiver, qpn)
        for text in ("one", "two", "three"):
            self.check_message(sender, receiver, srqn, text)
        self.assertIn(f"state {STATES['RTR']} ", receiver("query", 0, qpn))

    def test_sender_connected_by_rc_masks_sends(self) -> None:
        receiver, srqn = self.receiver()
        qpn = int(receiver("create", 0))
        self.check_message(self.join(receiver, qpn, "rc"), receiver, srqn, "compatible")

    def test_qp_in_rts_receives_without_communication_event(self) -> None:
        for masks in ("", "rc"):
            with self.subTest(masks=masks):
                receiver, srqn = self.receiver()
                qpn = int(receiver("create", 0))
                sender = self.join(receiver, qpn)
                receiver("rts", 0, qpn, masks)
                self.assertIn(f"state {STATES['RTS']} ", receiver("query", 0, qpn))
                self.check_message(sender, receiver, srqn, "ready")
                self.assertEqual(receiver("event", 0), "none")

    def test_qp_with_creator_killed_receives(self) -> None:
        creator = self.member()
        receiver, srqn = self.receiver()
        qpn = int(creator("create", 0))
        receiver("register", 0, qpn)
        sender = self.join(creator, qpn)
        self.check_message(sender, receiver, srqn, "before")
        sender.post("send", 0, srqn, "meanwhile")
        creator.kill()
        self.assertEqual(sender.take(), "success")
        self.assertEqual(receiver("receive"), "meanwhile")
        self.check_message(sender, receiver, srqn, "afterwards")

    def test_last_registrant_killed_destroys_qp(self) -> None:
        creator = self.member()
        receiver, srqn = self.receiver()
        qpn = int(creator("create", 0))
        receiver("register", 0, qpn)
        sender = self.join(creator, qpn)
        creator.kill()
        self.check_message(sender, receiver, srqn, "heard")
        receiver.kill()
        self.assertNotIn(qpn, target_qps())
        self.assertEqual(sender("send", 0, srqn, "unheard"), "transport retry counter exceeded")

    def test_sole_creator_unregistered_destroys_qp(self) -> None:
        creator = self.member()
        qpn = int(creator("create", 0))
        creator("unregister", 0, qpn)
        self.assertNotIn(qpn, target_qps())
        self.assertEqual(creator.refusal("query", 0, qpn), "EINVAL")

    # Registrations (R, L)

    def test_registrations_of_context_count_once(self) -> None:
        creator = self.member()
        other = self.member()
        qpn = int(creator("create", 0))
        for _ in range(3):
            self.assertEqual(other("register", 0, qpn), "0")
        creator("unregister", 0, qpn)
        self.assertIn(qpn, target_qps())
        other("unregister", 0, qpn)
        self.assertNotIn(qpn, target_qps())
        self.assertEqual(other.refusal("unregister", 0, qpn), "EINVAL")

    def test_contexts_of_process_register_separately(self) -> None:
        agent = self.member()
        qpn = int(agent("create", 0))
        agent("device", 1, 0)
        agent("domain", 0, self.file)
        agent("register", 0, qpn)
        agent("unregister", 0, qpn)
        agent("select", 0)
        self.assertIn(qpn, target_qps())
        agent("unregister", 0, qpn)
        self.assertNotIn(qpn, target_qps())

    def test_child_shares_registrations_of_parent(self) -> None:
        agent = self.member()
        qpn = int(agent("create", 0))
        agent("fork")
        self.assertEqual(agent("register", 0, qpn), "0")
        agent("unregister", 0, qpn)
        self.assertNotIn(qpn, target_qps())

    def test_unregister_without_registration_refused(self) -> None:
        creator = self.member()
        other = self.member()
        qpn = int(creator("create", 0))
        self.assertEqual(other.refusal("unregister", 0, qpn), "EINVAL")
        self.assertIn(qpn, target_qps())

    def test_libibverbs_handle_counts_like_registration(self) -> None:
        """The process exits with its handle: libmlx5 of rdma-core 56 crashes when it destroys the handle."""
        creator, opener, registrant = self.member(), self.member(), self.member()
        qpn = int(creator("create", 0))
        opener("open-qp", 0, 0, qpn)
        creator.kill()
        self.assertIn(qpn, target_qps())
        registrant("register", 0, qpn)
        opener.kill()
        self.assertIn(qpn, target_qps())
        registrant("unregister", 0, qpn)
        self.assertNotIn(qpn, target_qps())

    def test_qp_with_handle_outlives_registrations(self) -> None:
        creator, opener = self.member(), self.member()
        qpn = int(creator("create", 0))
        opener("open-qp", 0, 0, qpn)
        creator("unregister", 0, qpn)
        self.assertIn(qpn, target_qps())
        opener.kill()
        self.assertNotIn(qpn, target_qps())

    def test_unregister_by_two_threads_succeeds_once(self) -> None:
        agent = self.member()
        for _ in range(20):
            qpn = int(agent("create", 0))
            self.assertEqual(agent("race", 0, qpn), "1 EINVAL")
            self.assertNotIn(qpn, target_qps())

    def test_unregister_beside_registering_thread_succeeds(self) -> None:
        """The kernel may have made the other thread's registration without having published it."""
        creator = self.member()
        agent = self.member()
        qpn = int(creator("create", 0))
        with full_preemption():
            self.assertEqual(agent("repeat", 0, qpn, 3000), "0")

    def test_calls_of_threads_beside_killed_processes_succeed(self) -> None:
        creator = self.member()
        qpns = [int(creator("create", 0)) for _ in range(3)]
        killed, others = ([self.member() for _ in range(2)] for _ in range(2))
        for agent in killed:
            agent.post("storm", 0, self.file, ENDLESS, "killed", *qpns)
        # A thread has created its own QP.
        rdma.until(lambda: len(target_qps()) > len(qpns), "all calls are made at once")
        for agent in others:
            agent.post("storm", 0, self.file, 30, "ends", *qpns)
        for agent in killed:
            agent.kill()
        for agent in others:
            self.assertEqual(agent.take(), "0")
        for qpn in qpns:
            self.assertIn("state 0 ", creator("query", 0, qpn))
            creator("unregister", 0, qpn)
        # Children exit after their parents.
        rdma.until(lambda: not target_qps(), "no QP is left")

    def test_domain_being_closed_busy(self) -> None:
        agent = self.agent()
        agent("domain", 0, "-", "create")
        control("fault", "command DEALLOC_XRCD drop-completion times=1")
        self.addCleanup(control, "faults", "clear")
        self.assertEqual(agent("closing", 0, 0), "EBUSY")
        self.assertEqual(control("complete", "@hca0"), {"hca0": 1})
        # The domain is closed in any case.
        self.assertEqual(agent("closed"), "0")

    def test_registration_beyond_cgroup_limit_refused(self) -> None:
        creator = self.member()
        qpn = int(creator("create", 0))
        with control_group() as group:
            agent = self.member()
            agent("join-group", group)
            agent("device", 1, 0)
            agent("domain", 0, self.file)
            before = objects_of(group)
            for room, refused in ((0, ("register", 0, qpn)), (0, ("create", 0)), (1, ("create", 0))):
                # A new QP and its registration are one object each.
                limit_objects(group, before + room)
                with self.subTest(room=room, refused=refused):
                    self.assertEqual(agent.refusal(*refused), "EAGAIN")
                    self.assertEqual(objects_of(group), before)
            self.assertEqual(agent("register", 0, qpn), "0")
            self.assertEqual(objects_of(group), before + 1)
            agent("unregister", 0, qpn)
            self.assertEqual(objects_of(group), before)
            agent.kill()
        self.assertEqual(target_qps(), {qpn})

    @unittest.skipUnless(failing_allocations.available(), "this kernel cannot make allocations fail where the driver is")
    def test_failed_allocation_leaves_no_registration(self) -> None:
        creator = self.member()
        agent = self.member()
        qpn = int(creator("create", 0))
        for module in ("cxib", "ib_uverbs", "ib_core"):
            failing_allocations.count_only("failslab", module)
            with self.subTest(module=module):
                self.assertGreater(self.fail_each_registration(agent, qpn), 0)

    def fail_each_registration(self, agent: Agent, qpn: int) -> int:
        """Fails each allocation once; returns the number of failed registrations. None of them remains."""
        failed = 0
        number = allocations = 0
        while allocations == number:
            number += 1
            error, allocations = failing_allocations.with_failure(
                number, lambda: agent.error("register", 0, qpn), agent.process.pid)
            if error:
                self.assertEqual(error, "ENOMEM")
                self.assertEqual(agent.refusal("unregister", 0, qpn), "EINVAL")
                failed += 1
            else:
                agent("unregister", 0, qpn)
        return failed

    @unittest.skipUnless(failing_allocations.available(), "this kernel cannot make allocations fail where the driver is")
    def test_create_with_failed_allocation_leaves_no_qp(self) -> None:
        """Only allocations of the driver fail: after a failed allocation the RDMA core (6.12) loses a reference to the
        domain."""
        agent = self.member()
        failing_allocations.count_only("failslab", "cxib")
        failed = number = allocations = 0
        while allocations == number:
            number += 1
            error, allocations = failing_allocations.with_failure(number, lambda: agent.error("create", 0), agent.process.pid)
            qps = target_qps()
            self.assertEqual((error, len(qps)), ("ENOMEM", 0) if error else ("", 1), f"allocation {number}")
            failed += len(error) > 0
            for qpn in qps:
                agent("unregister", 0, qpn)
        self.assertGreater(failed, 0)
        self.assertEqual(agent("close", 0), "0")

    def check_number_is_refused(self, agent: Agent, domain: int, qpn: int) -> None:
        for call in (("register", domain, qpn), ("unregister", domain, qpn), ("init", domain, qpn), ("query", domain, qpn)):
            with self.subTest(call=call):
                self.assertEqual(agent.refusal(*call), "EINVAL")

    def test_unknown_qpn_refused(self) -> None:
        agent = self.member()
        qpn = int(agent("create", 0))
        agent("unregister", 0, qpn)
        # QP numbers have 24 bits.
        for number in (qpn, 0, 0xffffff, 0x1000000 + qpn, ALL_BITS):
            self.check_number_is_refused(agent, 0, number)

    def test_qpn_of_other_type_refused(self) -> None:
        agent = self.member()
        self.check_number_is_refused(agent, 0, int(agent("rc-qp", 0)))
        self.check_number_is_refused(agent, 0, int(agent("sender", 1)))

    def test_qpn_of_other_domain_refused(self) -> None:
        agent = self.member()
        qpn = int(agent("create", 0))
        agent("domain", 1, self.other_file, "create")
        self.check_number_is_refused(agent, 1, qpn)
        self.assertIn(qpn, target_qps())

    def test_domain_unknown_to_kernel_refused(self) -> None:
        agent = self.member()
        qpn = int(agent("create", 0))
        for kind in ("unknown", "pd"):
            agent("forged-domain", 1, 0, kind)
            for call in (("create", 1), ("register", 1, qpn), ("unregister", 1, qpn), ("init", 1, qpn), ("query", 1, qpn)):
                with self.subTest(kind=kind, call=call):
                    self.assertEqual(agent.refusal(*call), "EINVAL")
        self.assertEqual(target_qps(), {qpn})

    def test_handles_of_domain_share_registration(self) -> None:
        agent = self.member()
        agent("domain", 1, self.file)
        qpn = int(agent("create", 0))
        self.assertEqual(agent("register", 1, qpn), "0")
        # The registration keeps the handle with which it was made.
        self.assertEqual(agent("close", 1), "0")
        agent("domain", 1, self.file)
        self.assertEqual(agent.refusal("close", 0), "EBUSY")
        agent("unregister", 1, qpn)
        self.assertEqual(agent("close", 0), "0")
        self.assertEqual(target_qps(), set())
        agent("unregister", 1, int(agent("create", 1)))
        self.assertEqual(agent("close", 1), "0")

    def test_other_user_needs_permission_to_read(self) -> None:
        owner = self.member()
        qpn = int(owner("create", 0))
        stranger = self.agent()
        stranger("user", OTHER_USER)
        self.file.parent.chmod(0o755)
        self.assertEqual(stranger.refusal("domain", 0, self.file), "EACCES")
        stranger("domain", 1, "-", "create")
        self.check_number_is_refused(stranger, 1, qpn)
        self.file.chmod(0o644)
        stranger("domain", 0, self.file)
        stranger("init", 0, qpn)
        stranger("register", 0, qpn)
        owner.kill()
        self.assertIn(qpn, target_qps())
        stranger("unregister", 0, qpn)
        self.assertNotIn(qpn, target_qps())

    def test_domain_with_registrations_stays_open(self) -> None:
        agent = self.member()
        qpn = int(agent("create", 0))
        self.assertEqual(agent.refusal("close", 0), "EBUSY")
        agent("unregister", 0, qpn)
        self.assertEqual(agent("close", 0), "0")

    # Attributes (M, Q)

    def test_query_returns_modified_attributes(self) -> None:
        creator = self.member()
        other = self.member()
        qpn = int(creator("create", 0))
        self.assertIn("state 0 ", other("query", 0, qpn))
        creator("init", 0, qpn)
        # A process without its own registration queries the QP and continues.
        other("rtr", 0, qpn, 77, 0x99)
        words = other("query", 0, qpn).split()
        values = {name: int(value) for name, value in zip(words[::2], words[1::2])}
        # Values that agent.c sets; 10 is IBV_QPT_XRC_RECV, 3 IBV_MTU_1024, 2 IBV_ACCESS_REMOTE_WRITE.
        self.assertEqual(values, {"state": STATES["RTR"], "port": 1, "pkey_index": 0, "access": 2, "path_mtu": 3,
                                  "dest_qp_num": 0x99, "rq_psn": 0x321, "max_dest_rd_atomic": 2, "min_rnr_timer": 3,
                                  "dlid": 77, "type": 10})

    def test_transition_made_by_other_process_refused(self) -> None:
        creator = self.member()
        other = self.member()
        qpn = int(creator("create", 0))
        other("register", 0, qpn)
        creator("init", 0, qpn)
        creator("rtr", 0, qpn, 1, 1)
        self.assertEqual(other.refusal("rtr", 0, qpn, 1, 1), "EINVAL")

    def test_wrong_attributes_refused(self) -> None:
        agent = self.member()
        qpn = int(agent("create", 0))
        # Invalid: without the other attributes of INIT; directly to RTR; a port that the HCA lacks; no state; unknown
        # bits.
        self.assertEqual(agent.refusal("modify", 0, qpn, STATES["INIT"], 1, QP_STATE), "EINVAL")
        self.assertEqual(agent.refusal("modify", 0, qpn, STATES["RTR"], 1, QP_STATE), "EINVAL")
        self.assertEqual(agent.refusal("modify", 0, qpn, STATES["INIT"], 9, QP_STATE | QP_PORT), "EINVAL")
        self.assertEqual(agent.refusal("modify", 0, qpn, 200, 1, QP_STATE), "EINVAL")
        for bits in (RATE_LIMIT, ALL_BITS):
            self.assertEqual(agent.refusal("modify", 0, qpn, STATES["INIT"], 1, bits), "EOPNOTSUPP")
        self.assertIn("state 0 ", agent("query", 0, qpn))

    def test_null_arguments_refused(self) -> None:
        agent = self.member()
        qpn = int(agent("create", 0))
        for call in ("create", "modify", "query", "register", "unregister"):
            with self.subTest(call=call):
                self.assertEqual(agent.refusal("null", call, qpn), "EINVAL")

    # Events

    def test_event_reaches_each_registered_context_once(self) -> None:
        creator = self.member()
        receiver, srqn = self.receiver()
        others = [self.member() for _ in range(2)]
        bystander = self.member()
        qpn = int(creator("create", 0))
        for agent in (receiver, *others):
            agent("register", 0, qpn)
        others[1]("unregister", 0, qpn)
        sender = self.join(creator, qpn)
        self.check_message(sender, receiver, srqn, "establishes")
        for agent in (creator, receiver, others[0]):
            self.assertEqual(agent("event", SHORTLY), f"{COMM_EST} {qpn}")
        for agent in (creator, receiver, *others, bystander):
            self.assertEqual(agent("event", 0), "none")

    def test_access_error_reaches_each_registered_context(self) -> None:
        creator = self.member()
        receiver, srqn = self.receiver()
        qpn = int(creator("create", 0))
        receiver("register", 0, qpn)
        sender = self.join(creator, qpn)
        self.check_message(sender, receiver, srqn, "establishes")
        self.assertEqual(sender("write", 0, srqn), "remote access error")
        for agent in (creator, receiver):
            self.assertEqual(agent("event", SHORTLY), f"{COMM_EST} {qpn}")
            self.assertEqual(agent("event", SHORTLY), f"{QP_ACCESS_ERR} {qpn}")
            self.assertEqual(agent("event", 0), "none")

    def test_message_for_srq_of_ended_process_ends_connection(self) -> None:
        """The SRQ of another process cannot receive through that QP any more either."""
        ended, srqn_of_ended = self.receiver()
        receiver, srqn = self.receiver()
        qpn = int(receiver("create", 0))
        sender = self.join(receiver, qpn)
        self.check_message(sender, ended, srqn_of_ended, "establishes")
        ended.kill()
        self.check_message(sender, receiver, srqn, "afterwards")
        self.assertEqual(sender("send", 0, srqn_of_ended, "unheard"), "remote invalid request error")
        for event in (COMM_EST, QP_REQ_ERR):
            self.assertEqual(receiver("event", SHORTLY), f"{event} {qpn}")
        self.assertEqual(sender("send", 0, srqn, "late"), "Work Request Flushed Error")

    def test_registrant_with_opened_handle_gets_event_once(self) -> None:
        receiver, srqn = self.receiver()
        opener = self.member()
        qpn = int(receiver("create", 0))
        opener("open-qp", 0, 0, qpn)
        opener("register", 0, qpn)
        self.check_message(self.join(receiver, qpn), receiver, srqn, "establishes")
        self.assertEqual(opener("event", SHORTLY), f"{COMM_EST} {qpn}")
        self.assertEqual(opener("event", 0), "none")

    def test_registration_repeated_with_imported_context_moves_events(self) -> None:
        creator = self.member()
        receiver, srqn = self.receiver()
        qpn = int(creator("create", 0))
        receiver("register", 0, qpn)
        receiver("replace-events", "imported")
        receiver("register", 0, qpn)
        sender = self.join(creator, qpn)
        self.check_message(sender, receiver, srqn, "establishes")
        for agent in (creator, receiver):
            self.assertEqual(agent("event", SHORTLY), f"{COMM_EST} {qpn}")
            self.assertEqual(agent("event", 0), "none")
        receiver("unregister", 0, qpn)
        creator("unregister", 0, qpn)
        self.assertEqual(target_qps(), set())

    def test_events_before_unregister_readable_afterwards(self) -> None:
        receiver, srqn = self.receiver()
        other = self.member()
        qpn = int(receiver("create", 0))
        other("register", 0, qpn)
        self.check_message(self.join(receiver, qpn), receiver, srqn, "establishes")
        self.assertEqual(other("event", SHORTLY), f"{COMM_EST} {qpn}")
        receiver("unregister", 0, qpn)
        self.assertEqual(receiver("event", SHORTLY), f"{COMM_EST} {qpn}")

    def test_invalid_event_file_refused(self) -> None:
        creator = self.member()
        qpn = int(creator("create", 0))
        for replacement in ("closed", "channel", "1"):
            with self.subTest(replacement=replacement):
                agent = self.member()
                if replacement == "1":
                    agent("device", 1, 0)
                    agent("select", 0)
                agent("replace-events", replacement)
                self.assertEqual(agent.refusal("register", 0, qpn), "EBADF")
                self.assertEqual(agent.refusal("create", 0), "EBADF")
                agent.kill()
        creator("unregister", 0, qpn)
        self.assertEqual(target_qps(), set())

    # XRC domains (O)

    def test_missing_domain_opened_with_create_only(self) -> None:
        agent = self.agent()
        self.assertEqual(agent.refusal("domain", 0, self.file), "EAGAIN")
        agent("domain", 0, self.file, "create")
        agent("domain", 1, self.file)
        agent("domain", 2, self.file, "create")
        self.assertEqual(agent.refusal("domain", 3, self.file, "create", "excl"), "EINVAL")

    def test_exclusive_creation_has_one_winner(self) -> None:
        agents = [self.agent() for _ in range(8)]
        for agent in agents:
            agent.post("domain", 0, self.file, "create", "excl")
        results = []
        for agent in agents:
            try:
                results.append(agent.take())
            except Failed as failed:
                results.append(str(failed))
        self.assertEqual(sorted(results), ["0", *["EINVAL"] * 7])

    def test_domain_without_file_is_private(self) -> None:
        creator = self.agent()
        creator("domain", 0, "-", "create")
        qpn = int(creator("create", 0))
        other = self.agent()
        other("domain", 0, "-", "create")
        self.assertEqual(other.refusal("register", 0, qpn), "EINVAL")

    def test_file_has_domain_for_each_device(self) -> None:
        agent = self.member()
        other = self.agent(1)
        self.assertEqual(other.refusal("domain", 0, self.file), "EAGAIN")
        other("domain", 0, self.file, "create")
        agent("close", 0)
        self.assertEqual(agent.refusal("domain", 0, self.file), "EAGAIN")
        other("domain", 1, self.file)

    def test_last_close_ends_domain(self) -> None:
        first, second = self.member(), self.member()
        first("close", 0)
        third = self.agent()
        third("domain", 0, self.file)
        second("close", 0)
        third("close", 0)
        self.assertEqual(third.refusal("domain", 0, self.file), "EAGAIN")

    def test_domain_with_srq_stays_open(self) -> None:
        agent, _ = self.receiver()
        self.assertEqual(agent.refusal("close", 0), "EBUSY")
        agent("destroy-srq", 0)
        self.assertEqual(agent("close", 0), "0")

    def test_device_has_capability(self) -> None:
        self.assertEqual(set(self.agent()("capability").split()), {"1"})


class Xrcrcv(Library):
    library = "xrcrcv"


class Xrc2008(Library):
    library = "xrc2008"

    def test_private_domain_without_create_refused(self) -> None:
        """The RDMA core alone would create a private domain."""
        self.assertEqual(self.agent().refusal("domain", 0, "-"), "EINVAL")


class XrcrcvRemoved(WithAgents):
    """This class is last: a subnet manager does not use an HCA again that was removed."""

    def test_calls_on_removed_device_fail(self) -> None:
        hca = (rdma.CLASS / rdma.devices()[0] / "device").resolve()
        agents = []
        for self.library in ("xrcrcv", "xrc2008"):
            agent = self.member()
            agents.append((agent, int(agent("create", 0))))
        guest.unbind(hca)
        for agent, qpn in agents:
            for call in (("register", 0, qpn), ("unregister", 0, qpn), ("query", 0, qpn), ("init", 0, qpn), ("create", 0),
                         ("domain", 1, self.other_file, "create")):
                with self.subTest(agent=agent, call=call):
                    self.assertEqual(agent.refusal(*call), "EIO")
            agent.kill()
        self.assertEqual(guest.bind_error(hca), "")
        self.assertEqual(target_qps(), set())

    def test_calls_of_threads_end_with_device(self) -> None:
        for self.library in ("xrcrcv", "xrc2008"):
            with self.subTest(library=self.library):
                hca = (rdma.CLASS / rdma.devices()[0] / "device").resolve()
                creator = self.member()
                qpns = [int(creator("create", 0)) for _ in range(3)]
                agents = [self.member() for _ in range(2)]
                for agent in agents:
                    agent.post("storm", 0, self.file, ENDLESS, "removed", *qpns)
                rdma.until(lambda: len(target_qps()) > len(qpns), "all calls are made at once")
                guest.unbind(hca)
                for agent in agents:
                    self.assertEqual(agent.take(), "0")
                for agent in (creator, *agents):
                    agent.kill()
                self.assertEqual(guest.bind_error(hca), "")
                self.assertEqual(target_qps(), set())


class Example(unittest.TestCase):
    """Tests lib/xrcrcv/example, as shown in Documentation/xrc-receive.rst."""

    def test_processes_receive_after_their_creator_has_gone(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            output = rdma.run("/repo/build/xrcrcv/example/shared_receive", f"{directory}/domain", *rdma.devices()[:2])
        self.assertTrue(output.startswith("creator: "), output)
        for number in range(2):
            self.assertIn(f'receiver {number}: "for SRQ {number}, through a QP whose creator has gone"\n', output)
        self.assertEqual(output.count(": communication established\n"), 2)
        self.assertEqual(target_qps(), set())


class OtherDriver(WithAgents):
    """Tests the libraries with mlx5_ib."""

    def test_methods_unknown_to_kernel(self) -> None:
        device = raw_verbs.Device(rdma.devices()[0])
        self.addCleanup(device.close)
        device.make_basics()
        xrcd = device.open_xrcd()
        for call in (lambda: device.register_qp(xrcd, 1), lambda: device.find_registration(xrcd, 1),
                     lambda: device.unregister_qp(0, xrcd, 1)):
            with self.assertRaises(OSError) as caught:
                call()
            self.assertEqual(caught.exception.errno, errno.EPROTONOSUPPORT)

    def test_libxrcrcv_reports_no_support(self) -> None:
        self.library = "xrcrcv"
        agent = self.member()
        self.assertEqual(agent("capability"), "1 0")
        for call in (("create", 0), ("register", 0, 1), ("unregister", 0, 1), ("query", 0, 1), ("init", 0, 1)):
            with self.subTest(call=call):
                self.assertEqual(agent.refusal(*call), "ENOSYS")
        self.assertEqual(target_qps(), set())

    def test_libxrc2008_opens_no_domain(self) -> None:
        self.library = "xrc2008"
        agent = self.agent()
        self.assertEqual(agent.refusal("domain", 0, self.file, "create"), "ENOSYS")


del Library, WithAgents
