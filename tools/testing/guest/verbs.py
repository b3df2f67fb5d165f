# SPDX-License-Identifier: GPL-2.0-or-later
"""Pairs of connected QPs for tests that check every byte: this process owns both ends."""

import os
import tempfile
import time
from typing import BinaryIO

import rdma
from pyverbs import enums
from pyverbs.addr import AH, AHAttr
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr, QPInitAttrEx
from pyverbs.srq import SRQ, SrqInitAttrEx
from pyverbs.wr import SGE, RecvWR, SendWR
from pyverbs.xrcd import XRCD, XRCDInitAttr

ALL_ACCESS = (
    enums.IBV_ACCESS_LOCAL_WRITE
    | enums.IBV_ACCESS_REMOTE_WRITE
    | enums.IBV_ACCESS_REMOTE_READ
    | enums.IBV_ACCESS_REMOTE_ATOMIC
)
Q_KEY = 0x11111111
GRH_SIZE = 40
DEPTH = 64  # work requests in a queue
MESSAGE = 1 << 16  # bytes of a slot; each receive WR has one slot
BULK = 8 << 20  # bytes for RDMA, after the slots
TIMEOUT_CODE = 12  # 17 ms: a lost packet is repeated soon
PATH_MTU = enums.IBV_MTU_1024


def make_xrc_sender(context: Context, domain: PD, completions: CQ, capacity: QPCap, signals_all: bool = False) -> QP:
    wanted = QPInitAttrEx(
        qp_type=enums.IBV_QPT_XRC_SEND,
        comp_mask=enums.IBV_QP_INIT_ATTR_PD,
        pd=domain,
        scq=completions,
        cap=capacity,
        sq_sig_all=int(signals_all),
    )
    return QP(context, wanted)


def make_xrc_queue(context: Context, domain: PD, completions: CQ, depth: int, pieces: int) -> tuple[BinaryIO, XRCD, SRQ]:
    """Creates an XRC receive queue, with its XRC domain and the file that identifies the domain."""
    file = tempfile.TemporaryFile()
    fields = enums.IBV_XRCD_INIT_ATTR_FD | enums.IBV_XRCD_INIT_ATTR_OFLAGS
    xrc_domain = XRCD(context, XRCDInitAttr(fields, os.O_CREAT, file.fileno()))
    wanted = SrqInitAttrEx(max_wr=depth, max_sge=pieces)
    wanted.comp_mask = (
        enums.IBV_SRQ_INIT_ATTR_TYPE
        | enums.IBV_SRQ_INIT_ATTR_PD
        | enums.IBV_SRQ_INIT_ATTR_CQ
        | enums.IBV_SRQ_INIT_ATTR_XRCD
    )
    wanted.srq_type = enums.IBV_SRQT_XRC
    wanted.pd = domain
    wanted.cq = completions
    wanted.xrcd = xrc_domain
    return file, xrc_domain, SRQ(context, wanted)


def make_xrc_receiver(context: Context, xrc_domain: XRCD) -> QP:
    return QP(context, QPInitAttrEx(qp_type=enums.IBV_QPT_XRC_RECV, comp_mask=enums.IBV_QP_INIT_ATTR_XRCD, xrcd=xrc_domain))


class Side:
    """One end: a device with memory, and the QP that SERVICE needs on this end."""

    def __init__(self, port: rdma.Port, service: str, sends: bool = True) -> None:
        self.port = port
        self.context = Context(name=port.device)
        self.domain = PD(self.context)
        self.completions = CQ(self.context, 4 * DEPTH)
        self.bulk = DEPTH * MESSAGE
        self.memory = MR(self.domain, self.bulk + BULK, ALL_ACCESS)
        self.srq = self.xrc_domain = self.file = None
        self.rnr_retries = 7  # infinite
        self.service = service
        if service == "xrc":
            if sends:
                capacity = QPCap(max_send_wr=DEPTH, max_recv_wr=0, max_send_sge=1, max_recv_sge=0)
                self.pair = make_xrc_sender(self.context, self.domain, self.completions, capacity)
            else:
                self.file, self.xrc_domain, self.srq = make_xrc_queue(
                    self.context, self.domain, self.completions, DEPTH, 1
                )
                self.pair = make_xrc_receiver(self.context, self.xrc_domain)
            return
        capacity = QPCap(max_send_wr=DEPTH, max_recv_wr=DEPTH, max_send_sge=1, max_recv_sge=1)
        kind = {"rc": enums.IBV_QPT_RC, "uc": enums.IBV_QPT_UC, "ud": enums.IBV_QPT_UD}[service]
        wanted = QPInitAttr(qp_type=kind, scq=self.completions, rcq=self.completions, cap=capacity)
        self.pair = QP(self.domain, wanted)

    def close(self) -> None:
        """Destroys all objects, users before the objects that they use."""
        for owned in (self.pair, self.srq, self.xrc_domain, self.memory, self.completions, self.domain, self.context):
            if owned is not None:
                owned.close()
        if self.file is not None:
            self.file.close()

    def connect(self, other: "Side", path_mtu: int = PATH_MTU) -> None:
        attributes = QPAttr(port_num=self.port.number)
        if self.service == "ud":
            attributes.qkey = Q_KEY
            self.address = AH(self.domain, attr=AHAttr(dlid=other.port.lid, port_num=self.port.number))
            self.pair.to_rts(attributes)
            return
        attributes.ah_attr = AHAttr(dlid=other.port.lid, port_num=self.port.number)
        attributes.dest_qp_num = other.pair.qp_num
        attributes.path_mtu = path_mtu
        attributes.qp_access_flags = ALL_ACCESS
        attributes.timeout = TIMEOUT_CODE
        attributes.retry_cnt = 7
        attributes.rnr_retry = self.rnr_retries
        attributes.min_rnr_timer = 1
        attributes.max_rd_atomic = 4
        attributes.max_dest_rd_atomic = 4
        self.pair.to_rts(attributes)

    def post_receive(self, slot: int) -> None:
        request = RecvWR(
            wr_id=slot, num_sge=1, sg=[SGE(self.memory.buf + slot * MESSAGE, MESSAGE, self.memory.lkey)]
        )
        (self.srq or self.pair).post_recv(request)

    def received(self, slot: int, length: int) -> bytes:
        skipped = GRH_SIZE if self.service == "ud" else 0
        return self.memory.read(length - skipped, slot * MESSAGE + skipped)

    def request(self, opcode: int, offset: int, length: int, number: int = 0) -> SendWR:
        """A send WR for LENGTH bytes at OFFSET of local memory. The caller sets the fields for the remote side."""
        return SendWR(
            wr_id=number,
            num_sge=1,
            sg=[SGE(self.memory.buf + offset, length, self.memory.lkey)],
            opcode=opcode,
            send_flags=enums.IBV_SEND_SIGNALED,
            imm_data=number,
        )

    def post(self, request: SendWR, other: "Side") -> None:
        if self.service == "ud":
            request.set_wr_ud(self.address, other.pair.qp_num, Q_KEY)
        if self.service == "xrc":
            request.set_qp_type_xrc(other.srq.get_srq_num())
        self.pair.post_send(request)

    def poll(self) -> list:
        """The completions that have arrived."""
        found, completions = self.completions.poll(16)
        for completion in completions[:found]:
            if completion.status != enums.IBV_WC_SUCCESS:
                raise AssertionError(f"{self.port.device}: {completion}")
        return completions[:found]


def connect(service: str, first: rdma.Port, second: rdma.Port, path_mtu: int = PATH_MTU) -> tuple[Side, Side]:
    """Two connected ends. With XRC only the first one can send."""
    sender, receiver = Side(first, service), Side(second, service, sends=False)
    sender.connect(receiver, path_mtu)
    receiver.connect(sender, path_mtu)
    return sender, receiver


def await_completions(side: Side, count: int, found: list | None = None) -> list:
    """Polls until FOUND has COUNT completions."""
    found = [] if found is None else found
    end = time.monotonic() + rdma.PATIENCE
    while len(found) < count:
        found += side.poll()
        if time.monotonic() > end:
            raise AssertionError(f"{side.port.device}: {len(found)} of {count} completions have come")
    return found
