# SPDX-License-Identifier: GPL-2.0-or-later
"""Powers the machine off while ULPs have connections with outstanding I/O.

This test has to be the last one of its guest, hence the name of the file: it closes nothing, and the run ends when the power
is off.
"""

import contextlib
import os
import signal
import traceback
import unittest

import disks
import iser
import nvme
import polling
import rdma
import test_rds
import wire
from load import iser_disk, nvme_disk, rds_streams, writes
from machines import GOES, POLLING, POLLING_DEBUG

GUESTS = [GOES, *POLLING, POLLING_DEBUG]
READY = b"ready"


def use_for_ever(writer: int) -> None:
    """Connects, writes, reports, and never disconnects."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(iser.target(disks.in_memory(0)))
        stack.enter_context(nvme.target(disks.in_memory(1)))
        stack.enter_context(test_rds.serve())
        paths = [stack.enter_context(iser_disk()), stack.enter_context(nvme_disk())]
        loads = [*(writes(path) for path in paths), rds_streams(1000)]
        os.write(writer, READY)
        signal.pause()
        for load in loads:
            load.end()


class InTheMiddle(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.enterClassContext(polling.Polling())

    def test_iser_nvme_and_rds_in_use_at_power_off(self) -> None:
        wire.ends()
        reader, writer = os.pipe()
        if os.fork() == 0:
            # The process must not close what it has opened, so it never ends.
            try:
                os.setsid()
                # The parent's reader of a pipe waits until all writers have closed it.
                os.closerange(3, writer)
                os.closerange(writer + 1, os.sysconf("SC_OPEN_MAX"))
                use_for_ever(writer)
            except BaseException:  # noqa: BLE001
                traceback.print_exc()
            os._exit(1)
        os.close(writer)
        self.assertEqual(os.read(reader, len(READY)), READY, "connections cannot be made")
        # fio may be between two passes.
        rdma.until(lambda: rdma.succeeds("pidof", "fio"), "there is I/O")
