# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests all protocols in a short form, for the slow debug kernel.

The client's HCA reports a fatal error in the middle of I/O. Afterwards a new connection transfers verified data, and
the client's module is unloaded, during the connection if the connection does not hold the module.
"""

import contextlib
import hashlib
import random
import socket
import threading
from collections.abc import Callable

import disks
import dma_checker
import iser
import nfs
import nvme
import rdma
import rds
import removable
import srp
import test_rds
import wire
from load import Faulty, iser_disk, nfs_file, nvme_disk, rds_streams, srp_disk, tcp_stream
from machines import POLLING_DEBUG
from test_unloading import end_and_rmmod, rmmod, suppressed

GUEST = POLLING_DEBUG
PORT = 18701
AMOUNT = 1 << 20


class Short(Faulty):
    def setUp(self) -> None:
        self.hca = removable.hca(1)

    def fault(self) -> None:
        self.hca.reports_a_fatal_fault()
        removable.come_back(self.hca)

    def check(self, connect: Callable[[], contextlib.AbstractContextManager[str]], module: str, *, resumes: bool,
              is_held: bool = False) -> None:
        self.check_disk(connect, self.fault, resumes=resumes)
        with contextlib.ExitStack() as connected:
            disks.verify(connected.enter_context(suppressed(connect())), "16k", size="1m")
            end_and_rmmod(connected if is_held else None, module)


class Nvme(Short):
    def test_fatal_fault_and_unload_survived(self) -> None:
        # The host's CQEs share cache lines, each of which the DMA checker reports.
        with dma_checker.limited(), nvme.target(disks.in_memory(0)):
            self.check(nvme_disk, "nvme_rdma", resumes=False)


class Iser(Short):
    def test_fatal_fault_and_unload_survived(self) -> None:
        with iser.target(disks.in_memory(1)):
            self.check(iser_disk, "ib_iser", resumes=True, is_held=True)


class Srp(Short):
    def test_fatal_fault_and_unload_survived(self) -> None:
        gid = srp.gid(wire.ends()[0].device)
        with srp.target(disks.in_memory(2), wire.client_guid()):
            self.check(lambda: srp_disk(gid), "ib_srp", resumes=False)


class Nfs(Short):
    def test_fatal_fault_and_unload_survived(self) -> None:
        # Both ends use the same module, which a server holds.
        with nfs.server(disks.in_memory(3)):
            self.check_disk(nfs_file, self.fault, resumes=True)
        rmmod("rpcrdma")


class Rds(Short):
    EXERCISE = ("rds_exercise", "stream", "--local", wire.CLIENT, "--remote", wire.SERVER, "--size", 4096,
                "--time-limit", rds.PATIENCE)

    def test_fatal_fault_and_unload_survived(self) -> None:
        with test_rds.serve():
            load = rds_streams(200)
            self.fault()
            status, output = load.end()
            self.assertEqual(status, 0, output)
            rdma.run(*self.EXERCISE, "--count", 200)
        # The connection outlives the programs that have used it.
        if rds.unloading_waits():
            rmmod("rds_rdma")


class Ipoib(Short):
    def test_fatal_fault_and_unload_survived(self) -> None:
        with tcp_stream("4M") as load:
            self.fault()
            status, output = load.end()
            self.assertEqual(status, 0, output)
        data = random.Random(1).randbytes(AMOUNT)  # noqa: S311
        self.assertEqual(self.received(data), hashlib.sha256(data).digest())
        with rdma.background("ping", "-q", "-i", "0.02", "-I", wire.CLIENT, wire.SERVER):
            rmmod("ib_ipoib")
        rdma.run("modprobe", "ib_ipoib")
        removable.come_back(removable.hca(0), self.hca)

    @staticmethod
    def received(data: bytes) -> bytes:
        """Sends data over TCP; returns the digest of what arrives."""
        def send() -> None:
            with socket.create_connection((wire.SERVER, PORT), rdma.PATIENCE, (wire.CLIENT, 0)) as sender:
                sender.sendall(data)

        with socket.create_server((wire.SERVER, PORT)) as listener:
            listener.settimeout(rdma.PATIENCE)
            sending = threading.Thread(target=send)
            sending.start()
            with listener.accept()[0] as receiver, receiver.makefile("rb") as file:
                digest = hashlib.sha256(file.read()).digest()
            sending.join()
        return digest
