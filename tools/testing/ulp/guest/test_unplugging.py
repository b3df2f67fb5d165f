# SPDX-License-Identifier: GPL-2.0-or-later
"""Pulls the client's HCA from its slot in the middle of I/O and plugs it in again.

These tests come after test_unloading.py in their guest, hence the name of the file: they leave an iSER session that holds its
module.
"""

import contextlib

import disks
import iser
import removable
from load import Faulty
from machines import FAULTS_ALL, POLLING
from test_faults import ClientsHca

GUESTS = [FAULTS_ALL, *POLLING]


@removable.PCI_ONLY
class Replugging(ClientsHca, Faulty):
    def fault(self) -> None:
        self.hca.is_pulled_and_plugged_in_again()

    def test_iser_without_hca_resumes(self) -> None:
        """The session reconnects over the HCA that is plugged in, but can no longer be ended."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(iser.target(disks.in_memory(1)))
            stack.callback(iser.end_sessions)
            path = stack.enter_context(iser.lasting_connection())
            self.check_load(path, self.go_and_come_back, resumes=True)
            disks.verify(path, "64k")
