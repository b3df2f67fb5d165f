# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs all protocols at the same time with verified data for ULP_SOAK seconds; the debug kernel must report nothing.
With ULP_POLLING=random:SEED the polling contexts of their CQs change during the test.

RDS runs last and alone, for a quarter of the time: its first connection takes two locks in the wrong order, and lockdep
turns itself off after that report.
"""

import contextlib
import os
import pathlib
import time

import disks
import dma_checker
import iser
import nfs
import nvme
import rdma
import srp
import test_rds
import wire
from load import Faulty, Load, iser_disk, nfs_file, nvme_disk, rds_streams, retried, srp_disk, writes
from machines import SOAK

GUEST = SOAK
SECONDS = int(os.environ.get("ULP_SOAK", "60"))
LOCKDEP = pathlib.Path("/proc/lockdep_stats")
RDS_MESSAGES = 200
"""Of one pass."""
PATIENCE = 3600
"""Seconds that a protocol waits for an answer: where processors are busy it takes longer than the 5 to 60 s of their defaults,
after which a protocol connects anew, and fails at last."""
NVME_OPTIONS = ("--keep-alive-tmo", str(PATIENCE))
NVME_TIMEOUTS = ("io_timeout", "admin_timeout")
ISER_SETTINGS = (("node.conn[0].timeo.noop_out_interval", 0), ("node.conn[0].timeo.noop_out_timeout", 0),
                 ("node.session.timeo.replacement_timeout", PATIENCE))
"""No pings."""


def ip_stream() -> Load:
    # On a busy machine the iperf3 server ends a stream that takes too long, or refuses a stream because the last one
    # has not ended. The load is restarted until it succeeds, as the test waits for the end of a pass.
    return retried("iperf3: error", "iperf3", "-c", wire.SERVER, "-B", wire.CLIENT, "-n", "1M", "-b", "4M")


def set_nvme_timeouts() -> None:
    rdma.run("modprobe", "nvme_core")
    for name in NVME_TIMEOUTS:
        disks.write(pathlib.Path("/sys/module/nvme_core/parameters") / name, PATIENCE)


def set_command_timeout(disk: str) -> None:
    """Sets the command time-out of a SCSI disk."""
    disks.write(pathlib.Path("/sys/block") / pathlib.Path(disk).name / "device/timeout", PATIENCE)


class Soak(Faulty):
    @classmethod
    def setUpClass(cls) -> None:
        # The host's CQEs share cache lines, each of which the DMA checker reports. At its end, RDS unmaps message
        # headers in another direction than it has mapped them.
        cls.enterClassContext(dma_checker.limited())
        super().setUpClass()

    def start(self, stack: contextlib.ExitStack) -> dict[str, Load]:
        gid = srp.gid(wire.ends()[0].device)
        for server in (nvme.target(disks.in_memory(0)), iser.target(disks.in_memory(1)),
                       srp.target(disks.in_memory(2), wire.client_guid()), nfs.server(disks.in_memory(3)),
                       # The test does not read the output for each stream.
                       rdma.background("iperf3", "-s", "-B", wire.SERVER, "--logfile", "/dev/null")):
            stack.enter_context(server)
        time.sleep(1)
        set_nvme_timeouts()
        # All connections are made before any load starts, as each has time limits; the one with the most mkeys comes
        # first.
        paths = {"iser": iser_disk(*ISER_SETTINGS), "srp": srp_disk(gid), "nvme": nvme_disk(*NVME_OPTIONS), "nfs": nfs_file()}
        connected = {name: stack.enter_context(path) for name, path in paths.items()}
        for name in ("iser", "srp"):
            set_command_timeout(connected[name])
        loads = {name: writes(path) for name, path in connected.items()}
        return {**loads, "ipoib": ip_stream()}

    def keep(self, loads: dict[str, Load], seconds: float) -> None:
        """Keeps the loads running for some seconds, then ends them."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and all(load.child.poll() is None for load in loads.values()):
            time.sleep(1)
        for name, load in loads.items():
            with self.subTest(protocol=name):
                status, output = load.end()
                self.assertEqual(status, 0, output)
        print(f"passes: {', '.join(f'{name} {load.passes()}' for name, load in loads.items())}", flush=True)

    def check_locks_checked(self) -> None:
        """Asserts that lockdep is still on, if the kernel has it: a report would have turned it off."""
        if LOCKDEP.exists():
            self.assertRegex(LOCKDEP.read_text(), r"(?m)^ debug_locks: +1$")

    def test_protocols_at_once_verified(self) -> None:
        self.check_locks_checked()
        with contextlib.ExitStack() as stack:
            self.keep(self.start(stack), SECONDS)
        self.check_locks_checked()

    def test_protocols_with_rds_at_once_verified(self) -> None:
        with contextlib.ExitStack() as stack:
            stack.enter_context(test_rds.serve())
            loads = self.start(stack)
            self.keep({**loads, "rds": rds_streams(RDS_MESSAGES)}, SECONDS / 4)
