# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests asynchronous events of QPs, CQs and SRQs.

Needs a subnet manager and two devices on one switch.
"""

import signal
import unittest

import rdma
import verbs
from cxemu_machines import SUBNET_CXIB, TRANSPORT, with_tests
from pyverbs import enums
from pyverbs.addr import AHAttr
from pyverbs.cq import CQ
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr

GUESTS = [*with_tests(TRANSPORT, "ObjectEvents"), *SUBNET_CXIB]
RECEIVES = 4  # receive WRs of an SRQ


class SharedReceiver(verbs.Side):
    """A side whose QP receives from an SRQ."""

    def __init__(self, port: rdma.Port) -> None:
        super().__init__(port, "rc")
        self.pair.close()
        self.srq = SRQ(self.domain, SrqInitAttr(SrqAttr(max_wr=verbs.DEPTH, max_sge=1)))
        wanted = QPInitAttr(qp_type=enums.IBV_QPT_RC, scq=self.completions, rcq=self.completions, srq=self.srq,
                            cap=QPCap(max_send_wr=verbs.DEPTH, max_recv_wr=0, max_send_sge=1, max_recv_sge=0))
        self.pair = QP(self.domain, wanted)


def give_up(number: int, frame: object) -> None:
    raise AssertionError("no event has come")


class ObjectEventTest(unittest.TestCase):
    """The first device sends to the second one."""

    def setUp(self) -> None:
        self.first, self.second = rdma.ports()[:2]
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, give_up))

    def keep(self, side: verbs.Side) -> verbs.Side:
        self.addCleanup(side.close)
        return side

    def make_sides(self) -> tuple[verbs.Side, verbs.Side]:
        return self.keep(verbs.Side(self.first, "rc")), self.keep(verbs.Side(self.second, "rc"))

    def join(self, here: verbs.Side, there: verbs.Side) -> None:
        here.connect(there)
        there.connect(here)

    def send(self, here: verbs.Side, there: verbs.Side) -> None:
        there.post_receive(0)
        here.post(here.request(enums.IBV_WR_SEND, 0, 8), there)
        verbs.await_completions(here, 1)
        verbs.await_completions(there, 1)

    def assert_told(self, side: verbs.Side, wanted: int) -> None:
        """Waits for an event; events of ports may arrive first."""
        signal.alarm(int(rdma.PATIENCE))  # ends only a test that has already failed
        received = None
        while received != wanted:
            event = side.context.get_async_event()
            received = event.event_type
            event.ack()
        signal.alarm(0)

    def state(self, side: verbs.Side) -> int:
        return side.pair.query(enums.IBV_QP_STATE)[0].qp_state


class ObjectEvents(ObjectEventTest):
    def test_first_message_raises_comm_est(self) -> None:
        here, there = self.make_sides()
        here.connect(there)
        attributes = QPAttr(port_num=there.port.number, qp_state=enums.IBV_QPS_RTR)
        attributes.qp_access_flags = verbs.ALL_ACCESS
        attributes.ah_attr = AHAttr(dlid=here.port.lid, port_num=there.port.number)
        attributes.dest_qp_num, attributes.path_mtu = here.pair.qp_num, verbs.PATH_MTU
        attributes.max_dest_rd_atomic, attributes.min_rnr_timer = 4, 1
        there.pair.to_rtr(attributes)
        self.send(here, there)
        self.assert_told(there, enums.IBV_EVENT_COMM_EST)

    def test_last_srq_wqe_raises_last_wqe_reached(self) -> None:
        here, there = self.keep(verbs.Side(self.first, "rc")), self.keep(SharedReceiver(self.second))
        self.join(here, there)
        self.send(here, there)
        there.pair.modify(QPAttr(qp_state=enums.IBV_QPS_ERR), enums.IBV_QP_STATE)
        self.assert_told(there, enums.IBV_EVENT_QP_LAST_WQE_REACHED)

    def test_srq_below_limit_raises_limit_reached(self) -> None:
        here, there = self.keep(verbs.Side(self.first, "rc")), self.keep(SharedReceiver(self.second))
        self.join(here, there)
        for slot in range(RECEIVES):
            there.post_receive(slot)
        there.srq.modify(SrqAttr(srq_limit=RECEIVES), enums.IBV_SRQ_LIMIT)
        here.post(here.request(enums.IBV_WR_SEND, 0, 8), there)
        self.assert_told(there, enums.IBV_EVENT_SRQ_LIMIT_REACHED)

    def test_invalid_key_raises_access_error(self) -> None:
        here, there = self.make_sides()
        self.join(here, there)
        request = here.request(enums.IBV_WR_RDMA_WRITE, 0, 8)
        request.set_wr_rdma(there.memory.rkey ^ 0xFF, there.memory.buf)
        here.post(request, there)
        self.assert_told(there, enums.IBV_EVENT_QP_ACCESS_ERR)
        self.assertEqual(self.state(there), enums.IBV_QPS_ERR)

    def test_forbidden_request_raises_request_error(self) -> None:
        here, there = self.make_sides()
        self.join(here, there)
        request = here.request(enums.IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8)
        request.set_wr_atomic(there.memory.rkey, there.memory.buf + 1, 1, 0)
        here.post(request, there)
        self.assert_told(there, enums.IBV_EVENT_QP_REQ_ERR)


class Overrun(ObjectEventTest):
    """Overflows a CQ, a rule violation that the strict checker reports."""

    def test_cq_overrun_raises_cq_error_and_qp_fatal(self) -> None:
        here, there = self.make_sides()
        small = CQ(here.context, 1)
        here.pair.close()
        capacity = QPCap(max_send_wr=verbs.DEPTH, max_recv_wr=1, max_send_sge=1, max_recv_sge=1)
        here.pair = QP(here.domain, QPInitAttr(qp_type=enums.IBV_QPT_RC, scq=small, rcq=small, cap=capacity))
        self.addCleanup(small.close)
        self.addCleanup(here.pair.close)
        self.join(here, there)
        for _ in range(small.cqe + 2):  # the driver keeps one entry
            request = here.request(enums.IBV_WR_RDMA_WRITE, 0, 8)
            request.set_wr_rdma(there.memory.rkey, there.memory.buf)
            here.post(request, there)
        self.assert_told(here, enums.IBV_EVENT_CQ_ERR)
        self.assert_told(here, enums.IBV_EVENT_QP_FATAL)


if __name__ == "__main__":
    unittest.main(verbosity=2)
