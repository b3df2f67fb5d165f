# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends random DEVX commands and the requests around them: each succeeds or is refused, none harms the kernel, accesses
foreign memory or leaves an object. The class Rules repeats which commands the driver may pass to the device.

CXIB_REQUESTS is their number. Each program has another seed, the first one CXIB_FIRST_SEED. A failed run prints its seed.
"""

import collections
import contextlib
import ctypes
import errno
import functools
import itertools
import mmap
import os
import random
import re
import struct
from collections.abc import Callable
from typing import NamedTuple

import guest
import hw
import module_machines as machines
import raw_verbs
import rdma
import test_random_requests
from control import control
from test_device_commands import (CREATE_GENERAL_OBJECT, CREATE_MKEY, CREATE_PSV, CREATE_QP, KEY_OF_PAGES, KEY_OF_PIECES, PAGE,
                                  QUERY_MKEY, QUERY_QP, RESERVED_NUMBERS, RST2INIT_QP, TO_ERROR_QP, command,
                                  key, queue_pair, word)
from test_user_space import ProgramTest

GUESTS = [machines.DEBUG, machines.BAD_REQUESTS]
FIRST = int(os.environ.get("CXIB_FIRST_SEED", "1"))
REQUESTS = int(os.environ.get("CXIB_REQUESTS", "2000"))
REQUESTS_OF_A_PROGRAM = 200
CLEAN = {errno.EINVAL, errno.EPERM, errno.EREMOTEIO, errno.EBUSY, errno.ENOENT, errno.EFAULT, errno.EOPNOTSUPP,
         errno.EPROTONOSUPPORT, errno.ENOMEM, errno.EOVERFLOW, errno.EBADF}
"""Errors that say that a request was refused, not that anything has gone wrong."""

CREATE_CQ, QUERY_CQ, MODIFY_CQ = hw.HW_CMD_CREATE_CQ, hw.HW_CMD_QUERY_CQ, hw.HW_CMD_MODIFY_CQ
CREATE_RMP, MODIFY_RMP, QUERY_RMP = hw.HW_CMD_CREATE_RMP, hw.HW_CMD_MODIFY_RMP, hw.HW_CMD_QUERY_RMP
INIT2RTR_QP, RTR2RTS_QP, RTS2RTS_QP = hw.HW_CMD_INIT2RTR_QP, hw.HW_CMD_RTR2RTS_QP, hw.HW_CMD_RTS2RTS_QP
SQERR2RTS_QP, TO_RESET_QP, SQD_RTS_QP = hw.HW_CMD_SQERR2RTS_QP, hw.HW_CMD_2RST_QP, hw.HW_CMD_SQD_RTS_QP
INIT2INIT_QP = hw.HW_CMD_INIT2INIT_QP
MODIFY_GENERAL_OBJECT, QUERY_GENERAL_OBJECT = hw.HW_CMD_MODIFY_GENERAL_OBJECT, hw.HW_CMD_QUERY_GENERAL_OBJECT
QUESTIONS = (hw.HW_CMD_QUERY_HCA_CAP, hw.HW_CMD_QUERY_ADAPTER, hw.HW_CMD_QUERY_ISSI, hw.HW_CMD_QUERY_VPORT_STATE,
             hw.HW_CMD_QUERY_HCA_VPORT_CONTEXT, hw.HW_CMD_QUERY_HCA_VPORT_GID, hw.HW_CMD_QUERY_HCA_VPORT_PKEY,
             hw.HW_CMD_NOP)
"""Commands that are about no object."""
QUERIES = {CREATE_MKEY: QUERY_MKEY, CREATE_CQ: QUERY_CQ, CREATE_QP: QUERY_QP, CREATE_RMP: QUERY_RMP,
           CREATE_GENERAL_OBJECT: QUERY_GENERAL_OBJECT}
TRANSITIONS = (RST2INIT_QP, INIT2RTR_QP, RTR2RTS_QP, RTS2RTS_QP, SQERR2RTS_QP, INIT2INIT_QP, SQD_RTS_QP)
ENDS = (TO_ERROR_QP, TO_RESET_QP)
CHANGES = {CREATE_CQ: (MODIFY_CQ,), CREATE_QP: (*TRANSITIONS, *ENDS), CREATE_RMP: (MODIFY_RMP,),
           CREATE_GENERAL_OBJECT: (MODIFY_GENERAL_OBJECT,)}
"""By the command that makes an object."""
KEY_OF_FIXED_PIECES = 3
GENERAL_OBJECTS = (0x26, RESERVED_NUMBERS, 0x3A)
SERVICES = (0, 1, 2, 5)
"""Of queue pairs: connected, reliably or not, datagrams, and initiators of dynamic connections."""
MODERATION = 0x17
"""Fields of a completion queue: period, count, whether it overruns silently, and from when on the period counts."""
ANSWERS, EVENTS = 0x1004, 0x1005
"""Kinds of objects: files that answers and events come from."""
DEVX_SUBSCRIBE, DEVX_ASYNC_QUERY = 0x1003, 0x1004


def opcode_of(request: bytes) -> int:
    return word(request, 0) >> 16


class Owned:
    """The objects of a process, by their numbers in commands."""

    def __init__(self, device: raw_verbs.Device) -> None:
        self.domains = {device.pd_number}
        self.pages = {device.uar}
        self.event_queues = set[int]()
        with contextlib.suppress(OSError):  # the error marks the end of the list
            for vector in itertools.count():
                self.event_queues.add(device.query_eqn(vector))
        self.queues = {CREATE_CQ: set[int](), CREATE_RMP: set[int]()}


class Object(NamedTuple):
    handle: int
    number: int
    create: int
    """The command that makes such."""
    from_verbs: bool = False


class Rules:
    """Commands that the driver may pass to the device."""

    LEAST = {CREATE_MKEY: 0x110, CREATE_PSV: 16, CREATE_CQ: 0x110, CREATE_QP: 0x110, CREATE_RMP: 0x110,
             CREATE_GENERAL_OBJECT: 16}
    """Bytes of a command that makes an object."""

    def __init__(self, owned: Owned) -> None:
        self.owned = owned

    @staticmethod
    def question(request: bytes) -> bool:
        return opcode_of(request) in QUESTIONS

    def create(self, request: bytes) -> bool:
        rules: dict[int, Callable[[bytes], bool]] = {
            CREATE_MKEY: self._key, CREATE_PSV: self._signature_value, CREATE_CQ: self._completion_queue,
            CREATE_QP: self._queue_pair, CREATE_RMP: self._pool, CREATE_GENERAL_OBJECT: self._general_object}
        opcode = opcode_of(request)
        return opcode in rules and len(request) >= self.LEAST[opcode] and rules[opcode](request)

    @staticmethod
    def _about(target: Object, request: bytes) -> bool:
        if target.create == CREATE_GENERAL_OBJECT:
            return word(request, 2) == target.number
        return word(request, 2) & 0xFFFFFF == target.number

    def query(self, target: Object, request: bytes) -> bool:
        return opcode_of(request) == QUERIES.get(target.create) and self._about(target, request)

    def change(self, target: Object, request: bytes) -> bool:
        opcode = opcode_of(request)
        if opcode not in CHANGES.get(target.create, ()) or not self._about(target, request):
            return False
        if target.from_verbs:
            return opcode in (INIT2INIT_QP, RTS2RTS_QP) and self._transition(request)
        if opcode in TRANSITIONS:
            return self._transition(request)
        if opcode == MODIFY_CQ:
            return len(request) >= 0x110 and word(request, 1) & 0xFFFF == 0 and not word(request, 3) & ~MODERATION
        return opcode != MODIFY_RMP or len(request) >= 0x110 and self._pool(request)

    def _domain(self, value: int) -> bool:
        return value & 0xFFFFFF in self.owned.domains

    def _page(self, value: int) -> bool:
        return value & 0xFFFFFF in self.owned.pages

    def _queue(self, create: int, value: int) -> bool:
        return value & 0xFFFFFF in self.owned.queues[create]

    def _key(self, request: bytes) -> bool:
        mode = word(request, 4) >> 8 & 3 | (word(request, 4) >> 26 & 7) << 2
        pages = mode == KEY_OF_PAGES and not word(request, 4) >> 15 & 1
        return (pages or mode in (KEY_OF_PIECES, KEY_OF_FIXED_PIECES)) and self._domain(word(request, 7))

    def _signature_value(self, request: bytes) -> bool:
        return word(request, 2) >> 28 == 1 and self._domain(word(request, 2))

    def _completion_queue(self, request: bytes) -> bool:
        return not word(request, 4) >> 24 & 1 and self._page(word(request, 7)) and \
            word(request, 9) in self.owned.event_queues

    @staticmethod
    def _has_rights_of_kernel(request: bytes) -> bool:
        """Whether a QP has resd_lkey or fast registration."""
        return bool(word(request, 8) >> 4 & 1 or word(request, 34) >> 11 & 1)

    def _queue_pair(self, request: bytes) -> bool:
        shares = word(request, 49) >> 24 & 7 == 1
        return word(request, 6) >> 16 & 0xFF in SERVICES and not self._has_rights_of_kernel(request) and \
            self._domain(word(request, 7)) and self._page(word(request, 9)) and \
            all(self._queue(CREATE_CQ, word(request, place)) for place in (37, 45)) and \
            (not shares or self._queue(CREATE_RMP, word(request, 49)))

    def _transition(self, request: bytes) -> bool:
        """A transition may repeat the objects of the QP."""
        if len(request) < 0x100 or self._has_rights_of_kernel(request) or word(request, 46) or word(request, 47):
            return False
        said: dict[int, Callable[[int], bool]] = {
            7: self._domain, 49: functools.partial(self._queue, CREATE_RMP),
            37: functools.partial(self._queue, CREATE_CQ), 45: functools.partial(self._queue, CREATE_CQ)}
        return all(not word(request, place) & 0xFFFFFF or rule(word(request, place)) for place, rule in said.items())

    def _pool(self, request: bytes) -> bool:
        return self._domain(word(request, 22))

    @staticmethod
    def _general_object(request: bytes) -> bool:
        return word(request, 1) & 0xFFFF in GENERAL_OBJECTS


class Program:
    """A process that has objects of each kind and sends commands about them and about other numbers."""

    def __init__(self, device: raw_verbs.Device, foreign: tuple[int, ...], choice: random.Random) -> None:
        self.device = device
        self.choice = choice
        self.granted = 0
        self.refused = collections.Counter[int]()
        self.breaches: list[str] = []
        self.owned = Owned(device)
        self.rules = Rules(self.owned)
        registered, self.memory = device.register_memory(device.queue.address + 65536, 16 * PAGE, 7)
        self.handles = [registered]
        self.files: list[int] = []
        cq = device.create_cq()
        self.owned.queues[CREATE_CQ].add(device.cq_number)
        self.objects = [Object(device.create_qp(cq), device.qp_number, CREATE_QP, True),
                        Object(cq, device.cq_number, CREATE_CQ, True)]
        self.eqn = device.query_eqn(0)
        self.known = (self.memory, device.pd_number, device.cq_number, device.uar, self.eqn, *foreign)

    def number(self) -> int:
        if self.choice.random() < 0.4:
            return self.choice.getrandbits(self.choice.choice((1, 3, 8, 16, 24, 32)))
        return self.choice.choice(self.choice.choice((test_random_requests.INTERESTING, self.known))) & 0xFFFFFFFF

    def changed(self, request: bytes, least: int = 0) -> bytes:
        """Changes words or single bits of a command, but not its opcode. The length may change as well."""
        words = list(struct.unpack(f">{len(request) // 4}I", request))
        nonzero = [place for place in range(1, len(words)) if words[place]] or [1]
        for _ in range(self.choice.randint(least, 3)):
            place = self.choice.choice(nonzero) if self.choice.random() < 0.5 else self.choice.randrange(1, len(words))
            words[place] = self.number() if self.choice.random() < 0.5 else words[place] ^ 1 << self.choice.randrange(32)
        if self.choice.random() < 0.1:
            words = words[:self.choice.randint(1, len(words))]
        elif self.choice.random() < 0.1:
            words += [self.number() for _ in range(self.choice.randint(1, 64))]
        return struct.pack(f">{len(words)}I", *words)

    def room(self) -> int:
        return self.choice.choice((0, 15, 16, 17, 64, 64, 64, 0x110, 0x200, 0x1010, 0x4000))

    def send[Result](self, request: bytes, may: Callable[[bytes], bool], call: Callable[[], Result]) -> Result:
        """Sends a command, which the driver must refuse if it is not permitted. The device may refuse any command."""
        try:
            result = call()
        except OSError as error:
            if error.errno == errno.EREMOTEIO and not may(request):
                self.breaches.append(f"the device was asked: {request.hex(' ', 4)}")
            raise
        if not may(request):
            self.breaches.append(f"carried out: {request.hex(' ', 4)}")
        return result

    def completion_queue(self) -> bytes:
        return command(CREATE_CQ, 0x110, w5=self.memory, w7=5 << 24 | self.device.uar, w9=self.eqn, w19=PAGE,
                       w22=self.memory)

    def pool(self) -> bytes:
        return command(CREATE_RMP, 0x110, w8=1 << 20, w22=self.device.pd_number, w25=2 * PAGE, w28=5 << 16 | 4,
                       w30=self.memory, w31=self.memory)

    def any_object(self) -> bytes:
        opcode = self.choice.choice((self.choice.getrandbits(12), self.choice.getrandbits(16), *TRANSITIONS))
        return self.changed(command(opcode, 0x110), 1)

    def create(self) -> None:
        device = self.device
        templates: tuple[Callable[[], bytes], ...] = (
            lambda: key(device.pd_number, self.choice.choice((KEY_OF_PAGES, KEY_OF_PIECES, KEY_OF_PIECES))),
            lambda: command(CREATE_PSV, w2=1 << 28 | device.pd_number),
            lambda: queue_pair(device, self.memory), lambda: queue_pair(device, self.memory),
            self.completion_queue, self.pool, self.any_object,
            lambda: command(CREATE_GENERAL_OBJECT, 0x50, w1=RESERVED_NUMBERS, w3=self.choice.randint(0, 8) << 24))
        request, room = self.changed(self.choice.choice(templates)()), self.room()
        handle, answer = self.send(request, self.rules.create, lambda: device.create_object(request, room))
        made = Object(handle, word(answer, 2), opcode_of(request))
        self.objects.append(made)
        self.owned.queues.get(made.create, set()).add(made.number)

    def target(self) -> tuple[Object, int]:
        """An object and, in most cases, its number."""
        target = self.choice.choice(self.objects)
        if self.choice.random() < 0.1:
            return target, self.choice.choice(self.objects).number
        return target, target.number if self.choice.random() < 0.9 else self.number()

    def about(self, opcodes: tuple[int, ...]) -> tuple[Object, bytes]:
        target, number = self.target()
        own = {*opcodes} & {QUERIES.get(target.create), *CHANGES.get(target.create, ())}
        opcode = self.choice.choice((*sorted(own), *opcodes[:1], self.choice.getrandbits(12)))
        request = command(opcode, self.choice.choice((16, 0x110, 0x110)), w2=number)
        return target, self.changed(request) if self.choice.random() < 0.8 else request

    def query(self) -> None:
        (target, request), room = self.about(tuple(QUERIES.values())), self.room()
        self.send(request, lambda sent: self.rules.query(target, sent),
                  lambda: self.device.query_object(target.handle, request, room))

    def modify(self) -> None:
        (target, request), room = self.about(sum(CHANGES.values(), ())), self.room()
        self.send(request, lambda sent: self.rules.change(target, sent),
                  lambda: self.device.modify_object(target.handle, request, room))

    def ask(self) -> None:
        opcode = self.choice.choice((*QUESTIONS, self.choice.getrandbits(12)))
        request, room = self.changed(command(opcode, w1=self.choice.getrandbits(6))), self.room()
        self.send(request, self.rules.question, lambda: self.device.ask_device(request, room))

    def ask_with_other_attributes(self) -> None:
        """Calls any method with attributes of any number and size, in valid or invalid memory."""
        kind = self.choice.choice((raw_verbs.DEVX, raw_verbs.DEVX_OBJECT, raw_verbs.DEVX_MEMORY, raw_verbs.UAR_OBJECT,
                                   ANSWERS, EVENTS, self.choice.getrandbits(13)))
        method = 0x1000 + self.choice.randint(0, 5)
        addresses = (self.device.queue.address, 0, 1 << 47, self.number())
        attributes = [(0x1000 + place if self.choice.random() < 0.8 else self.choice.getrandbits(16),
                       self.choice.choice((0, 4, 8, 16, 64, 0x110, 0xFFFF)), self.choice.choice(addresses))
                      for place in range(self.choice.randint(0, 6))]
        if kind != raw_verbs.DEVICE_OBJECT and (kind, method) != (raw_verbs.DEVX_OBJECT, raw_verbs.DEVX_DESTROY):
            self.device.ioctl(kind, method, *attributes)

    def ask_for_files(self) -> None:
        """Uses files for outputs and events, and what depends on them."""
        place = ctypes.create_string_buffer(64)
        file = self.choice.choice(self.files) if self.files and self.choice.random() < 0.8 else self.number()
        before = open_files()
        requests: tuple[tuple[int, int, list[tuple[int, int, int]]], ...] = (
            (ANSWERS, 0x1000, [(0x1000, 0, 0)]),
            (EVENTS, 0x1000, [(0x1000, 0, 0), (0x1001, 8, self.choice.randint(0, 3))]),
            (raw_verbs.DEVX, DEVX_SUBSCRIBE, [(0x1000, 0, file), (0x1001, 0, self.target()[0].handle),
                                              (0x1002, 2, self.number() & 0xFFFF), (0x1003, 8, self.number())]),
            (raw_verbs.DEVX_OBJECT, DEVX_ASYNC_QUERY,
             [(0x1000, 0, self.target()[0].handle), (0x1001, 16, ctypes.addressof(place)), (0x1002, 0, file),
              (0x1003, 8, self.number()), (0x1004, 2, 64)]))
        kind, method, attributes = self.choice.choice(requests)
        self.device.ioctl(kind, method, *attributes)
        self.files.extend(open_files() - before)

    def close_files(self) -> None:
        for file in self.files:
            os.close(file)

    def register(self) -> None:
        address = self.device.queue.address + self.choice.choice((0, 64, PAGE, 131072))
        arguments = [address, self.choice.choice((1, 64, PAGE, 5 * PAGE, 65536)), self.choice.randint(0, 7)]
        if self.choice.random() < 0.5:
            arguments[self.choice.randrange(3)] = self.number() << self.choice.choice((0, 0, 32))
        handle, number = self.device.register_memory(arguments[0], arguments[1], arguments[2] & 0xFFFFFFFF)
        self.handles.append(handle)
        if self.choice.random() < 0.3:
            self.memory = number

    def end(self) -> None:
        """Destroys an object or deregisters memory that may not exist."""
        if self.choice.random() < 0.3:
            self.device.deregister_memory(self.choice.choice(self.handles))
            return
        handle = self.target()[0].handle if self.choice.random() < 0.8 else self.number()
        self.device.destroy_object(handle)
        for ended in [known for known in self.objects if known.handle == handle]:
            self.objects.remove(ended)
            self.owned.queues.get(ended.create, set()).discard(ended.number)

    def add_page(self) -> None:
        """Adds a UAR page, as processes with older libraries do; others cannot."""
        place = self.choice.choice((0, 1, 2, 255, self.choice.getrandbits(8)))
        self.device.map(raw_verbs.ADDED_PAGE + place, mmap.PROT_WRITE).close()
        self.owned.pages.add(self.device.query_uar(2 * place + 1))

    def other(self) -> None:
        others: tuple[Callable[[], object], ...] = (
            lambda: self.owned.pages.add(self.device.allocate_uar(self.choice.choice((0, 1, 2, self.number())))),
            self.add_page, lambda: self.device.query_uar(self.number()), lambda: self.device.query_eqn(self.number()))
        self.choice.choice(others)()

    def act(self) -> None:
        acts: tuple[Callable[[], None], ...] = (
            self.create, self.create, self.create, self.create, self.query, self.modify, self.modify, self.modify, self.ask,
            self.ask_with_other_attributes, self.ask_for_files, self.register, self.end, self.other)
        try:
            self.choice.choice(acts)()
            self.granted += 1
        except OSError as error:
            self.refused[error.errno or 0] += 1


def open_files() -> set[int]:
    return {int(name) for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")}


def open_program(older: bool = False) -> raw_verbs.Device:
    device = raw_verbs.Device(rdma.devices()[0])
    if not older:
        device.make_basics(raw_verbs.CONTEXT_WITH_COMMANDS)
        return device
    device.open_older_context(1, 0, raw_verbs.CONTEXT_WITH_COMMANDS)
    device.allocate_pd()
    # QUERY_QP returns the index of the static UAR page of the context.
    qp = device.create_qp(device.create_cq(flags=0), flags=0)
    device.uar = word(device.query_object(qp, command(QUERY_QP, w2=device.qp_number)), 9) & 0xFFFFFF
    return device


class RandomCommands(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(self.assert_device_as_before, self.device_objects())
        self.log = guest.LogTail()
        self.addCleanup(self.log.close)

    @staticmethod
    def device_objects() -> dict[str, dict[str, int]]:
        """Number of objects of each kind in the devices."""
        return {hca: {kind: counts["living"] for kind, counts in objects.items() if counts["living"]}
                for hca, objects in control("objects").items()}

    def assert_device_as_before(self, before: dict[str, dict[str, int]]) -> None:
        self.assertEqual(self.device_objects(), before)

    def run_program(self, seed: int) -> Program:
        with contextlib.closing(open_program()) as neighbour, contextlib.closing(open_program(seed % 3 == 2)) as device:
            cq = neighbour.create_cq()
            neighbour.create_qp(cq)
            _, memory = neighbour.register_memory(neighbour.queue.address, PAGE)
            foreign = (neighbour.pd_number, neighbour.uar, neighbour.cq_number, neighbour.qp_number, memory)
            program = Program(device, foreign, random.Random(seed))
            try:
                for _ in range(REQUESTS_OF_A_PROGRAM):
                    program.act()
            finally:
                program.close_files()
            return program

    def test_random_commands_granted_or_refused(self) -> None:
        granted, refused = 0, collections.Counter[int]()
        for seed in range(FIRST, FIRST + max(1, REQUESTS // REQUESTS_OF_A_PROGRAM)):
            with self.subTest(seed=seed):
                program = self.run_program(seed)
                self.assertEqual(program.breaches, [])
                self.assertLessEqual(program.refused.keys(), CLEAN)
                granted, refused = granted + program.granted, refused + program.refused
        names = ", ".join(f"{errno.errorcode[error]} {count}" for error, count in sorted(refused.items()))
        print(f"{granted} commands were granted, others refused: {names}")
        self.assertGreater(granted, REQUESTS // 20)
        self.assertGreater(refused[errno.EREMOTEIO], 0)
        self.assertGreater(refused[errno.EINVAL] + refused[errno.EPERM], granted)
        # The kernel's DMA checker reports, with a call trace, that a page registered twice is mapped twice.
        messages = [line for line in self.log.read() if re.match(r"(cxib|infiniband) ", line)]
        self.assertEqual(messages, [])
