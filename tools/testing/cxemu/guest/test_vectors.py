# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that completion vectors report events whatever processors are online.

A flushed receive WR makes a completion, so one device without a subnet manager is sufficient.
"""

import contextlib
import pathlib
import signal
import unittest
from collections.abc import Iterator

from cxemu_machines import DEVICE, SUBNET_CXIB
from pyverbs import enums
from pyverbs.cq import CQ, CompChannel
from pyverbs.device import Context, get_device_list
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR

GUESTS = [*DEVICE, *SUBNET_CXIB]
PROCESSORS = pathlib.Path("/sys/devices/system/cpu")
PATIENCE = 300  # seconds until an event counts as lost


def give_up(number: int, frame: object) -> None:
    raise AssertionError("no completion event has come")


@contextlib.contextmanager
def offline(processor: str) -> Iterator[None]:
    switch = PROCESSORS / processor / "online"
    switch.write_text("0")
    try:
        yield
    finally:
        switch.write_text("1")


class VectorTest(unittest.TestCase):
    def setUp(self) -> None:
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, give_up))
        self.addCleanup(signal.alarm, 0)
        self.context = Context(name=get_device_list()[0].name.decode())
        self.addCleanup(self.context.close)
        self.domain = PD(self.context)
        self.memory = MR(self.domain, 64, enums.IBV_ACCESS_LOCAL_WRITE)
        self.vectors = range(self.context.num_comp_vectors)

    def expect_event(self, vector: int) -> None:
        channel = CompChannel(self.context)
        completions = CQ(self.context, 4, None, channel, vector)
        wanted = QPInitAttr(qp_type=enums.IBV_QPT_RC, scq=completions, rcq=completions,
                            cap=QPCap(max_send_wr=1, max_recv_wr=1, max_send_sge=1, max_recv_sge=1))
        pair = QP(self.domain, wanted, QPAttr(qp_state=enums.IBV_QPS_INIT, port_num=1))
        completions.req_notify()
        pair.post_recv(RecvWR(sg=[SGE(self.memory.buf, 64, self.memory.lkey)], num_sge=1))
        pair.modify(QPAttr(qp_state=enums.IBV_QPS_ERR), enums.IBV_QP_STATE)
        with self.subTest(vector=vector):
            signal.alarm(PATIENCE)
            channel.get_cq_event(completions)
            signal.alarm(0)
            count, entries = completions.poll(4)
            self.assertEqual([entry.status for entry in entries], [enums.IBV_WC_WR_FLUSH_ERR])
            completions.ack_events(1)
        pair.close()
        completions.close()
        channel.close()

    def expect_events(self) -> None:
        for vector in self.vectors:
            self.expect_event(vector)

    def test_all_processors_online_every_vector_reports(self) -> None:
        self.expect_events()

    def test_processor_offline_every_vector_reports(self) -> None:
        switches = sorted(PROCESSORS.glob("cpu[0-9]*/online"))
        self.assertTrue(switches, "no processor can be taken offline")
        for switch in switches:
            with self.subTest(processor=switch.parent.name):
                with offline(switch.parent.name):
                    self.expect_events()
                self.expect_events()


if __name__ == "__main__":
    unittest.main(verbosity=2)
