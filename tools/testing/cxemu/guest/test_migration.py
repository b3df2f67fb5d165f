# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests automatic path migration: a connection continues through the second port when the cable of the first is pulled.

Needs a subnet manager and two devices with two ports each, on one switch. The subnet manager uses the first device.
"""

import signal
import time
import unittest

import rdma
from cxemu_machines import TWO_PORTS
from machine import LONG
from pyverbs import enums
from pyverbs.addr import AHAttr
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

GUESTS = [*TWO_PORTS, TWO_PORTS[0].but("migration-cxib", driver="cxib", level=LONG)]
ACCESS = enums.IBV_ACCESS_LOCAL_WRITE
SIZE = 10_000
TIMEOUT = 14  # 67 ms


class Side:
    """One end of a connection between the first ports of two devices."""

    def __init__(self, device: str) -> None:
        self.ports = [rdma.Port(device, 1), rdma.Port(device, 2)]
        self.context = Context(name=device)
        self.domain = PD(self.context)
        self.completions = CQ(self.context, 16)
        self.memory = MR(self.domain, SIZE, ACCESS)
        self.pair = QP(self.domain, QPInitAttr(qp_type=enums.IBV_QPT_RC, scq=self.completions, rcq=self.completions,
                                               cap=QPCap(max_send_wr=8, max_recv_wr=8)))

    def close(self) -> None:
        for resource in (self.pair, self.memory, self.completions, self.domain, self.context):
            resource.close()

    def connect(self, other: "Side") -> None:
        attributes = QPAttr(port_num=1)
        attributes.dest_qp_num = other.pair.qp_num
        attributes.path_mtu = enums.IBV_MTU_1024
        attributes.min_rnr_timer, attributes.timeout, attributes.retry_cnt, attributes.rnr_retry = 12, TIMEOUT, 3, 7
        attributes.ah_attr = AHAttr(port_num=1, dlid=other.ports[0].lid)
        self.pair.to_rts(attributes)

    def load_alternate_path(self, other: "Side") -> None:
        attributes = QPAttr()
        attributes.alt_ah_attr = AHAttr(port_num=2, dlid=other.ports[1].lid)
        attributes.alt_port_num, attributes.alt_pkey_index, attributes.alt_timeout = 2, 0, TIMEOUT
        attributes.path_mig_state = enums.IBV_MIG_REARM
        self.pair.modify(attributes, enums.IBV_QP_ALT_PATH | enums.IBV_QP_PATH_MIG_STATE)

    def state(self) -> tuple[int, int]:
        """Migration state, and the port of the current path."""
        attributes, _ = self.pair.query(enums.IBV_QP_PATH_MIG_STATE | enums.IBV_QP_PORT)
        return attributes.path_mig_state, attributes.port_num

    def complete(self) -> None:
        deadline = time.monotonic() + rdma.PATIENCE
        while time.monotonic() < deadline:
            count, found = self.completions.poll(1)
            if count:
                if found[0].status != enums.IBV_WC_SUCCESS:
                    raise AssertionError(f"completion with status {found[0].status}")
                return
        raise AssertionError("no completion")

    def await_event(self, wanted: int) -> None:
        """Waits for an event; ignores others, such as those of the port."""
        signal.alarm(int(rdma.PATIENCE))  # ends only a test that has already failed
        while True:
            event = self.context.get_async_event()
            event.ack()
            if event.event_type == wanted:
                break
        signal.alarm(0)


class Migration(unittest.TestCase):
    def setUp(self) -> None:
        self.here, self.there = (Side(device) for device in rdma.devices()[:2])
        for side in (self.here, self.there):
            self.addCleanup(side.close)
        self.here.connect(self.there)
        self.there.connect(self.here)

    def send(self, source: Side, target: Side, pattern: bytes) -> None:
        source.memory.write(pattern * SIZE, SIZE)
        target.memory.write(bytes(SIZE), SIZE)
        target.pair.post_recv(RecvWR(num_sge=1, sg=[SGE(target.memory.buf, SIZE, target.memory.lkey)]))
        source.pair.post_send(SendWR(num_sge=1, sg=[SGE(source.memory.buf, SIZE, source.memory.lkey)],
                                     opcode=enums.IBV_WR_SEND, send_flags=enums.IBV_SEND_SIGNALED))
        source.complete()
        target.complete()
        self.assertEqual(target.memory.read(SIZE, 0), pattern * SIZE)

    def pull_cable(self, port: rdma.Port) -> None:
        switch = rdma.number(rdma.ask("ibswitches"), r"lid (\d+)")
        switch_port = rdma.number(rdma.ask("ibroute", switch), rf"(?m)^0x{port.lid:04x} (\d+) ")
        self.addCleanup(rdma.until, lambda: port.state == "ACTIVE", f"{port} is active")
        self.addCleanup(rdma.ask, "ibportstate", switch, switch_port, "enable")
        rdma.ask("ibportstate", switch, switch_port, "disable")
        rdma.until(lambda: port.state == "DOWN", f"{port} is down")

    def test_path_lost_connection_migrates(self) -> None:
        self.here.load_alternate_path(self.there)
        self.there.load_alternate_path(self.here)
        self.send(self.here, self.there, b"1")
        self.send(self.there, self.here, b"2")
        for side in (self.here, self.there):
            self.assertEqual(side.state(), (enums.IBV_MIG_ARMED, 1))
        self.pull_cable(self.there.ports[0])
        self.send(self.here, self.there, b"3")
        self.send(self.there, self.here, b"4")
        for side in (self.here, self.there):
            side.await_event(enums.IBV_EVENT_PATH_MIG)
            self.assertEqual(side.state(), (enums.IBV_MIG_MIGRATED, 2))

    def test_software_request_migrates(self) -> None:
        self.here.load_alternate_path(self.there)
        self.there.load_alternate_path(self.here)
        self.send(self.here, self.there, b"1")
        self.send(self.there, self.here, b"2")
        attributes = QPAttr()
        attributes.path_mig_state = enums.IBV_MIG_MIGRATED
        self.here.pair.modify(attributes, enums.IBV_QP_PATH_MIG_STATE)
        self.send(self.here, self.there, b"3")
        for side in (self.here, self.there):
            side.await_event(enums.IBV_EVENT_PATH_MIG)
            self.assertEqual(side.state(), (enums.IBV_MIG_MIGRATED, 2))


if __name__ == "__main__":
    unittest.main(verbosity=2)
