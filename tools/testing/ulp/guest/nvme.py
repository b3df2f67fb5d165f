# SPDX-License-Identifier: GPL-2.0-or-later
"""NVMe over Fabrics with the kernel's target and host, over the RDMA connection manager."""

import contextlib
import pathlib
from collections.abc import Iterator

import disks
import rdma
import wire

CONFIG = pathlib.Path("/sys/kernel/config/nvmet")
SUBSYSTEM = "nqn.2026-01.com.lab:disk"
SERVICE = 4420
IDENTITY = "00000000-0000-4000-8000-000000000001"
PATIENT = "--keep-alive-tmo=120"
"""Without it either end resets the connection when the other one gets no processor for some seconds: repeated I/O hides
that, a test that permits no repetition fails."""


@contextlib.contextmanager
def target(disk: str, protected: bool = False) -> Iterator[None]:
    rdma.run("modprobe", "nvmet_rdma")
    subsystem, port = CONFIG / "subsystems" / SUBSYSTEM, CONFIG / "ports/1"
    namespace = subsystem / "namespaces/1"
    for directory in (subsystem, namespace, port):
        directory.mkdir()
    disks.write(subsystem / "attr_allow_any_host", 1)
    disks.write(subsystem / "attr_pi_enable", int(protected))
    disks.write(port / "param_pi_enable", int(protected))
    disks.write(namespace / "device_path", disk)
    disks.write(namespace / "enable", 1)
    for name, value in {"trtype": "rdma", "adrfam": "ipv4", "traddr": wire.SERVER, "trsvcid": SERVICE}.items():
        disks.write(port / f"addr_{name}", value)
    link = port / "subsystems" / SUBSYSTEM
    link.symlink_to(subsystem)
    try:
        yield
    finally:
        link.unlink()
        for directory in (port, namespace, subsystem):
            directory.rmdir()


@contextlib.contextmanager
def connection(queues: int = 2, *options: str) -> Iterator[str]:
    """Connects to the target; returns the disk."""
    rdma.run("modprobe", "nvme_rdma")
    with disks.appearing("nvme[0-9]n[0-9]") as found:
        rdma.run("nvme", "connect", "-t", "rdma", "-a", wire.SERVER, "-s", SERVICE, "-w", wire.CLIENT, "-n", SUBSYSTEM,
                 "-i", queues, f"--hostnqn=nqn.2014-08.org.nvmexpress:uuid:{IDENTITY}", f"--hostid={IDENTITY}", *options)
    try:
        yield found[0]
    finally:
        rdma.run("nvme", "disconnect", "-n", SUBSYSTEM)


def listen_again() -> None:
    """Enables the target's port again: the target stops listening when its device is removed."""
    link = CONFIG / "ports/1/subsystems" / SUBSYSTEM
    link.unlink()
    link.symlink_to(CONFIG / "subsystems" / SUBSYSTEM)
