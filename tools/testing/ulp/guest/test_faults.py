# SPDX-License-Identifier: GPL-2.0-or-later
"""An HCA or a target goes away in the middle of I/O and comes back.

I/O ends with an error, or goes on, as the protocol promises; nothing hangs, and a new connection moves right data.
What comes out wrong in the end would be seen by whoever unloads the modules, which nobody may use any more.
"""

import contextlib
import pathlib
import subprocess
import tempfile
import time
import unittest
from collections.abc import Callable, Iterator

import disks
import iser
import nfs
import nvme
import rdma
import removable
import srp
import test_rds
import ulp
import wire

CLIENT_MODULES = ("nvme_rdma", "ib_srp", "ib_iser")
TARGET_MODULES = ("nvmet_rdma", "ib_srpt", "ib_isert", "rpcrdma", "rds_rdma", "rds")
SECONDS = 30 if ulp.WHOLE else 8


REPEATING = 'while [ ! -e "$0" ]; do "$@" || exit; done'


class Load:
    """Something that runs again and again, until it fails or is told to end, while something else happens."""

    def __init__(self, *command: str | int) -> None:
        self.command = [str(word) for word in command]
        self.told = pathlib.Path(tempfile.mkdtemp()) / "end"
        self.child = subprocess.Popen(["bash", "-c", REPEATING, self.told, *self.command], stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True)
        time.sleep(2)
        if self.child.poll() is not None:
            raise AssertionError(f"{self.command} has ended too early: {self.child.stdout.read()}")

    def end(self) -> tuple[int, str]:
        """Waits for the end, which has to come; its status and what it has printed."""
        self.told.touch()
        try:
            output, _ = self.child.communicate(timeout=removable.PATIENCE)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"{self.command} has not ended after {removable.PATIENCE} s") from error
        return self.child.returncode, output


def writes(path: str) -> Load:
    """What is written is compared. A disk that has gone is not replaced by a file of its name."""
    may_create = int(not path.startswith("/dev/"))
    return Load("fio", "--name=load", f"--filename={path}", "--rw=randwrite", "--bs=16k", "--iodepth=8", "--size=8m",
                "--direct=1", "--ioengine=libaio", "--verify=crc32c", "--verify_state_save=0",
                f"--allow_file_create={may_create}")


class Faulty(unittest.TestCase):
    """What the faults have in common: a hang shows as a test that does not end, a leak when modules are unloaded."""

    @classmethod
    def setUpClass(cls) -> None:
        wire.ends()
        cls.addClassCleanup(disks.unload, *CLIENT_MODULES, *TARGET_MODULES)

    def check_disk(self, connect: Callable[[], contextlib.AbstractContextManager[str]], fault: Callable[[], None], *,
                   resumes: bool) -> None:
        with connect() as path:
            load = writes(path)
            fault()
            status, output = load.end()
            self.assertEqual(status == 0, resumes, output)
        with connect() as path:
            disks.verify(path, "64k")


@contextlib.contextmanager
def iser_connection() -> Iterator[str]:
    with iser.connection() as found:
        yield found[0]


@contextlib.contextmanager
def nvme_disk() -> Iterator[str]:
    """A target that still knows the connection before refuses the first one after it."""
    with contextlib.ExitStack() as stack:
        for attempts_left in reversed(range(10)):
            try:
                disk = stack.enter_context(nvme.connection())
            except AssertionError:
                if not attempts_left:
                    raise
                time.sleep(1)
            else:
                break
        yield disk


@contextlib.contextmanager
def srp_disk(gid: str) -> Iterator[str]:
    with srp.native_connection(gid) as disk:
        srp.never_reconnect()
        yield disk


@contextlib.contextmanager
def nfs_file() -> Iterator[str]:
    with nfs.mounted() as files:
        yield str(files.directory / "written")


class ClientsHca:
    """The client's HCA goes; a subclass says how. The target stays."""

    def setUp(self) -> None:
        self.hca = removable.Hca(1)

    def fault(self) -> None:
        raise NotImplementedError

    def go_and_come_back(self) -> None:
        self.fault()
        removable.come_back(self.hca)

    def test_nvme_ends_with_its_hca(self) -> None:
        with nvme.target(disks.in_memory(0)):
            self.check_disk(nvme_disk, self.go_and_come_back, resumes=False)

    def test_iser_logs_in_again_and_goes_on(self) -> None:
        with iser.target(disks.in_memory(1)):
            self.check_disk(iser_connection, self.go_and_come_back, resumes=True)

    def test_srp_ends_with_its_hca(self) -> None:
        with srp.target(disks.in_memory(2), wire.client_guid()):
            gid = srp.gid(wire.ends()[0].device)
            self.check_disk(lambda: srp_disk(gid), self.go_and_come_back, resumes=False)

    def test_nfs_connects_again_and_goes_on(self) -> None:
        with nfs.server(disks.in_memory(3)):
            self.check_disk(nfs_file, self.go_and_come_back, resumes=True)

    def test_rds_connects_again_and_delivers_everything(self) -> None:
        with test_rds.serve():
            load = Load("rds_exercise", "stream", "--local", wire.CLIENT, "--remote", wire.SERVER,
                        "--count", 500, "--size", 4096, "--time-limit", removable.PATIENCE)
            self.go_and_come_back()
            status, output = load.end()
            self.assertEqual(status, 0, output)

    def test_tcp_over_ipoib_goes_on(self) -> None:
        with rdma.background("iperf3", "-s", "-B", wire.SERVER):
            time.sleep(1)
            load = Load("iperf3", "-c", wire.SERVER, "-B", wire.CLIENT, "-t", SECONDS)
            # One connection is enough: another one could not be made without the address.
            load.told.touch()
            self.go_and_come_back()
            status, output = load.end()
            self.assertEqual(status, 0, output)


class FatalFault(ClientsHca, Faulty):
    def fault(self) -> None:
        self.hca.reports_a_fatal_fault()


class Rebinding(ClientsHca, Faulty):
    def fault(self) -> None:
        self.hca.driver_lets_it_go_and_takes_it_again()


class Replugging(ClientsHca, Faulty):
    def fault(self) -> None:
        self.hca.is_pulled_and_plugged_in_again()


class Target(Faulty):
    """The target is killed and comes back with the same disk: I/O goes on, what was written is right."""

    def test_nvme(self) -> None:
        link = nvme.CONFIG / "ports/1/subsystems" / nvme.SUBSYSTEM

        def kill() -> None:
            link.unlink()
            time.sleep(2)
            link.symlink_to(nvme.CONFIG / "subsystems" / nvme.SUBSYSTEM)

        with nvme.target(disks.in_memory(0)):
            self.check_disk(lambda: nvme.connection(2, "--reconnect-delay=1"), kill, resumes=True)

    def test_iser(self) -> None:
        group = iser.FABRIC / iser.TARGET / "tpgt_1"

        def kill() -> None:
            disks.write(group / "enable", 0)
            time.sleep(2)
            disks.write(group / "enable", 1)

        with iser.target(disks.in_memory(1)):
            self.check_disk(iser_connection, kill, resumes=True)

    def test_srp(self) -> None:
        gid = srp.gid(wire.ends()[0].device)
        group = srp.FABRIC / f"0x{gid}" / f"0x{gid}"

        def kill() -> None:
            disks.write(group / "enable", 0)
            time.sleep(2)
            disks.write(group / "enable", 1)

        with srp.target(disks.in_memory(2), wire.client_guid()):
            self.check_disk(lambda: srp.native_connection(gid), kill, resumes=True)

    def test_nfs(self) -> None:
        def kill() -> None:
            rdma.run("rpc.nfsd", 0)
            time.sleep(2)
            nfs.start_threads()

        with nfs.server(disks.in_memory(3)):
            self.check_disk(nfs_file, kill, resumes=True)


if __name__ == "__main__":
    unittest.main()
