# SPDX-License-Identifier: GPL-2.0-or-later
"""Multicast: every member of a group gets every message once and whole, nobody else gets any.

Groups are joined through the RDMA connection manager, which asks the subnet administration; needs a subnet manager
and three devices on one switch.
"""

import time
import unittest

import ipoib
import rdma
from pyverbs.addr import AH, GID
from pyverbs.cm_enums import RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_MULTICAST_JOIN, RDMA_PS_UDP
from pyverbs.cmid import CMID, AddrInfo, CMEvent, CMEventChannel, UDParam
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.enums import IBV_ACCESS_LOCAL_WRITE, IBV_QPT_UD, IBV_WC_SUCCESS, IBV_WR_SEND
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

GRH = 40
SLOT = 2048
DEPTH = 64
SEND_ID = DEPTH
SEND_SIGNALED = 1 << 1
MULTICAST_QP = 0xFFFFFF
MESSAGES = 30
QUIET = 2.0  # seconds after which a message that has not come is not expected any more


def message(number: int) -> bytes:
    """Of another length and content for each number."""
    return bytes((number * 7 + position) & 0xFF for position in range(17 + 31 * number))


class Membership:
    """A port's membership in a group, as the subnet administration knows it."""

    def __init__(self, address: str, group: str) -> None:
        self.channel = CMEventChannel()
        self.id = CMID(creator=self.channel, port_space=RDMA_PS_UDP)
        self.id.resolve_addr(AddrInfo(src=address, dst=group, port_space=RDMA_PS_UDP))
        self.expect(RDMA_CM_EVENT_ADDR_RESOLVED).ack_cm_event()
        self.id.join_multicast(addr=AddrInfo(src=group, port_space=RDMA_PS_UDP))
        event = self.expect(RDMA_CM_EVENT_MULTICAST_JOIN)
        parameters = UDParam(event)
        self.q_key = parameters.qkey
        self.route = parameters.ah_attr
        event.ack_cm_event()

    @property
    def gid(self) -> GID:
        return self.route.gr.dgid

    def expect(self, wanted: int) -> CMEvent:
        event = CMEvent(self.channel)
        if event.event_type != wanted:
            raise AssertionError(f"event {event.event_str()} instead of number {wanted}")
        return event


class Member:
    """A UD queue pair of a port that belongs to a group."""

    def __init__(self, port: rdma.Port, membership: Membership, q_key: int | None = None) -> None:
        self.membership = membership
        self.context = Context(name=port.device)
        self.pd = PD(self.context)
        self.cq = CQ(self.context, 2 * DEPTH)
        capabilities = QPCap(max_send_wr=DEPTH, max_recv_wr=DEPTH, max_send_sge=1, max_recv_sge=1)
        attributes = QPAttr(port_num=port.number)
        attributes.qkey = membership.q_key if q_key is None else q_key
        self.qp = QP(self.pd, QPInitAttr(qp_type=IBV_QPT_UD, scq=self.cq, rcq=self.cq, cap=capabilities), attributes)
        self.memory = MR(self.pd, SLOT * (DEPTH + 1), IBV_ACCESS_LOCAL_WRITE)
        self.arrived: list[bytes] = []
        for slot in range(DEPTH):
            self.post_receive(slot)
        self.attach()

    def attach(self) -> None:
        self.qp.attach_mcast(self.membership.gid, self.membership.route.dlid)

    def detach(self) -> None:
        self.qp.detach_mcast(self.membership.gid, self.membership.route.dlid)

    def piece(self, slot: int, length: int) -> list[SGE]:
        return [SGE(self.memory.buf + slot * SLOT, length, self.memory.lkey)]

    def post_receive(self, slot: int) -> None:
        self.qp.post_recv(RecvWR(wr_id=slot, num_sge=1, sg=self.piece(slot, SLOT)))

    def send(self, data: bytes) -> None:
        self.memory.write(data, len(data), SEND_ID * SLOT)
        request = SendWR(wr_id=SEND_ID, num_sge=1, sg=self.piece(SEND_ID, len(data)), opcode=IBV_WR_SEND,
                         send_flags=SEND_SIGNALED)
        request.set_wr_ud(AH(self.pd, attr=self.membership.route), MULTICAST_QP, self.membership.q_key)
        self.qp.post_send(request)
        self.sent = False
        rdma.until(self.poll_send, "a send has completed")

    def poll_send(self) -> bool:
        self.poll()
        return self.sent

    def poll(self) -> None:
        """Takes what has completed."""
        _, completions = self.cq.poll(DEPTH)
        for completion in completions:
            if completion.status != IBV_WC_SUCCESS:
                raise AssertionError(f"completion {completion.wr_id} with status {completion.status}")
            if completion.wr_id == SEND_ID:
                self.sent = True
                continue
            slot = completion.wr_id
            self.arrived.append(self.memory.read(completion.byte_len - GRH, slot * SLOT + GRH))
            self.post_receive(slot)

    def receive(self, count: int) -> list[bytes]:
        """Waits for some messages; returns all that have come."""
        def enough() -> bool:
            self.poll()
            return len(self.arrived) >= count

        rdma.until(enough, f"{count} messages have come")
        return self.arrived

    def receive_all(self) -> list[bytes]:
        """What has come by the time when no more is expected."""
        time.sleep(QUIET)
        self.poll()
        return self.arrived


class Multicast(unittest.TestCase):
    """Queue pairs of three devices in groups of their own."""

    group_number = 0

    @classmethod
    def setUpClass(cls) -> None:
        cls.ports = rdma.ports()[:3]
        cls.addresses = [f"10.8.{number}.1" for number in range(len(cls.ports))]
        for port, address in zip(cls.ports, cls.addresses, strict=True):
            ipoib.set_up(port, f"{address}/24")

    def setUp(self) -> None:
        self.messages = [message(number) for number in range(MESSAGES)]

    def join(self, group: str = "") -> list[Membership]:
        """All ports join a group that no other test uses."""
        if not group:
            Multicast.group_number += 1
            group = f"239.1.2.{Multicast.group_number}"
        return [Membership(address, group) for address in self.addresses]

    def send_all(self, sender: Member) -> None:
        for data in self.messages:
            sender.send(data)

    def test_every_member_gets_every_message_once(self) -> None:
        memberships = self.join()
        receivers = [Member(port, joined) for port, joined in zip(self.ports, memberships, strict=True)]
        receivers.append(Member(self.ports[1], memberships[1]))
        sender = Member(self.ports[0], memberships[0])
        self.send_all(sender)
        for receiver in [*receivers, sender]:
            receiver.receive(MESSAGES)
        for receiver in [*receivers, sender]:
            self.assertEqual(receiver.receive_all(), self.messages)

    def test_members_of_another_group_get_nothing(self) -> None:
        wanted, other = self.join(), self.join()
        sender, bystander = Member(self.ports[0], wanted[0]), Member(self.ports[1], other[1])
        receiver = Member(self.ports[1], wanted[1])
        self.send_all(sender)
        self.assertEqual(receiver.receive(MESSAGES), self.messages)
        self.assertEqual(bystander.receive_all(), [])

    def test_a_queue_pair_gets_nothing_after_it_was_detached(self) -> None:
        memberships = self.join()
        sender, receiver = Member(self.ports[0], memberships[0]), Member(self.ports[1], memberships[1])
        sender.send(b"before")
        receiver.receive(1)
        receiver.detach()
        sender.send(b"between")
        self.assertEqual(receiver.receive_all(), [b"before"])
        receiver.attach()
        sender.send(b"after")
        receiver.receive(2)
        self.assertEqual(receiver.receive_all(), [b"before", b"after"])

    def test_a_member_with_another_queue_key_gets_nothing(self) -> None:
        memberships = self.join()
        sender, receiver = Member(self.ports[0], memberships[0]), Member(self.ports[2], memberships[2])
        stranger = Member(self.ports[2], memberships[2], q_key=0x1234)
        self.send_all(sender)
        self.assertEqual(receiver.receive(MESSAGES), self.messages)
        self.assertEqual(stranger.receive_all(), [])


class MulticastKey(unittest.TestCase):
    """mckey, the test program of librdmacm: one sender, three receivers."""

    def test_three_receivers(self) -> None:
        addresses = []
        for number, port in enumerate(rdma.ports()[:3]):
            addresses.append(f"10.8.{number}.1")
            ipoib.set_up(port, f"{addresses[-1]}/24")
        with (self.receiver(addresses[0]) as first, self.receiver(addresses[1]) as second,
              self.receiver(addresses[2]) as third):
            receivers = [first, second, third]
            for receiver in receivers:
                self.await_line(receiver, "joined dgid")
            rdma.run("mckey", "-m", "239.1.3.1", "-b", addresses[0], "-C", 50, "-S", 1024, "-s")
            for receiver in receivers:
                self.assertIn("test complete", rdma.finish(receiver))

    @staticmethod
    def receiver(address: str) -> rdma.background:
        return rdma.background("stdbuf", "-oL", "mckey", "-m", "239.1.3.1", "-b", address, "-C", 50, "-S", 1024)

    def await_line(self, child, wanted: str) -> None:
        for line in child.stdout:
            if wanted in line:
                return
        self.fail(f"{child.args} has ended without '{wanted}'")


if __name__ == "__main__":
    unittest.main(verbosity=2)
