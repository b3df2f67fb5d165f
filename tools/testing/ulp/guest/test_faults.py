# SPDX-License-Identifier: GPL-2.0-or-later
"""Removes an HCA or a target in the middle of I/O and returns it.

I/O ends with an error or continues, as the protocol specifies. Nothing hangs, and a new connection transfers correct
data. The modules must be unused at the end: a leaked reference would make unloading fail.
"""

import time

import disks
import iser
import nfs
import nvme
import rdma
import rds
import removable
import srp
import test_rds
import ulp
import wire
from load import Faulty, Load, iser_disk, nfs_file, nvme_disk, rds_streams, srp_disk, tcp_stream
from machines import FAULTS_ALL, GOES, POLLING

GUESTS = [GOES.with_tests("Target.test_rds"), FAULTS_ALL, *POLLING]


class ClientsHca:
    """The client's HCA is removed; a subclass selects how. The target stays."""

    def setUp(self) -> None:
        self.hca = removable.hca(1)

    def fault(self) -> None:
        raise NotImplementedError

    def go_and_come_back(self) -> None:
        self.fault()
        removable.come_back(self.hca)

    def test_nvme_without_hca_ends(self) -> None:
        with nvme.target(disks.in_memory(0)):
            self.check_disk(nvme_disk, self.go_and_come_back, resumes=False)

    def test_iser_without_hca_resumes(self) -> None:
        with iser.target(disks.in_memory(1)):
            self.check_disk(iser_disk, self.go_and_come_back, resumes=True)

    def test_srp_without_hca_ends(self) -> None:
        with srp.target(disks.in_memory(2), wire.client_guid()):
            gid = srp.gid(wire.ends()[0].device)
            self.check_disk(lambda: srp_disk(gid), self.go_and_come_back, resumes=False)

    def test_nfs_without_hca_resumes(self) -> None:
        with nfs.server(disks.in_memory(3)):
            self.check_disk(nfs_file, self.go_and_come_back, resumes=True)

    def test_rds_without_hca_resumes(self) -> None:
        with test_rds.serve():
            load = rds_streams(500)
            self.go_and_come_back()
            status, output = load.end()
            self.assertEqual(status, 0, output)

    @ulp.IB_ONLY
    def test_tcp_over_ipoib_without_hca_resumes(self) -> None:
        with tcp_stream("8M") as load:
            self.go_and_come_back()
            status, output = load.end()
            self.assertEqual(status, 0, output)


@removable.PCI_ONLY
class FatalFault(ClientsHca, Faulty):
    def fault(self) -> None:
        self.hca.reports_a_fatal_fault()


class Rebinding(ClientsHca, Faulty):
    def fault(self) -> None:
        self.hca.driver_lets_it_go_and_takes_it_again()


class Target(Faulty):
    """The target is killed and returns with the same disk: I/O continues, and the written data are correct."""

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
            self.check_disk(iser_disk, kill, resumes=True)

    def test_srp(self) -> None:
        gid = srp.gid(wire.ends()[0].device)
        group = srp.FABRIC / f"0x{gid}" / f"0x{gid}"

        def kill() -> None:
            disks.write(group / "enable", 0)
            time.sleep(2)
            disks.write(group / "enable", 1)

        with srp.target(disks.in_memory(2), wire.client_guid()):
            self.check_disk(lambda: srp.connection(gid), kill, resumes=True)

    def test_nfs(self) -> None:
        def kill() -> None:
            rdma.run("rpc.nfsd", 0)
            time.sleep(2)
            nfs.start_threads()

        with nfs.server(disks.in_memory(3)):
            self.check_disk(nfs_file, kill, resumes=True)

    def test_rds(self) -> None:
        # RDS guarantees delivery to a port, not to a program: messages to the ended program are lost.
        exercise = ("rds_exercise", "stream", "--local", wire.CLIENT, "--remote", wire.SERVER, "--size", 4096)
        with test_rds.serve() as server:
            load = Load(*exercise, "--count", 500, "--time-limit", 10)
            server.kill()
            # The failure must come first: the end file would end the load if a pass had just succeeded.
            rdma.until(lambda: load.child.poll() is not None, "the program notices that its server is gone")
            status, output = load.end()
            self.assertEqual(status, 1, output)
        with test_rds.serve():
            rdma.run(*exercise, "--count", 500, "--time-limit", rds.PATIENCE)
