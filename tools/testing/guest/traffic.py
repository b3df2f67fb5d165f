# SPDX-License-Identifier: GPL-2.0-or-later
"""Traffic between two devices that changes the counters of both: requests that succeed and requests that fail."""

import rdma
import verbs
from pyverbs import enums
from pyverbs.wr import SendWR

MOVED_BY_DELAYS = frozenset((
    "duplicate_request", "implied_nak_seq_err", "local_ack_timeout_err", "out_of_sequence", "packet_seq_err",
    "port_xmit_wait", "VL15_dropped",
))
"""Counters of what is sent again when an answer takes longer than it should."""

MOVED = frozenset((
    "out_of_buffer", "req_cqe_error", "req_remote_access_errors", "req_remote_invalid_request",
    "req_rnr_retries_exceeded", "req_transport_retries_exceeded", "resp_cqe_error", "resp_cqe_flush_error",
    "resp_local_length_error", "resp_remote_access_errors", "rnr_nak_retry_err", "rx_atomic_requests",
    "rx_read_requests", "rx_write_requests",
))
"""Hardware counters that exchange() moves."""


def status(side: verbs.Side) -> int:
    """Status of the next completion."""
    found: list = []
    rdma.until(lambda: bool(found.extend(side.completions.poll(1)[1]) or found), "a request ends")
    return found[0].status


def remote(here: verbs.Side, there: verbs.Side, opcode: int, key: int) -> SendWR:
    """A send WR for 8 bytes of remote memory."""
    request = here.request(opcode, 0, 8)
    if opcode == enums.IBV_WR_ATOMIC_FETCH_AND_ADD:
        request.set_wr_atomic(key, there.memory.buf, 1, 0)
    else:
        request.set_wr_rdma(key, there.memory.buf)
    return request


def succeed(here: verbs.Side, there: verbs.Side) -> None:
    for opcode in (enums.IBV_WR_RDMA_WRITE, enums.IBV_WR_RDMA_READ, enums.IBV_WR_ATOMIC_FETCH_AND_ADD):
        here.post(remote(here, there, opcode, there.memory.rkey), there)
        verbs.await_completions(here, 1)


def wait_for_a_buffer(here: verbs.Side, there: verbs.Side) -> None:
    """Sends a message before the receiver has posted a buffer."""
    counter = there.port.directory / "hw_counters/out_of_buffer"
    before = int(counter.read_text())
    here.post(here.request(enums.IBV_WR_SEND, 0, 8), there)
    rdma.until(lambda: int(counter.read_text()) > before, "the other side has no buffer")
    there.post_receive(0)
    verbs.await_completions(here, 1)
    verbs.await_completions(there, 1)


def use_a_key_that_does_not_exist(here: verbs.Side, there: verbs.Side) -> None:
    there.post_receive(0)
    here.post_receive(0)
    here.post(remote(here, there, enums.IBV_WR_RDMA_WRITE, there.memory.rkey ^ 0xFF), there)
    assert status(here) == enums.IBV_WC_REM_ACCESS_ERR
    assert status(here) == enums.IBV_WC_WR_FLUSH_ERR
    assert status(there) == enums.IBV_WC_WR_FLUSH_ERR


def send_too_much(here: verbs.Side, there: verbs.Side) -> None:
    there.post_receive(0)
    here.post(here.request(enums.IBV_WR_SEND, 0, verbs.MESSAGE + 1), there)
    assert status(here) == enums.IBV_WC_REM_INV_REQ_ERR
    assert status(there) == enums.IBV_WC_LOC_LEN_ERR


def wait_in_vain_for_a_buffer(here: verbs.Side, there: verbs.Side) -> None:
    here.post(here.request(enums.IBV_WR_SEND, 0, 8), there)
    assert status(here) == enums.IBV_WC_RNR_RETRY_EXC_ERR


def send_to_nobody(here: verbs.Side, there: verbs.Side) -> None:
    there.pair.close()
    here.post(here.request(enums.IBV_WR_SEND, 0, 8), there)
    assert status(here) == enums.IBV_WC_RETRY_EXC_ERR


def connect(near: rdma.Port, far: rdma.Port, rnr_retries: int) -> tuple[verbs.Side, verbs.Side]:
    here, there = verbs.Side(near, "rc"), verbs.Side(far, "rc")
    here.rnr_retries = rnr_retries
    here.connect(there)
    there.connect(here)
    return here, there


def exchange(first: rdma.Port, second: rdma.Port) -> None:
    """Lets each device send to the other one."""
    acts = (succeed, wait_for_a_buffer, wait_in_vain_for_a_buffer, send_to_nobody, use_a_key_that_does_not_exist,
            send_too_much)
    for near, far in ((first, second), (second, first)):
        for act in acts:
            sides = connect(near, far, 1 if act is wait_in_vain_for_a_buffer else 7)
            try:
                act(*sides)
            finally:
                for side in sides:
                    side.close()
