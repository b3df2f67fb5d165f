# SPDX-License-Identifier: GPL-2.0-or-later
"""SRP with the kernel's target and initiator, over either connection manager.

Over the IB connection manager, the initiator finds the target through the subnet manager and the device management
agent of the target's node (srp_daemon). Over the RDMA connection manager, the test passes an address.
"""

import contextlib
import itertools
import pathlib
import re
from collections.abc import Iterator

import disks
import rdma
import scsi_target
import wire

FABRIC = scsi_target.CONFIG / "srpt"
PORT = 5555
CLASS = pathlib.Path("/sys/class/infiniband_srp")
REMOTE_PORTS = pathlib.Path("/sys/class/srp_remote_ports")
HOSTS = pathlib.Path("/sys/class/scsi_host")
RULES = pathlib.Path("/run/srp_daemon.rules")
# Extends the initiator's identifier, so that its two sessions do not end each other.
OVER_IP = 1


def gid(device: str) -> str:
    return rdma.Port(device).attribute("gids/0").replace(":", "")


def _initiator(client_guid: str, extension: int) -> str:
    return f"0x{extension:016x}{client_guid}"


@contextlib.contextmanager
def target(disk: str, *client_guids: str) -> Iterator[None]:
    """Exports a disk to the initiators with these GUIDs of 16 hexadecimal digits."""
    rdma.run("modprobe", "ib_srpt")
    name = f"0x{gid(wire.ends()[0].device)}"
    group = FABRIC / name / name
    unit = group / "lun/lun_0"
    with contextlib.ExitStack() as stack:
        backstore = stack.enter_context(scsi_target.backstore("srp", disk))
        stack.enter_context(scsi_target.made(FABRIC))
        disks.write(FABRIC / "discovery_auth/rdma_cm_port", PORT)
        stack.enter_context(scsi_target.made(FABRIC / name, group, unit))
        stack.enter_context(scsi_target.linked(unit / "disk", backstore))
        for extension, guid in itertools.product((0, OVER_IP), client_guids):
            acl = group / "acls" / _initiator(guid, extension)
            stack.enter_context(scsi_target.made(acl, acl / "lun_0"))
            stack.enter_context(scsi_target.linked(acl / "lun_0/disk", unit))
        disks.write(group / "enable", 1)
        yield
        disks.write(group / "enable", 0)


def service_guid() -> str:
    """Service GUID of a target in this guest: 16 hexadecimal digits."""
    text = pathlib.Path("/sys/module/ib_srpt/parameters/srpt_service_guid").read_text().strip()
    return f"{int(text, 16):016x}"


def _load() -> None:
    rdma.run("modprobe", "-a", "ib_srp", "sd_mod")


def _device() -> str:
    return wire.ends()[-1].device


def discover() -> dict[str, str]:
    """Login strings of the targets that ibsrpdm finds in the fabric, except on this device, by GID of the target's
    port.

    ibsrpdm finds nothing until sysfs lists the SCSI host and the subnet manager knows that the target's port supports
    device management.
    """
    _load()
    number = next(path.name.removeprefix("umad") for path in pathlib.Path("/sys/class/infiniband_mad").glob("umad*")
                  if (path / "ibdev").read_text().strip() == _device())
    own, targets = gid(_device()), {}

    def finds_one() -> bool:
        lines = rdma.run("ibsrpdm", "-c", "-d", f"/dev/infiniband/umad{number}").split()
        targets.update({found[1]: line for line in lines if (found := re.search(r"dgid=([0-9a-f]{32})", line))})
        targets.pop(own, "")
        return bool(targets)

    rdma.until(finds_one, "a target is found")
    return targets


@contextlib.contextmanager
def _session() -> Iterator[list[str]]:
    """Waits for the disk of a session that starts inside the context; ends the session afterwards."""
    before = set(REMOTE_PORTS.glob("*"))
    with disks.appearing("sd*") as found:
        yield found
    new = set(REMOTE_PORTS.glob("*")) - before
    if len(new) != 1:
        raise AssertionError(f"sessions have been made: {sorted(new)}")


def end_all() -> None:
    """Ends all sessions of this guest."""
    for path in REMOTE_PORTS.glob("*/delete"):
        disks.write(path, 1)
    rdma.until(lambda: not any(REMOTE_PORTS.glob("*")), "the sessions end")


def log_in(target_gid: str, device: str = "") -> str:
    """Lets srp_daemon find a target and log in from the client's device or another one; returns the disk.

    A target refuses the first login until it has noticed the end of the previous session.
    """
    _load()
    RULES.write_text(f"a dgid={target_gid}\nd\n")
    before = set(REMOTE_PORTS.glob("*"))

    def has_session() -> bool:
        rdma.run("srp_daemon", "-o", "-e", "-a", "-i", device or _device(), "-p", 1, "-f", RULES)
        return bool(set(REMOTE_PORTS.glob("*")) - before)

    with _session() as found:
        rdma.until(has_session, "the target accepts a login")
    return found[0]


def never_reconnect() -> None:
    """Makes the sessions of this guest end their I/O when their connections end, and never reconnect.

    If ib_srp reconnects on a device that is about to be removed, it cannot create a QP. It then treats all its send
    buffers as free, and frees them again when the old QP flushes its WRs.
    """
    for path in REMOTE_PORTS.glob("*"):
        disks.write(path / "reconnect_delay", "off")
        disks.write(path / "fast_io_fail_tmo", 1)


def reconnect_every(seconds: int) -> None:
    """Makes the sessions of this guest end their I/O soon after their connections end, and reconnect.

    Only for connections that end while their devices stay (see never_reconnect).
    """
    for path in REMOTE_PORTS.glob("*"):
        disks.write(path / "fast_io_fail_tmo", 1)
        disks.write(path / "reconnect_delay", seconds)


def await_sessions() -> None:
    """Waits until all sessions of this guest have connections."""
    states = [path / "state" for path in REMOTE_PORTS.glob("*")]
    rdma.until(lambda: all(state.read_text().strip() == "running" for state in states), "the sessions run again")


@contextlib.contextmanager
def native_connection(target_gid: str) -> Iterator[str]:
    disk = log_in(target_gid)
    try:
        yield disk
    finally:
        end_all()


@contextlib.contextmanager
def ip_connection(target_guid: str) -> Iterator[str]:
    """Logs in over the RDMA connection manager; returns the disk.

    The initiator fails if resolving the address or the route takes longer than a second, which happens on a busy
    machine.
    """
    _load()
    words = (f"id_ext={target_guid}", f"ioc_guid={target_guid}", f"dest={wire.SERVER}:{PORT}", f"src={wire.CLIENT}",
             f"initiator_ext={OVER_IP:x}")

    def logs_in() -> bool:
        with contextlib.suppress(AssertionError):
            disks.write(CLASS / f"srp-{_device()}-1/add_target", ",".join(words))
            return True
        return False

    with _session() as found:
        rdma.until(logs_in, "the target accepts a login")
    try:
        yield found[0]
    finally:
        end_all()


def connection(target_gid: str) -> contextlib.AbstractContextManager[str]:
    """Logs in over the IB connection manager if the device has one; otherwise over the RDMA connection manager to a
    target in this guest."""
    return ip_connection(service_guid()) if wire.RXE else native_connection(target_gid)
