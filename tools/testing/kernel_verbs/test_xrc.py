# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets a user-space process send to a kernel XRC receive QP, to its SRQs in turn."""

import time

import pyverbs.enums as e
from exerciser import UlpTest, report, run_case
from machines import ALL, DEBUG
from pyverbs.addr import AHAttr
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttrEx
from pyverbs.wr import SGE, SendWR

GUESTS = [*ALL, DEBUG]
PORT = 1
MESSAGES = 24
PATIENCE = 300  # seconds; ends only a test that has already failed


class Sender:
    """An XRC send QP on the HCA without the receiver."""

    def __init__(self, name: str) -> None:
        self.context = Context(name=name)
        self.lid = self.context.query_port(PORT).lid
        self.domain = PD(self.context)
        self.completions = CQ(self.context, MESSAGES)
        self.memory = MR(self.domain, 4096, e.IBV_ACCESS_LOCAL_WRITE)
        init = QPInitAttrEx(qp_type=e.IBV_QPT_XRC_SEND, sq_sig_all=1, comp_mask=e.IBV_QP_INIT_ATTR_PD, pd=self.domain,
                            scq=self.completions, cap=QPCap(max_send_wr=MESSAGES, max_recv_sge=0, max_recv_wr=0))
        attributes = QPAttr(port_num=PORT)
        attributes.pkey_index = 0
        attributes.qp_access_flags = 0
        self.queue_pair = QP(self.context, init, attributes)

    def connect(self, lid: int, number: int) -> None:
        attributes = QPAttr(port_num=PORT)
        attributes.path_mtu = e.IBV_MTU_1024
        attributes.dest_qp_num = number
        attributes.ah_attr = AHAttr(port_num=PORT, is_global=False, dlid=lid)
        attributes.max_rd_atomic = attributes.max_dest_rd_atomic = 1
        attributes.min_rnr_timer = 1
        attributes.timeout = 14
        attributes.retry_cnt = attributes.rnr_retry = 7
        self.queue_pair.to_rts(attributes)

    def send(self, number: int, queue: int) -> None:
        length = 100 + number
        self.memory.write(chr(number) * length, length)
        request = SendWR(wr_id=number, opcode=e.IBV_WR_SEND, num_sge=1,
                         sg=[SGE(self.memory.buf, length, self.memory.lkey)])
        request.set_qp_type_xrc(queue)
        self.queue_pair.post_send(request)
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit:
            count, completions = self.completions.poll(1)
            if count:
                assert completions[0].status == e.IBV_WC_SUCCESS, f"message {number}: status {completions[0].status}"
                return
        raise AssertionError(f"message {number} does not complete")

    def close(self) -> None:
        for one in (self.queue_pair, self.memory, self.completions, self.domain, self.context):
            one.close()


class Receivers(UlpTest):
    def exchange(self, checked: int, seed: int) -> None:
        """Sends all messages; the receiver polls some of them before it is destroyed."""
        self.assert_right("xrc_open")
        words = report().split()
        found = dict(zip(words[::2], words[1::2], strict=True))
        self.addCleanup(run_case, "xrc_close", seed)
        sender = Sender(found["device"])
        self.addCleanup(sender.close)
        self.assert_right("xrc_connect", sender.queue_pair.qp_num, sender.lid)
        sender.connect(int(found["lid"]), int(found["qp"]))
        for number in range(MESSAGES):
            sender.send(number, int(found[f"queue{number % 2}"]))
        self.assert_right("xrc_check", 1, checked)

    def test_messages_reach_named_srqs(self) -> None:
        self.exchange(MESSAGES, 1)

    def test_srq_with_unpolled_completions_destroyed(self) -> None:
        for seed in (1, 2):
            with self.subTest(seed=seed):
                self.exchange(MESSAGES // 2, seed)
                self.doCleanups()
