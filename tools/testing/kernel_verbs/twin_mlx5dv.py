# SPDX-License-Identifier: GPL-2.0-or-later
"""The user-space twin: does through libmlx5 what the case pipelining_bursts of the test module does.

The second device is the target. It writes blocks, which have T10-DIF in its memory, to the first device, and sends a
response after each command. A burst has four commands; the next burst starts after all responses. Every third command
has a wrong block.

An unaware twin also changes attributes of the queue pair as a thread would that does not know of the stops: while it is
stopped, the driver refuses that.
"""

import errno
import struct
import time

import pyverbs.enums as e
import pyverbs.providers.mlx5.mlx5_enums as dve
import rdma
import test_signatures
from pyverbs.cq import CQ
from pyverbs.providers.mlx5.mlx5dv import Mlx5DVQPInitAttr, Mlx5QP
from pyverbs.providers.mlx5.mlx5dv_mkey import Mlx5Mkey, Mlx5MkeyConfAttr, Mlx5SigBlockAttr
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QPAttr, QPCap, QPInitAttrEx
from pyverbs.wr import SGE, RecvWR, SendWR

COMMANDS, DEPTH, BAD_EVERY = 24, 4, 3
BLOCK, BLOCKS = 512, 2
DATA = BLOCK * BLOCKS
SIGNED = DATA + 8 * BLOCKS  # T10-DIF has 8 bytes
RESPONSE = struct.Struct("=6I")  # number, slot, good, mr, expected, actual
SLOT = 4096  # bytes of memory; the response follows the data
RESPONSE_PLACE = 2048
KIND = test_signatures.KINDS["T10-DIF, CRC"]
ERROR = 1 << 32  # flag in the wr_id of the second response, which reports the error


class End(test_signatures.Side):
    """One end with signature pipelining and a key for each command of a burst."""

    def __init__(self, device: str) -> None:
        super().__init__(device)
        flags = dve.MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT | dve.MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE
        self.keys = [Mlx5Mkey(self.domain, flags, 4) for _ in range(DEPTH)]

    def make_queue_pair(self) -> Mlx5QP:
        self.received = CQ(self.context, 64)
        attributes = QPInitAttrEx(
            cap=QPCap(max_send_wr=64, max_recv_wr=2 * DEPTH, max_inline_data=512),
            pd=self.domain, scq=self.completions, rcq=self.received, qp_type=e.IBV_QPT_RC,
            send_ops_flags=e.IBV_QP_EX_WITH_RDMA_WRITE | e.IBV_QP_EX_WITH_SEND,
            comp_mask=e.IBV_QP_INIT_ATTR_PD | e.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        )
        more = Mlx5DVQPInitAttr(
            comp_mask=dve.MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS | dve.MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
            create_flags=dve.MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE | dve.MLX5DV_QP_CREATE_SIG_PIPELINING,
            send_ops_flags=dve.MLX5DV_QP_EX_WITH_MKEY_CONFIGURE,
        )
        return Mlx5QP(self.context, attributes, more)

    def configure_key(self, slot: int) -> None:
        """Configures signatures in memory and none on the wire."""
        queue_pair, (domain, _) = self.queue_pair, KIND.domain(BLOCK)
        queue_pair.wr_start()
        queue_pair.wr_flags = e.IBV_SEND_SIGNALED | e.IBV_SEND_INLINE
        queue_pair.wr_mkey_configure(self.keys[slot], 3, Mlx5MkeyConfAttr())
        queue_pair.wr_set_mkey_access_flags(e.IBV_ACCESS_LOCAL_WRITE)
        queue_pair.wr_set_mkey_layout_list([SGE(self.memory.buf + slot * SLOT, SIGNED, self.memory.lkey)])
        queue_pair.wr_set_mkey_sig_block(Mlx5SigBlockAttr(mem=domain, check_mask=0xFF))
        queue_pair.wr_complete()
        self.complete()

    def post_response(self, slot: int, response: tuple[int, ...], wr_id: int, flags: int) -> None:
        place = slot * SLOT + RESPONSE_PLACE + (0 if response[2] else RESPONSE.size)
        self.memory.write(RESPONSE.pack(*response), RESPONSE.size, place)
        self.queue_pair.post_send(SendWR(
            wr_id=wr_id, opcode=e.IBV_WR_SEND, num_sge=1, send_flags=e.IBV_SEND_SIGNALED | flags,
            sg=[SGE(self.memory.buf + place, RESPONSE.size, self.memory.lkey)],
        ))


class Target:
    """Posts the commands of a burst, cancels the responses of failed commands, and sends error responses for them."""

    def __init__(self, client: End, target: End, is_unaware: bool) -> None:
        self.client, self.end = client, target
        self.is_unaware = is_unaware
        self.cancelled = 0
        self.refused = 0  # changes of attributes
        self.posted: set[int] = set()  # wr_ids of responses
        self.failed: set[int] = set()  # failed commands whose first response has not completed

    def post(self, number: int) -> None:
        slot = number % DEPTH
        blocks = [bytes([number + 1, index] * (BLOCK // 2)) for index in range(BLOCKS)]
        signed = bytearray(b"".join(block + KIND.sign(index, block) for index, block in enumerate(blocks)))
        if number % BAD_EVERY == BAD_EVERY - 1:
            signed[100] ^= 1
        self.end.memory.write(bytes(signed), SIGNED, slot * SLOT)
        write = SendWR(wr_id=number, opcode=e.IBV_WR_RDMA_WRITE, num_sge=1, send_flags=0,
                       sg=[SGE(0, DATA, self.end.keys[slot].lkey)])
        write.set_wr_rdma(self.client.memory.rkey, self.client.memory.buf + slot * SLOT)
        self.end.queue_pair.post_send(write)
        self.posted.add(number)
        self.end.post_response(slot, (number, slot, 1, 0, 0, 0), number, e.IBV_SEND_FENCE)

    def handle_stop(self) -> None:
        """Follows the manual page of mlx5dv_qp_cancel_posted_send_wrs(); completions report the errors."""
        while self.poll_sends():
            pass
        for number in self.posted - self.failed:
            if self.end.keys[number % DEPTH].mkey_check().err_type != dve.MLX5DV_MKEY_NO_ERR:
                self.failed.add(number)
                self.cancelled += self.end.queue_pair.cancel_posted_send_wrs(number)
        attributes = QPAttr(qp_state=e.IBV_QPS_RTS, cur_qp_state=e.IBV_QPS_SQD)
        self.end.queue_pair.modify(attributes, e.IBV_QP_STATE | e.IBV_QP_CUR_STATE)

    def change_attributes(self) -> None:
        """A stopped queue pair must not get back to RTS by this."""
        try:
            self.end.queue_pair.modify(QPAttr(qp_state=e.IBV_QPS_RTS), e.IBV_QP_STATE | e.IBV_QP_MIN_RNR_TIMER)
        except PyverbsRDMAError as error:
            if error.error_code != errno.EINVAL:
                raise
            self.refused += 1

    def is_stopped(self) -> bool:
        if self.is_unaware:
            self.change_attributes()
        attributes, _ = self.end.queue_pair.query(e.IBV_QP_STATE)
        return attributes.qp_state == e.IBV_QPS_SQD and not attributes.sq_draining

    def poll_sends(self) -> bool:
        """Returns whether a completion was polled. A cancelled response completes as if it had been sent."""
        count, completions = self.end.completions.poll(1)
        if not count:
            return False
        number = completions[0].wr_id
        if completions[0].status != e.IBV_WC_SUCCESS:
            raise AssertionError(f"response {number} ended with status {completions[0].status}")
        if number in self.failed:
            self.failed.remove(number)
            self.posted.remove(number)
            self.posted.add(number + ERROR)
            self.end.post_response(number % DEPTH, (number, number % DEPTH, 0, 0, 0, 0), number + ERROR, 0)
        else:
            self.posted.remove(number)
        return True

    def run_burst(self, numbers: range) -> None:
        for number in numbers:
            self.end.configure_key(number % DEPTH)
            receive = SGE(self.client.memory.buf + number % DEPTH * SLOT + RESPONSE_PLACE, RESPONSE.size,
                          self.client.memory.lkey)
            self.client.queue_pair.post_recv(RecvWR(wr_id=number, num_sge=1, sg=[receive]))
        for number in numbers:
            self.post(number)
        unanswered, limit = len(numbers), time.monotonic() + rdma.PATIENCE
        while self.posted or unanswered:
            if time.monotonic() > limit:
                raise AssertionError(f"responses {self.posted} have not ended, {unanswered} are not answered")
            if not self.poll_sends() and self.is_stopped():
                self.handle_stop()
            unanswered -= self.client.received.poll(1)[0]
            time.sleep(0.001)


def run(is_unaware: bool = False) -> Target:
    """Runs all bursts; returns the target."""
    client, target = (End(device) for device in rdma.devices()[:2])
    client.connect(target)
    target.connect(client)
    twin = Target(client, target, is_unaware)
    for first in range(0, COMMANDS, DEPTH):
        twin.run_burst(range(first, first + DEPTH))
    if twin.cancelled != COMMANDS // BAD_EVERY:
        raise AssertionError(f"{twin.cancelled} responses were cancelled")
    return twin
