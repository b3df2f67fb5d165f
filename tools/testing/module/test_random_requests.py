# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends requests with random contents: each succeeds or is refused, none harms the kernel or leaves an object.

CXIB_REQUESTS is their number. Each program has another seed, the first one CXIB_FIRST_SEED. A failed run prints its seed.
"""

import contextlib
import os
import random
from collections.abc import Callable

import module_machines as machines
import raw_verbs
import rdma
from control import control
from test_user_space import ProgramTest, make_queue_of_the_driver

GUESTS = [machines.DEBUG, machines.BAD_REQUESTS]
FIRST = int(os.environ.get("CXIB_FIRST_SEED", "1"))
REQUESTS = int(os.environ.get("CXIB_REQUESTS", "2000"))
REQUESTS_OF_A_PROGRAM = 200
BIRTH = raw_verbs.QP_PKEY_INDEX | raw_verbs.QP_PORT | raw_verbs.QP_ACCESS_FLAGS
ROUTE = raw_verbs.QP_AV | raw_verbs.QP_PATH_MTU | raw_verbs.QP_MIN_RNR_TIMER
PIECE = 1 << 16  # bytes; more than any valid queue takes

INTERESTING = (0, 1, 2, 3, 4, 6, 7, 8, 15, 16, 63, 64, 127, 128, 255, 0x400, 0xFFF, 0x1000, 0x7FFF, 0xFFFF, 0x10000,
               0xFFFFFF, 0x1000000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 32, (1 << 63) - 1, (1 << 64) - 1)


class Program:
    """A process that has one object of each kind and sends any request."""

    def __init__(self, device: raw_verbs.Device, choice: random.Random) -> None:
        self.device = device
        self.choice = choice
        self.refused = self.granted = 0
        # The debug kernel counts the mappings of a page, so every request has separate memory.
        device.queue = raw_verbs.Memory(4 * REQUESTS_OF_A_PROGRAM * PIECE)
        self.pieces = iter(range(device.queue.address + 4 * PIECE, device.queue.address + len(device.queue.map), PIECE))
        if choice.random() < 0.3:
            device.make_older_basics()
            device.uar = device.allocate_uar(1)
        else:
            device.make_basics()
        self.cq = device.create_cq()
        self.xrcd = device.open_xrcd()
        self.srq = device.create_srq()
        self.target = device.create_target(self.cq, self.srq)
        self.region = device.register(device.queue.address, 8192, device.queue.address, 7)

    def number(self) -> int:
        """A number that a missing check might let through."""
        if self.choice.random() < 0.3:
            return self.choice.getrandbits(self.choice.choice((3, 8, 16, 32, 64)))
        if self.choice.random() < 0.3:
            return next(self.pieces) + self.choice.choice((0, 1, 8, 16, 64, 4095, 4096))
        return self.choice.choice(INTERESTING)

    def changes(self, *names: str) -> dict[str, int]:
        place = {"buffer": next(self.pieces)} if "buffer" in names else {}
        return place | {name: self.number() for name in self.choice.sample(names, self.choice.randint(1, min(3, len(names))))}

    def handle(self, sound: int) -> int:
        return sound if self.choice.random() < 0.8 else self.number() & 0xFFFFFFFF

    def bytes(self) -> bytes:
        return self.choice.randbytes(4 * self.choice.randint(0, 30))

    def open_context(self) -> None:
        """Opens another context."""
        fields = [16, 4, 0, 0, 1, 0, 0, 0, 0, self.choice.choice((0, 1, 3))]
        if self.choice.random() < 0.8:
            fields[self.choice.choice((0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 9))] = self.number()
        request = raw_verbs.pack("<IIIIBBHIQ", *fields[:8], fields[9])[:self.choice.choice((0, 8, 12, 16, 24, 32, 32))]
        with contextlib.closing(raw_verbs.Device(rdma.devices()[0])) as device:
            device.open_context(request)

    def create_cq(self) -> None:
        self.device.create_cq(**self.changes("cqe", "vector", "buffer", "record", "cqe_size", "compress", "format",
                                             "flags", "uar", "reserved0", "reserved1"))

    def resize_cq(self) -> None:
        self.device.resize_cq(self.handle(self.cq), **self.changes("cqe", "buffer", "cqe_size", "reserved0", "reserved1"))

    def create_qp(self) -> None:
        kind = self.choice.choice((raw_verbs.RC, raw_verbs.XRC_INI, raw_verbs.XRC_TGT, 3, 4, 8, 255))
        changes = self.changes("srq", "max_send_wr", "max_recv_wr", "max_send_sge", "max_recv_sge", "max_inline",
                               "is_srq", "buffer", "record", "sq_count", "rq_count", "rq_shift", "flags", "uidx",
                               "bfreg", "access_key", "ece", "streams", "failed_streams", "reserved1")
        if kind == raw_verbs.XRC_TGT:
            changes |= {"pd": self.handle(self.xrcd)}
        self.device.create_qp(self.handle(self.cq), **({"type": kind} | changes))

    def create_initiator(self) -> None:
        self.device.create_initiator(self.handle(self.cq), **self.changes(
            "srq", "is_srq", "max_send_wr", "max_recv_wr", "buffer", "record", "sq_count", "rq_count", "flags", "uidx",
            "bfreg", "access_key", "ece", "streams", "failed_streams", "reserved1"))

    def create_target(self) -> None:
        changes = self.changes("max_send_wr", "max_recv_wr", "record", "sq_count", "rq_count", "flags", "uidx",
                               "access_key", "streams", "failed_streams", "reserved1")
        if self.choice.random() < 0.8:
            changes = {"access_key": self.number()}
        self.target = self.device.create_target(self.handle(self.cq), self.handle(self.srq), **changes)

    def modify_target(self) -> None:
        """In most cases makes the next transition."""
        state, mask = self.choice.choice(((raw_verbs.INIT, BIRTH), (raw_verbs.RTR, ROUTE), (raw_verbs.RTR, ROUTE),
                                          (raw_verbs.ERR, 0), (raw_verbs.RESET, 0), (self.number(), self.number())))
        changes = {} if self.choice.random() < 0.6 else self.changes(
            "access", "pkey_index", "path_mtu", "min_rnr_timer", "port", "hop_limit", "flow_label", "sgid_index",
            "comp_mask", "ece")
        self.device.modify_qp(self.handle(self.target), mask, state, self.choice.choice((0, 8, 16, 16, 16)), **changes)

    def create_srq(self) -> None:
        self.device.create_srq(**self.changes("pd", "max_wr", "max_sge", "limit", "buffer", "record", "flags",
                                              "reserved0", "uidx", "reserved1"))

    def create_xrc_srq(self) -> None:
        self.device.create_xrc_srq(self.handle(self.cq), self.handle(self.xrcd),
                                   **self.changes("type", "max_wr", "max_sge", "limit", "buffer", "record", "flags",
                                                  "reserved0", "uidx", "reserved1"))

    def modify_srq(self) -> None:
        self.device.modify_srq(self.handle(self.srq), self.choice.randint(0, 7), self.number() & 0xFFFFFFFF,
                               self.number() & 0xFFFFFFFF)

    def register(self) -> None:
        piece = next(self.pieces)
        sound = [piece, 8192, piece, 7]
        sound[self.choice.randrange(4)] = self.number()
        sound[3] &= 0xFFFFFFFF
        self.device.register(*sound)

    def reregister(self) -> None:
        piece = next(self.pieces)
        self.device.reregister(self.handle(self.region), self.choice.randint(0, 15),
                               **{"start": piece, "address": piece} | self.changes("start", "length", "address", "pd", "access"))

    def create_mw(self) -> None:
        self.device.create_mw(self.choice.randint(0, 3), **self.changes("pd", "comp_mask", "pieces", "reserved1",
                                                                        "reserved2"))

    def map(self) -> None:
        self.device.map(self.choice.choice((0, 2, 3, 5, 6, 7, 8, 9, 10, self.choice.getrandbits(12))) << 8 |
                        self.choice.choice((0, 1, 255)), self.choice.randint(1, 3), self.choice.randint(1, 4)).close()

    def send_bytes(self) -> None:
        """Sends any command with any contents, except commands that would wait."""
        number = self.choice.choice((0, 3, 5, 9, 11, 14, 18, 19, 24, 26, 32, 33, 34, 37, 39))
        self.device.command(number, self.bytes(), 4 * self.choice.randint(0, 24))

    def act(self) -> None:
        acts: tuple[Callable[[], None], ...] = (
            self.open_context, self.create_cq, self.resize_cq, self.create_qp, self.create_initiator, self.create_target,
            self.modify_target, self.modify_target, self.create_srq, self.create_xrc_srq, self.modify_srq,
            self.register, self.reregister, self.create_mw, self.map, self.send_bytes)
        try:
            self.choice.choice(acts)()
            self.granted += 1
        except (OSError, ValueError):
            self.refused += 1


class RandomRequests(ProgramTest):
    def setUp(self) -> None:
        make_queue_of_the_driver(rdma.devices()[0])
        super().setUp()
        # Here a rule violation is an error, even if other tests of this guest permit it.
        self.addCleanup(self.assert_violations, control("violations")["rules"])

    def assert_violations(self, known: dict[str, dict[str, object]]) -> None:
        self.assertEqual(control("violations")["rules"], known)

    def run_program(self, seed: int) -> tuple[int, int]:
        device = raw_verbs.Device(rdma.devices()[0])
        try:
            program = Program(device, random.Random(seed))
            for _ in range(REQUESTS_OF_A_PROGRAM):
                program.act()
            return program.granted, program.refused
        finally:
            device.close()

    def test_random_requests_granted_or_refused(self) -> None:
        granted = refused = 0
        for seed in range(FIRST, FIRST + max(1, REQUESTS // REQUESTS_OF_A_PROGRAM)):
            with self.subTest(seed=seed):
                more, less = self.run_program(seed)
                granted, refused = granted + more, refused + less
        print(f"{granted} requests were granted, {refused} refused")
        self.assertGreater(granted, 0)
        self.assertGreater(refused, granted)
