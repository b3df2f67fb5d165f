# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests links that lose, duplicate, reorder, corrupt and delay packets: RC and XRC lose nothing, UC and UD lose whole
messages only.

Needs a subnet manager and four devices. The links of the second pair are worse than those of the first.
"""

import random
import unittest

import rdma
import verbs
from machine import CHECK, LONG, Guest
from pyverbs import enums


def loss_plan() -> str:
    """The faults of each HCA's link: 1 percent of the packets for the first pair, 10 for the second.

    A request is repeated at most 7 times, and a READ needs its request and the next response. If p is the share of lost or
    corrupted packets, all repetitions fail once in 1 / (1 - (1 - p)²)⁷ cases. A run has about 300 READ responses and 200
    atomic operations: at 11 percent one of 840 runs fails, as the specification allows. With another 10 percent of
    corrupted packets one of ten runs would fail.
    """
    lines = []
    for hca, rate in enumerate((1, 1, 10, 10)):
        # The delay exceeds the requester's timeout, so a repeated packet arrives twice, the first copy late.
        shares = {"drop": rate, "duplicate": rate, "reorder": rate, "corrupt": 1, "delay=40ms": f"0.{rate}"}
        lines += [f"packet {fault} {share}% data direction=out @hca{hca}" for fault, share in shares.items()]
    return "\n".join(lines)


LOSS = Guest("loss", driver="mlx5", hcas=4, sm="cxemu", faults=loss_plan(), level=LONG)
GUESTS = [LOSS, LOSS.but("loss-cxib", driver="cxib", level=CHECK)]
MESSAGES = 200
SEED = 1
END = 0xFFFFFF  # number of the last message


def counter(port: rdma.Port, name: str) -> int:
    directories = (port.directory, rdma.CLASS / port.device)
    found = [path for path in directories if (path / "hw_counters" / name).exists()]
    return int((found[0] / "hw_counters" / name).read_text())


class Transfer(unittest.TestCase):
    """Sends messages of random length from the first device of a pair to the second."""

    def setUp(self) -> None:
        self.random = random.Random(SEED)
        ports = rdma.ports()
        self.pairs = list(zip(ports[0::2], ports[1::2]))
        self.assertGreaterEqual(len(self.pairs), 2, "one pair with bad links, one with worse ones")

    def message(self, most: int) -> bytes:
        return self.random.randbytes(self.random.randint(1, most))

    def for_each_pair(self, check: object) -> None:
        for first, second in self.pairs:
            with self.subTest(links=f"{first.device} to {second.device}"):
                check(first, second)

    def connect(
        self, service: str, first: rdma.Port, second: rdma.Port, path_mtu: int = verbs.PATH_MTU
    ) -> tuple[verbs.Side, verbs.Side]:
        sides = verbs.connect(service, first, second, path_mtu)
        for side in sides:
            self.addCleanup(side.close)
        return sides

    def send(self, sender: verbs.Side, receiver: verbs.Side, number: int, data: bytes) -> None:
        slot = number % verbs.DEPTH
        sender.memory.write(data, len(data), slot * verbs.MESSAGE)
        request = sender.request(enums.IBV_WR_SEND_WITH_IMM, slot * verbs.MESSAGE, len(data), number)
        sender.post(request, receiver)

    # --- RC and XRC

    def check_sends(self, service: str, first: rdma.Port, second: rdma.Port) -> None:
        sender, receiver = self.connect(service, first, second)
        messages = [self.message(20_000) for _ in range(MESSAGES)]
        for slot in range(verbs.DEPTH):
            receiver.post_receive(slot)
        window = verbs.DEPTH // 2
        sent: list = []
        arrived: list = []
        for number, data in enumerate(messages):
            verbs.await_completions(sender, number - window + 1, sent)
            self.send(sender, receiver, number, data)
            arrived += self.take(receiver, messages, len(arrived))
        end = len(messages)
        while len(arrived) < end:
            arrived += self.take(receiver, messages, len(arrived), wait=True)
        verbs.await_completions(sender, end, sent)
        self.assertEqual([completion.wr_id for completion in sent], list(range(end)))
        self.assertEqual(receiver.poll(), [], "more messages than were sent")

    def take(self, receiver: verbs.Side, messages: list[bytes], number: int, wait: bool = False) -> list:
        """Receives the messages that have arrived: NUMBER and the following ones."""
        found = verbs.await_completions(receiver, 1) if wait else receiver.poll()
        for number, completion in enumerate(found, start=number):
            data = receiver.received(completion.wr_id, completion.byte_len)
            self.assertEqual(completion.imm_data, number)
            self.assertEqual(data, messages[number], f"message {number}")
            receiver.post_receive(completion.wr_id)
        return found

    def check_memory(self, first: rdma.Port, second: rdma.Port) -> None:
        """Writes and reads random parts of the remote memory, one after another."""
        # Each repetition of a READ may lose its response again, so a message has few packets.
        here, there = self.connect("rc", first, second, enums.IBV_MTU_4096)
        expected = bytearray(self.random.randbytes(verbs.BULK))
        there.memory.write(bytes(expected), len(expected), there.bulk)
        for number in range(MESSAGES // 4):
            length = self.random.randint(1, 100_000)
            at = self.random.randint(0, verbs.BULK - length)
            writes = self.random.random() < 0.5
            if writes:
                data = self.random.randbytes(length)
                expected[at : at + length] = data
                here.memory.write(data, length, here.bulk)
            opcode = enums.IBV_WR_RDMA_WRITE if writes else enums.IBV_WR_RDMA_READ
            request = here.request(opcode, here.bulk, length, number)
            request.set_wr_rdma(there.memory.rkey, there.memory.buf + there.bulk + at)
            here.post(request, there)
            verbs.await_completions(here, 1)
            if not writes:
                self.assertEqual(here.memory.read(length, here.bulk), bytes(expected[at : at + length]))
        self.assertEqual(there.memory.read(verbs.BULK, there.bulk), bytes(expected))

    def check_atomics(self, first: rdma.Port, second: rdma.Port) -> None:
        """Checks that each addition happens once and finds the sum of those before it."""
        here, there = self.connect("rc", first, second)
        there.memory.write(bytes(8), 8, there.bulk)
        for number in range(MESSAGES):
            request = here.request(enums.IBV_WR_ATOMIC_FETCH_AND_ADD, here.bulk, 8, number)
            request.set_wr_atomic(there.memory.rkey, there.memory.buf + there.bulk, 3, 0)
            here.post(request, there)
            verbs.await_completions(here, 1)
            self.assertEqual(int.from_bytes(here.memory.read(8, here.bulk), "little"), 3 * number)
        self.assertEqual(int.from_bytes(there.memory.read(8, there.bulk), "little"), 3 * MESSAGES)

    def test_rc_sends_with_loss_complete(self) -> None:
        self.for_each_pair(lambda first, second: self.check_sends("rc", first, second))
        for first, second in self.pairs:
            self.assertGreater(counter(second, "out_of_sequence"), 0, "the links were good")
            self.assertGreater(counter(first, "packet_seq_err"), 0)

    def test_xrc_sends_with_loss_complete(self) -> None:
        self.for_each_pair(lambda first, second: self.check_sends("xrc", first, second))

    def test_memory_with_loss_matches_writes_and_reads(self) -> None:
        self.for_each_pair(self.check_memory)

    def test_atomics_with_loss_executed_once(self) -> None:
        self.for_each_pair(self.check_atomics)

    # --- UC and UD

    def check_unreliable(self, service: str, longest: int, first: rdma.Port, second: rdma.Port) -> None:
        sender, receiver = self.connect(service, first, second)
        messages = [self.message(longest) for _ in range(MESSAGES)]
        for slot in range(verbs.DEPTH):
            receiver.post_receive(slot)
        numbers: list[int] = []
        for number, data in enumerate(messages):
            self.send(sender, receiver, number, data)
            verbs.await_completions(sender, 1)
            numbers += self.take_some(receiver, messages)
        while END not in numbers:
            sender.post(sender.request(enums.IBV_WR_SEND_WITH_IMM, 0, 1, END), receiver)
            verbs.await_completions(sender, 1)
            numbers += self.take_some(receiver, messages)
        arrived = set(numbers) - {END}
        self.assertGreater(len(arrived), MESSAGES // 20)
        self.lost += MESSAGES - len(arrived)

    def take_some(self, receiver: verbs.Side, messages: list[bytes]) -> list[int]:
        """Receives the messages that have arrived. Messages may be missing, but each must be complete."""
        numbers = []
        for completion in receiver.poll():
            number = completion.imm_data
            if number != END:
                data = receiver.received(completion.wr_id, completion.byte_len)
                self.assertEqual(data, messages[number], f"message {number}")
            receiver.post_receive(completion.wr_id)
            numbers.append(number)
        return numbers

    def test_uc_with_loss_drops_whole_messages(self) -> None:
        self.lost = 0
        self.for_each_pair(lambda first, second: self.check_unreliable("uc", 10_000, first, second))
        self.assertGreater(self.lost, 0, "the links were good")

    def test_ud_with_loss_drops_whole_messages(self) -> None:
        self.lost = 0
        self.for_each_pair(lambda first, second: self.check_unreliable("ud", 4096, first, second))
        self.assertGreater(self.lost, 0, "the links were good")


if __name__ == "__main__":
    unittest.main()
