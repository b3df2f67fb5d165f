# SPDX-License-Identifier: GPL-2.0-or-later
"""An HCA of this guest that an administrator, the slot or firmware removes and returns.

A link of rdma_rxe is not a PCI device: it can be deleted and added, but it cannot be pulled and cannot report a fatal
error.
"""

import os
import pathlib
import unittest

import disks
import rdma
import wire
from control import control

PATIENCE = 300
PCI = pathlib.Path("/sys/bus/pci")
MODULE, REPORTER = {"mlx5": ("mlx5_core", "fw_fatal")}.get(os.environ["ULP_DRIVER"], ("cxib", "device"))
MODULES = {"mlx5": ("mlx5_ib", "mlx5_core"), "rxe": ("rdma_rxe",)}.get(os.environ["ULP_DRIVER"], ("cxib",))
PCI_ONLY = unittest.skipIf(wire.RXE, "a link of rdma_rxe is no PCI device")


def unload() -> None:
    """Unloads the driver even if its devices are in use."""
    for module in MODULES:
        rdma.run("rmmod", module)


def load() -> None:
    """Loads the driver that was loaded when the guest started."""
    if MODULES == ("cxib",):
        rdma.run("insmod", f"/repo/build/modules-{os.environ['LAB_KERNEL']}/cxib.ko")
    else:
        rdma.run("modprobe", "-a", *MODULES)


class Hca:
    """An HCA. The emulator numbers HCAs in the order of their devices; the first two are the ends of the wire."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.device = rdma.devices()[number]
        self.name = (rdma.CLASS / self.device / "device").resolve().name

    @property
    def directory(self) -> pathlib.Path:
        return PCI / "devices" / self.name

    def is_active(self) -> bool:
        try:
            return "ACTIVE" in next(self.directory.glob("infiniband/*/ports/1/state")).read_text()
        except (StopIteration, OSError):
            return False

    def registration(self) -> int:
        """A value that changes with each registered RDMA device."""
        try:
            return next(self.directory.glob("infiniband/*")).stat().st_ino
        except (StopIteration, OSError):
            return 0

    def unbind(self) -> None:
        disks.write(PCI / "drivers" / MODULE / "unbind", self.name)

    def bind(self) -> None:
        disks.write(self.directory / "driver_override", MODULE)
        disks.write(PCI / "drivers_probe", self.name)

    def driver_lets_it_go_and_takes_it_again(self) -> None:
        self.unbind()
        self.bind()

    def is_pulled_and_plugged_in_again(self) -> None:
        disks.write(self.directory / "remove", 1)
        disks.write(PCI / "rescan", 1)
        rdma.until(self.directory.exists, "the device is there again")
        self.bind()

    def recovers_each_time(self) -> None:
        """Makes the reporter recover the device even after a recent failure."""
        rdma.run("devlink", "health", "set", f"pci/{self.name}", "reporter", REPORTER, "grace_period", 0)

    def reports_a_fatal_fault(self) -> None:
        self.recovers_each_time()
        before = self.registration()
        control("health", "fatal", "1", f"@hca{self.number}")
        rdma.until(lambda: self.registration() != before, "the device that has failed goes")


class Link:
    """A link of rdma_rxe. The network interface stays when the link is deleted."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.name = self.device = rdma.devices()[number]
        self.interface = wire.ends()[number].interface

    def is_active(self) -> bool:
        try:
            return "ACTIVE" in rdma.Port(self.device).state
        except OSError:
            return False

    def unbind(self) -> None:
        rdma.run("rdma", "link", "delete", self.device)

    def bind(self) -> None:
        rdma.run("rdma", "link", "add", self.device, "type", "rxe", "netdev", self.interface)

    def driver_lets_it_go_and_takes_it_again(self) -> None:
        self.unbind()
        self.bind()


def hca(number: int) -> Hca | Link:
    return Link(number) if wire.RXE else Hca(number)


def come_back(*hcas: Hca | Link) -> None:
    """Waits until these devices are back with everything that their users need."""
    for hca in hcas:
        rdma.until(hca.is_active, f"the port of {hca.name} is active again", PATIENCE)
    if wire.RXE:
        return
    if returned := [wire.ends()[hca.number] for hca in hcas if hca.number < len(wire.ends())]:
        wire.restore(*returned)
