# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests an SRP disk with paths over two HCAs: I/O continues when one HCA or its cable is pulled, and uses the path
again when it is back."""


import disks
import multipath
import rdma
import removable
import srp
import ulp
import wire
from control import control
from load import Faulty, writes
from machines import GOES, GOES_ALL

GUESTS = [GOES.with_tests("TwoHcas.test_one_hca_pulled_and_plugged_io_continues"), GOES_ALL]


@ulp.IB_ONLY
class TwoHcas(Faulty):
    def setUp(self) -> None:
        self.hcas = [removable.Hca(number) for number in (1, 2)]
        guids = [srp.gid(hca.device)[16:] for hca in self.hcas]
        self.enterContext(srp.target(disks.in_memory(2), *guids))
        self.gid = srp.gid(wire.ends()[0].device)
        self.addCleanup(srp.end_all)
        self.paths = {hca.number: self.log_in(hca) for hca in self.hcas}
        self.disk = self.enterContext(multipath.device(list(self.paths.values())))

    def log_in(self, hca: removable.Hca) -> str:
        disk = srp.log_in(self.gid, hca.device)
        srp.never_reconnect()
        return disk

    def test_both_paths_carry_requests(self) -> None:
        before = self.requests()
        disks.verify(self.disk, "16k")
        self.assertTrue(all(now > then for now, then in zip(self.requests(), before, strict=True)))

    def requests(self) -> list[int]:
        return [int((disks.BLOCKS / path.removeprefix("/dev/") / "stat").read_text().split()[4])
                for path in self.paths.values()]

    def test_one_hca_pulled_and_plugged_io_continues(self) -> None:
        for hca in self.hcas:
            with self.subTest(hca.device):
                load = writes(self.disk)
                hca.is_pulled_and_plugged_in_again()
                # The next request detects the failed path.
                rdma.until(lambda: multipath.states().count("A") == 1, "the requests of one path fail")
                status, output = load.end()
                self.assertEqual(status, 0, output)
                removable.come_back(hca)
                self.paths[hca.number] = self.log_in(hca)
                multipath.use(list(self.paths.values()))
                self.test_both_paths_carry_requests()

    def test_one_cable_pulled_and_plugged_io_continues(self) -> None:
        srp.reconnect_every(seconds=5)
        for hca in self.hcas:
            with self.subTest(hca.device):
                load = writes(self.disk)
                control("link", "down", f"@hca{hca.number}")
                rdma.until(lambda: multipath.states().count("A") == 1, "the requests of one path fail")
                control("link", "up", f"@hca{hca.number}")
                status, output = load.end()
                self.assertEqual(status, 0, output)
                srp.await_sessions()
                multipath.reinstate(self.paths[hca.number])
                self.test_both_paths_carry_requests()
