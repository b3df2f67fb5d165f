# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests unmodified programs on two devices of one switch with a subnet manager."""

import contextlib
import errno
import itertools
import os
import pathlib
import re
import struct
import subprocess
import time
import traceback
import unittest
from collections.abc import Callable, Iterator

import guest
import module_machines as machines
import raw_verbs
import rdma
from pyverbs.device import AllocDmAttr, Context, DM

FEW = ("PingPong.test_rc_with_events", "PingPong.test_ud", "Perftest.test_writes")
GUESTS = [
    machines.USER_SPACE, machines.USER_SPACE_DEBUG,
    *(each.with_tests(*FEW, "ConnectionManager.test_rping") for each in machines.OTHER_KERNELS),
    machines.OLD_FIRMWARE.with_tests("PingPong", "Perftest.test_writes", "ConnectionManager.test_rping"),
    *(each.with_tests(*FEW) for each in machines.UNUSUAL),
    machines.TRANSLATED.with_tests("PingPong.test_rc_with_events", "Perftest.test_writes"),
]
ROUNDS = int(os.environ.get("CXIB_ROUNDS", "200"))
TCP_PORTS = itertools.count(18515)


def resources(kind: str) -> int:
    """Number of objects of a kind in all devices."""
    summary = rdma.run("rdma", "resource")
    return sum(int(count) for count in re.findall(rf"\b{kind} (\d+)", summary))


def make_queue_of_the_driver(name: str) -> None:
    """Reregisters an MR: for the first one, the driver creates objects that exist until the device is removed."""
    with contextlib.closing(raw_verbs.Device(name)) as device:
        device.make_basics()
        region = device.register(device.queue.address, 8192, device.queue.address, 1)
        device.reregister(region, raw_verbs.REREG_ACCESS, access=7)


class ProgramTest(unittest.TestCase):
    """Base of tests in which every program must leave the number of objects unchanged."""

    KINDS = ("pd", "cq", "qp", "mr", "ctx", "srq")

    def setUp(self) -> None:
        self.first, self.second = rdma.ports()[:2]
        self.before = self.count()
        self.addCleanup(self.assert_as_before)

    def count(self) -> dict[str, int]:
        return {kind: resources(kind) for kind in self.KINDS}

    def assert_as_before(self) -> None:
        try:
            rdma.until(lambda: self.count() == self.before, "all objects are gone")
        except AssertionError as error:
            raise AssertionError(f"{error}: before there were {self.before}, now {self.count()}") from None

    def await_queue_pairs(self, more: int) -> None:
        wanted = self.before["qp"] + more
        rdma.until(lambda: resources("qp") >= wanted, f"there are {wanted} queue pairs")

    def exchange(self, *program: str | int) -> tuple[str, str]:
        """Runs server and client of a program on the two ports; returns the output of both."""
        tcp_port = next(TCP_PORTS)
        words = [*program, "-p", tcp_port]
        with rdma.background(*words, "-d", self.first.device) as server:
            rdma.await_listener(tcp_port, server)
            client = rdma.run(*words, "-d", self.second.device, "127.0.0.1")
            return rdma.finish(server), client

    @contextlib.contextmanager
    def writers(self) -> Iterator[tuple[subprocess.Popen, subprocess.Popen]]:
        """Client and server of ib_write_bw, which have been sending for a second and would continue for a minute."""
        tcp_port = next(TCP_PORTS)
        words = ["ib_write_bw", "-F", "-D", "60", "-q", "4", "-p", tcp_port]
        with rdma.background(*words, "-d", self.first.device) as server:
            rdma.await_listener(tcp_port, server)
            with rdma.background(*words, "-d", self.second.device, "127.0.0.1") as client:
                self.await_queue_pairs(8)
                time.sleep(1)
                yield client, server


class PingPong(ProgramTest):
    """Tests the examples of rdma-core, which check the received data (-c)."""

    def check(self, kind: str, *options: str | int) -> None:
        for output in self.exchange(f"ibv_{kind}_pingpong", "-c", "-n", ROUNDS, *options):
            self.assertNotIn("invalid data", output)
            self.assertRegex(output, rf"\b{ROUNDS} iters in")

    def test_rc(self) -> None:
        self.check("rc")

    def test_rc_with_events(self) -> None:
        self.check("rc", "-e", "-s", 65536)

    def test_rc_with_grh(self) -> None:
        self.check("rc", "-g", 0, "-m", 2048)

    def test_srq(self) -> None:
        self.exchange("ibv_srq_pingpong", "-c", "-n", ROUNDS, "-q", 4)

    def test_uc(self) -> None:
        self.check("uc")

    def test_ud(self) -> None:
        self.check("ud", "-s", 2048)


class Perftest(ProgramTest):
    """Tests each operation. Figures are not checked."""

    def check(self, program: str, *options: str | int) -> None:
        _, client = self.exchange(program, "-F", "-n", ROUNDS, *options)
        for row in rdma.perftest_rows(client):
            self.assertEqual(int(row[1]) % ROUNDS, 0, row)

    def test_sends(self) -> None:
        self.check("ib_send_bw", "-s", 4096)

    def test_sends_to_srq(self) -> None:
        self.check("ib_send_bw", "--use-srq", "-r", 64)

    def test_sends_with_inline_data(self) -> None:
        self.check("ib_send_lat", "-s", 64, "-I", 64)

    def test_writes(self) -> None:
        self.check("ib_write_bw", "-q", 4)

    def test_reads(self) -> None:
        self.check("ib_read_bw")

    def test_atomics(self) -> None:
        self.check("ib_atomic_bw")
        self.check("ib_atomic_lat", "-A", "CMP_AND_SWAP")


class ConnectionManager(ProgramTest):
    """Tests programs that connect through the RDMA connection manager over IPoIB."""

    @classmethod
    def setUpClass(cls) -> None:
        rdma.run("modprobe", "rdma_ucm")
        for number, port in enumerate(rdma.ports(), 1):
            interface = port.interface
            rdma.run("ip", "address", "replace", f"192.0.2.{number}/24", "dev", interface)
            rdma.run("ip", "link", "set", interface, "up")
            rdma.until(lambda name=interface: "LOWER_UP" in rdma.run("ip", "link", "show", name), "the link is up")

    def check(self, server_words: list[str | int], client_words: list[str | int]) -> None:
        with rdma.background(*server_words) as server:
            rdma.until(lambda: "LISTEN" in rdma.run("rdma", "resource", "show", "cm_id"), "the server listens")
            rdma.run_client(*client_words)
            rdma.finish(server)

    def test_rping(self) -> None:
        common: list[str | int] = ["rping", "-a", "192.0.2.1", "-C", ROUNDS, "-V"]
        self.check([*common, "-s"], [*common, "-c"])

    def test_ucmatose(self) -> None:
        common: list[str | int] = ["ucmatose", "-c", 8, "-C", 10]
        self.check(common, [*common, "-s", "192.0.2.1"])


class Killed(ProgramTest):
    """A killed program leaves no object, whatever it was doing."""

    def test_program_killed_during_traffic(self) -> None:
        with self.writers() as programs:
            for program in programs:
                program.kill()

    def test_program_killed_creating_objects(self) -> None:
        for delay in (0.05, 0.1, 0.2, 0.4):
            child = subprocess.Popen(["ibv_rc_pingpong", "-d", self.first.device], stdout=subprocess.DEVNULL)
            time.sleep(delay)
            child.kill()
            child.wait()


class Removed(ProgramTest):
    """Removes a device while programs have it open, map its doorbells and send, and while the driver has its own
    objects."""

    def setUp(self) -> None:
        make_queue_of_the_driver(rdma.ports()[0].device)
        super().setUp()
        self.hca = (pathlib.Path("/sys/class/infiniband") / self.first.device / "device").resolve()

    def take_away(self) -> None:
        guest.unbind(self.hca)
        self.assertNotIn(self.first.device, rdma.devices())

    def give_back(self) -> None:
        self.assertEqual(guest.bind_error(self.hca), "")
        rdma.until(lambda: len(rdma.ports()) == 2, "the device is back")
        rdma.until(lambda: all(port.state == "ACTIVE" for port in rdma.ports()), "its port is active")
        make_queue_of_the_driver(self.first.device)

    def test_device_removed_during_traffic(self) -> None:
        with self.writers() as programs:
            self.take_away()
            for program in programs:
                program.kill()
        self.give_back()

    def test_open_context_gets_eio(self) -> None:
        device = raw_verbs.Device(self.first.device)
        self.addCleanup(device.close)
        device.make_basics()
        cq = device.create_cq()
        clock = device.map(raw_verbs.CLOCK_INFO_PAGE)
        self.addCleanup(clock.close)
        self.take_away()
        for act in (device.create_cq, lambda: device.create_qp(cq), lambda: device.map(raw_verbs.CLOCK_PAGE)):
            with self.assertRaises(OSError) as caught:
                act()
            self.assertEqual(caught.exception.errno, errno.EIO)
        self.give_back()


def tasks() -> int:
    """Number of tasks that use kernel memory, including exited ones."""
    for line in pathlib.Path("/proc/slabinfo").read_text().splitlines():
        name, active = line.split()[:2]
        if name == "task_struct":
            return int(active)
    raise AssertionError("this kernel does not count its tasks")


def in_a_program_of_its_own(action: Callable[[], None]) -> None:
    """Runs an action in a child and expects no exception."""
    child = os.fork()
    if not child:
        try:
            action()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        raise AssertionError("a program has failed")


class Refused(ProgramTest):
    """Tests a context with an unknown flag. libmlx5 uses such attempts to open a device."""

    PROGRAMS = 300
    REQUEST = struct.pack("<IIIIB3xIQ", 16, 4, 1 << 31, 0, 1, 0, 3)

    def be_refused(self) -> None:
        device = raw_verbs.Device(self.first.device)
        try:
            device.open_context_by_ioctl(self.REQUEST)
        except OSError as error:
            if error.errno == errno.EOPNOTSUPP:
                return
            raise
        raise AssertionError("such a context was created")

    def test_refused_context_leaks_no_task(self) -> None:
        before = tasks()
        for _ in range(self.PROGRAMS):
            in_a_program_of_its_own(self.be_refused)
        if os.environ["LAB_KERNEL"] == "debug":
            return  # the debug kernel keeps freed memory for a while, and looks for leaks
        # The number of kernel tasks varies.
        rdma.until(lambda: tasks() < before + self.PROGRAMS // 3, "the tasks of the programs are gone")


class DeviceMemory(ProgramTest):
    """Tests device memory (MEMIC)."""

    SIZE = 4096

    def test_allocated_memory_shows_nothing_of_last_owner(self) -> None:
        with Context(name=self.first.device) as context:
            with DM(context, AllocDmAttr(length=self.SIZE)) as memory:
                memory.copy_to_dm(0, b"\xa5" * self.SIZE, self.SIZE)
            with DM(context, AllocDmAttr(length=self.SIZE)) as memory:
                self.assertEqual(memory.copy_from_dm(0, self.SIZE), bytes(self.SIZE))


class PinnedMemory(ProgramTest):
    """Tests that memory pinned for a device is charged to the process and limited."""

    def test_program_beyond_memlock_refused(self) -> None:
        command = f"ulimit -l 64; exec setpriv --reuid=65534 --regid=nogroup --clear-groups --bounding-set=-all " \
                  f"ibv_rc_pingpong -d {self.first.device} -s 1000000"
        for device in pathlib.Path("/dev/infiniband").glob("uverbs*"):
            device.chmod(0o666)
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=rdma.PATIENCE)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Couldn't register MR", done.stderr)
