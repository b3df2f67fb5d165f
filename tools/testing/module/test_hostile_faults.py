# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests a device that reports wrong page faults while processes access ODP memory in explicit and implicit MRs.
Expected: no kernel reports; a QP that waits for a page that never arrives can be destroyed; ODP works again after the
faults.

A seed selects the faults of the second of two HCAs: page fault EQEs that name other pages, mkeys, queues or WQEs than
the faulting ones, that arrive twice, not at all, or without a fault; wrong outputs of the driver's queries and
commands. CXIB_SEEDS is the number of seeds, CXIB_FIRST_SEED the first one (default: 1).
"""

import contextlib
import ctypes
import mmap
import os
import random
import signal
import subprocess
import time
import unittest
from collections.abc import Callable

import guest
import module_machines as machines
import rdma
import verbs
from control import control, control_lines, until
from machine import Guest
from pyverbs import enums
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsError
from pyverbs.wr import SGE, SendWR

# Faults of a ConnectX-5 name the WQE, those of a ConnectX-7 the memory.
MODELS = [Guest(f"random-faults-{model}", sm="cxemu", cxemu=f"--profile {model}", allow="expected_violations.toml",
                settings=("CXIB_SEEDS=5",)) for model in ("connectx5", "connectx7")]
# The debug guests are also those of `make fuzz`.
GUESTS = [MODELS[0], *(machines.on_debug(guest, settings=("CXIB_SEEDS=60",), seconds=86400) for guest in MODELS)]
FIRST = int(os.environ.get("CXIB_FIRST_SEED", "1"))
SEEDS = int(os.environ.get("CXIB_SEEDS", "8"))
LIAR = "@hca1"
PAGES = 16
SIZE = PAGES * mmap.PAGESIZE
ROUNDS = 3
REQUESTS = 4
WAIT = 0.5  # seconds for transfers that may never end
ON_DEMAND = verbs.ALL_ACCESS | enums.IBV_ACCESS_ON_DEMAND
EVENT = "fault eqe type=PAGE_FAULT"
SUB_TYPE_AT, DATA_AT, DATA_BYTES = 0x3, 0x20, 0x1C
NOT_THE_LAST = f"set={DATA_AT:#x}:0"  # position of the memory's address, or of the count of completed bytes
GIB = 1 << 30


def change_a_byte(choice: random.Random) -> str:
    """Changes one byte of an event. The rest stays correct, so that the event concerns existing objects."""
    return f"set={DATA_AT + choice.randrange(DATA_BYTES):#x}:{choice.randrange(256):#x}"


def lie(choice: random.Random) -> str:
    """One rule of a fault plan."""
    chance = choice.choice(("20%", "50%", "100%"))
    return choice.choice((
        f"{EVENT} {chance} {change_a_byte(choice)}",
        f"{EVENT} {chance} {change_a_byte(choice)} duplicate",
        f"{EVENT} {chance} {change_a_byte(choice)} {change_a_byte(choice)}",
        f"{EVENT} {chance} set={SUB_TYPE_AT:#x}:{choice.randrange(4)}",
        f"{EVENT} {chance} {NOT_THE_LAST}",
        f"{EVENT} {chance} drop",
        f"{EVENT} {chance} duplicate",
        f"{EVENT} {chance} extra",
        "fault event type=PAGE_FAULT period=1ms",
        f"fault command PAGE_FAULT_RESUME {chance} garbage=all",
        f"fault command PAGE_FAULT_RESUME {chance} status=BAD_PARAMETER",
        f"fault command QUERY_MKEY {chance} garbage",
    ))


class PagedSide(verbs.Side):
    """An end with ODP memory."""

    def __init__(self, port: rdma.Port, whole: bool = False) -> None:
        super().__init__(port, "rc")
        self.memory.close()
        self.pages = mmap.mmap(-1, SIZE)
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.pages))
        if whole:
            self.memory = MR(self.domain, mmap.PAGESIZE, ON_DEMAND, implicit=True)
        else:
            self.memory = MR(self.domain, SIZE, ON_DEMAND, address=self.start)

    def somewhere(self, choice: random.Random, length: int) -> SGE:
        return SGE(self.start + choice.randrange(SIZE - length), length, self.memory.lkey)

    def take_pages_away(self) -> None:
        self.pages.madvise(mmap.MADV_DONTNEED)

    def close_all(self) -> None:
        """Works even if the device is gone."""
        for owned in (self.pair, self.memory, self.completions, self.domain, self.context):
            with contextlib.suppress(PyverbsError):
                owned.close()


def connect(ports: list[rdma.Port], whole: bool) -> tuple[PagedSide, PagedSide]:
    sides = PagedSide(ports[0], whole), PagedSide(ports[1], whole)
    for here, there in (sides, sides[::-1]):
        here.connect(there)
    return sides


def post(here: PagedSide, there: PagedSide, choice: random.Random) -> None:
    """Posts WRs whose memory is missing on this side, on the other side, or on both."""
    length = choice.choice((8, 1000, 3 * mmap.PAGESIZE))
    for opcode in choice.choices((enums.IBV_WR_SEND, enums.IBV_WR_RDMA_WRITE, enums.IBV_WR_RDMA_READ), k=REQUESTS):
        if opcode == enums.IBV_WR_SEND:
            there.pair.post_recv(verbs.RecvWR(num_sge=1, sg=[there.somewhere(choice, length)]))
        request = SendWR(num_sge=1, sg=[here.somewhere(choice, length)], opcode=opcode,
                         send_flags=enums.IBV_SEND_SIGNALED)
        request.set_wr_rdma(there.memory.rkey, there.somewhere(choice, length).addr)
        here.pair.post_send(request)


def wait_a_while(sides: tuple[PagedSide, PagedSide]) -> None:
    """Waits for WRs that may succeed, fail or never end."""
    end, ended = time.monotonic() + WAIT, 0
    while time.monotonic() < end and ended < 2 * REQUESTS:
        for side in sides:
            ended += side.completions.poll(16)[0]


def is_active(port: rdma.Port) -> bool:
    try:
        return port.state == "ACTIVE"
    except OSError:
        return False


class HostileFaults(unittest.TestCase):
    def setUp(self) -> None:
        self.ports = rdma.ports()[:2]
        self.injected = self.faults = 0
        self.addCleanup(control, "faults", "clear")
        # A device may fail again directly after its recovery: the faults last as long as the processes.
        self.assertEqual(self.devlink("set", "grace_period", "0"), 0)

    def devlink(self, command: str, *words: str) -> int:
        liar = guest.find_devices(guest.MELLANOX)[1]
        return subprocess.run(["devlink", "health", command, f"pci/{liar.name}", "reporter", "device", *words]).returncode

    def are_active(self) -> bool:
        if all(map(is_active, self.ports)):
            return True
        self.devlink("recover")  # no effect without need; refused during automatic recovery
        return False

    def await_ports(self) -> None:
        """Waits for active ports. A device recovers from a fatal error automatically, or on request if it has failed
        again meanwhile."""
        until(self.are_active, "the ports are active", pause=2)

    def count(self) -> None:
        for rule in control("faults")["rules"]:
            self.injected += rule["injected"]
            if "eqe" in rule["line"]:
                self.faults += rule["matched"]

    def transfer(self, choice: random.Random) -> None:
        with contextlib.suppress(PyverbsError):
            sides = connect(self.ports, choice.random() < 0.5)
            try:
                for _ in range(ROUNDS):
                    post(*sides, choice)
                    post(*sides[::-1], choice)
                    choice.choice(sides).take_pages_away()
                    wait_a_while(sides)
            finally:
                for side in sides:
                    side.close_all()

    def endure(self, seed: int) -> None:
        choice = random.Random(seed)
        self.await_ports()
        control_lines(f"fault seed {seed}", *(f"{lie(choice)} {LIAR}" for _ in range(choice.randint(1, 4))))
        try:
            self.transfer(choice)
        finally:
            self.count()
            control("faults", "clear")

    def assert_works(self, whole: bool) -> None:
        """Asserts that data written by one side to absent pages can be read."""
        self.await_ports()
        near, far = connect(self.ports, whole)
        self.addCleanup(near.close_all)
        self.addCleanup(far.close_all)
        data = random.randbytes(SIZE)
        for opcode, source, target in ((enums.IBV_WR_RDMA_WRITE, near, far), (enums.IBV_WR_RDMA_READ, far, near)):
            for side in (near, far):
                side.take_pages_away()
            source.pages[:] = data
            request = SendWR(num_sge=1, sg=[SGE(near.start, SIZE, near.memory.lkey)], opcode=opcode,
                             send_flags=enums.IBV_SEND_SIGNALED)
            request.set_wr_rdma(far.memory.rkey, far.start)
            near.pair.post_send(request)
            verbs.await_completions(near, 1)
            self.assertEqual(target.pages[:], data)

    def assert_the_other_device_was_not_asked_for_nonsense(self) -> None:
        """Asserts that the driver sent the device without faults no UMR WQE that failed."""
        honest = rdma.CLASS.joinpath(self.ports[0].device, "device").resolve().name
        refused = [line for line in guest.kernel_log().splitlines() if honest in line and "UMR failed" in line]
        self.assertEqual(refused, [])

    def test_random_page_fault_lies_survived(self) -> None:
        for seed in range(FIRST, FIRST + SEEDS):
            with self.subTest(seed=seed):
                self.endure(seed)
        print(f"{SEEDS} seeds from {FIRST} on, {self.faults} page faults seen by rules, {self.injected} faults injected")
        self.assertGreater(self.faults, 0)
        self.assertGreater(self.injected, 0)
        for whole in (False, True):
            self.assert_works(whole)
        self.assert_the_other_device_was_not_asked_for_nonsense()


class WholeAddressSpace(unittest.TestCase):
    """Tests implicit MRs of all addresses."""

    def setUp(self) -> None:
        self.port = rdma.ports()[0]

    def in_another_process(self, act: Callable[[], None]) -> int:
        process = os.fork()
        if process:
            return process
        try:
            act()
        finally:
            os._exit(1)

    def register(self) -> None:
        self.context = Context(name=self.port.device)
        self.domain = PD(self.context)
        self.region = MR(self.domain, mmap.PAGESIZE, ON_DEMAND, implicit=True)

    def advise(self, address: int) -> str:
        """Prefetches a page; returns the error, or an empty string."""
        try:
            self.domain.advise_mr(enums._IBV_ADVISE_MR_ADVICE_PREFETCH, enums._IBV_ADVISE_MR_FLAG_FLUSH,
                                  [SGE(address, mmap.PAGESIZE, self.region.lkey)])
        except PyverbsError as error:
            return str(error)
        return ""

    def keys(self) -> int:
        return control("objects", "@hca0")["hca0"]["memory key"]["living"]

    def test_implicit_mr_outside_program_memory_creates_no_key(self) -> None:
        self.register()
        self.addCleanup(self.context.close)
        self.addCleanup(self.domain.close)
        self.addCleanup(self.region.close)
        before = self.keys()
        self.assertEqual([number for number in range(1, 64) if not self.advise(number * 64 * GIB)], [])
        self.assertEqual(self.keys(), before)
        self.assertEqual(self.advise(self.region.buf), "")
        self.assertEqual(self.keys(), before + 1)

    def test_implicit_mr_of_ended_program_not_prefetched(self) -> None:
        """A child still has the open device. The page that it prefetches is in its parent's memory."""
        received, sent = os.pipe()
        go, let_go = os.pipe()

        def heir() -> None:
            os.close(let_go)
            os.read(go, 1)  # until the parent has exited
            os.write(sent, self.advise(self.region.buf).encode() or b"a page without an owner was faulted in")

        def program() -> None:
            self.register()
            self.in_another_process(heir)
            os.kill(os.getpid(), signal.SIGKILL)

        os.waitpid(self.in_another_process(program), 0)
        os.close(sent)
        os.close(let_go)
        answer = os.read(received, 1000).decode()
        self.assertIn("Failed to advise", answer)
