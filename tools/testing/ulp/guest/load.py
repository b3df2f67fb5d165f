# SPDX-License-Identifier: GPL-2.0-or-later
"""Load that runs during a fault, and the disks and files of each protocol."""

import contextlib
import pathlib
import subprocess
import tempfile
import time
import unittest
from collections.abc import Callable, Iterator

import disks
import guest
import iser
import nfs
import nvme
import polling
import rdma
import rds
import removable
import srp
import wire

CLIENT_MODULES = ("nvme_rdma", "ib_srp", "ib_iser")
TARGET_MODULES = ("nvmet_rdma", "ib_srpt", "ib_isert", "rpcrdma", "rds_rdma", "rds")
IPERF_PORT = 5201
LOADS = 3  # maximum number of attempts, until ib_iser loses no command of the load


REPEATING = 'while [ ! -e "$0/end" ]; do "$@" > "$0/output" 2>&1 || exit; echo >> "$0/passes"; done'


class Load:
    """Repeats a command until it fails or the file "end" exists, while the test continues; or runs it once.

    The output of the last pass goes to a file: the command would block on a pipe that the test does not read.
    """

    def __init__(self, *command: str | int, once: bool = False) -> None:
        self.command = [str(word) for word in command]
        self.directory = pathlib.Path(tempfile.mkdtemp())
        repeating = [] if once else ["bash", "-c", REPEATING, self.directory]
        with (self.directory / "output").open("w") as output:
            self.child = subprocess.Popen([*repeating, *self.command], stdout=output, stderr=subprocess.STDOUT)
        if once:
            return
        time.sleep(2)
        if self.child.poll() is not None:
            raise AssertionError(f"{self.command} has ended too early: {self.output()}")

    def output(self) -> str:
        """Output of the last pass."""
        return (self.directory / "output").read_text(errors="replace")

    def passes(self) -> int:
        """Number of successful passes."""
        counted = self.directory / "passes"
        return counted.stat().st_size if counted.exists() else 0

    def end(self) -> tuple[int, str]:
        """Waits for the end of the current pass; returns status and output."""
        (self.directory / "end").touch()
        try:
            status = self.child.wait(timeout=removable.PATIENCE)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"{self.command} has not ended after {removable.PATIENCE} s: {self.output()}") from error
        return status, self.output()


ATTEMPTS = """while :; do
    output=$("$@" 2>&1); status=$?
    case $output in *"$0"*) sleep 0.2 ;; *) echo "$output"; exit $status ;; esac
done"""


def retried(message: str, *command: str | int) -> Load:
    """A load that is restarted after a pass with this message."""
    return Load("bash", "-c", ATTEMPTS, message, *command)


def rds_streams(count: int) -> Load:
    """Sends RDS streams one after another; the server verifies them."""
    # A program cannot bind to an address that has disappeared with the HCA. The test is not about such programs.
    return retried("cannot bind to", "rds_exercise", "stream", "--local", wire.CLIENT, "--remote", wire.SERVER,
                   "--count", count, "--size", 4096, "--time-limit", removable.PATIENCE)


def _tcp_connections() -> int:
    return len(rdma.run("ss", "-tnH", "state", "established", "src", wire.CLIENT).splitlines())


def _connected_stream(amount: str) -> Load | None:
    """Starts a stream; returns None if it ends before its control and data connections have been seen."""
    # The server waits for an amount of data, but not for a duration.
    load = Load("iperf3", "-p", IPERF_PORT, "-c", wire.SERVER, "-B", wire.CLIENT, "-n", amount, "-b", amount, once=True)
    rdma.until(lambda: _tcp_connections() >= 2 or load.child.poll() is not None, "iperf3 has connected")
    if load.child.poll() is None:
        return load
    status, output = load.end()
    if status:
        raise AssertionError(f"iperf3 has ended with {status}: {output}")
    return None


@contextlib.contextmanager
def tcp_stream(amount: str) -> Iterator[Load]:
    """One stream over IPoIB for at least eight seconds. No new connection could be made without the address."""
    with rdma.background("iperf3", "-s", "-p", IPERF_PORT, "-B", wire.SERVER,
                         "--rcv-timeout", 1000 * removable.PATIENCE) as server:
        rdma.await_listener(IPERF_PORT, server)
        load = None
        while load is None:
            load = _connected_stream(amount)
        yield load


def writes(path: str) -> Load:
    """Writes data and compares them. A file must not replace a disk that has disappeared."""
    may_create = int(not path.startswith("/dev/"))
    return Load("fio", "--name=load", f"--filename={path}", "--rw=randwrite", "--bs=16k", "--iodepth=8",
                f"--size={'2m' if disks.IS_SLOW else '8m'}", "--direct=1", "--ioengine=libaio", "--verify=crc32c",
                "--verify_state_save=0", f"--allow_file_create={may_create}")


def unload() -> None:
    """Unloads the protocols' modules; fails if one is in use."""
    held = {"ib_iser"} if iser.LASTING else set()
    if not rds.unloading_waits():
        held |= {"rds_rdma", "rds"}
    disks.unload(*(module for module in (*CLIENT_MODULES, *TARGET_MODULES) if module not in held))


class Faulty(unittest.TestCase):
    """Base of the fault tests. A hang keeps a test from ending; a leak keeps a module from unloading."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.enterClassContext(polling.Polling())
        wire.ends()
        cls.addClassCleanup(unload)

    def check_disk(self, connect: Callable[[], contextlib.AbstractContextManager[str]], fault: Callable[[], None], *,
                   resumes: bool) -> None:
        with connect() as path:
            self.check_load(path, fault, resumes=resumes)
        with connect() as path:
            disks.verify(path, "64k")

    def check_load(self, path: str, fault: Callable[[], None], *, resumes: bool) -> None:
        """Injects a fault: the load must end with an error or continue. A load of which ib_iser has lost a command is
        repeated."""
        for _ in range(LOADS):
            with contextlib.closing(guest.LogTail()) as log:
                load = writes(path)
                fault()
                status, output = load.end()
                if not (resumes and status and iser.COMMAND_LOST.search(log.text())):
                    break
        self.assertEqual(status == 0, resumes, output)


@contextlib.contextmanager
def iser_disk(*settings: tuple[str, int]) -> Iterator[str]:
    with iser.connection(1, *settings) as found:
        yield found[0]


@contextlib.contextmanager
def nvme_disk(*options: str) -> Iterator[str]:
    """Connects repeatedly: a target refuses connections until it has noticed the end of the previous one."""
    with contextlib.ExitStack() as stack:
        found, errors = [], [""]

        def connects() -> bool:
            try:
                found.append(stack.enter_context(nvme.connection(2, *options)))
            except AssertionError as error:
                errors[0] = str(error)
            return bool(found)

        rdma.until(connects, "the target accepts a connection", evidence=lambda: errors[0])
        yield found[0]


@contextlib.contextmanager
def srp_disk(gid: str) -> Iterator[str]:
    with srp.connection(gid) as disk:
        srp.never_reconnect()
        yield disk


@contextlib.contextmanager
def nfs_file() -> Iterator[str]:
    with nfs.mounted() as files:
        yield str(files.directory / "written")
