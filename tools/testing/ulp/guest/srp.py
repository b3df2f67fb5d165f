# SPDX-License-Identifier: GPL-2.0-or-later
"""The SCSI RDMA protocol: the kernel's target and initiator, over either connection manager.

Over InfiniBand's own, the initiator finds the target through the subnet manager and the device management agent of
the target's node (srp_daemon); over the RDMA connection manager the test passes an address.
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
    """Offers a disk to the initiators with these GUIDs: 16 hexadecimal digits each."""
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
    """What a target of this guest goes by: 16 hexadecimal digits."""
    text = pathlib.Path("/sys/module/ib_srpt/parameters/srpt_service_guid").read_text().strip()
    return f"{int(text, 16):016x}"


def _load() -> None:
    rdma.run("modprobe", "-a", "ib_srp", "sd_mod")


def _device() -> str:
    return wire.ends()[-1].device


def discover() -> dict[str, str]:
    """What ibsrpdm finds in the fabric, other than on this device: the strings to log in with, by the GID of the target's
    port.

    It finds nothing before sysfs lists the SCSI host, nor before the subnet manager knows that the target's port has device
    management.
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
    """Waits for the disk of a session that is begun meanwhile; ends it afterwards."""
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
    """Lets srp_daemon log in, from the client's device or another one, to a target that it finds; the disk.

    A target that still knows the session before refuses the first login after it.
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
    """Has the sessions of this guest end their I/O as soon as their connections end, and leave it at that.

    When ib_srp connects again on a device that is about to go, it cannot make a new queue pair, takes all its send
    buffers for free nevertheless, and frees them once more when the requests of the old queue pair are flushed.
    """
    for path in REMOTE_PORTS.glob("*"):
        disks.write(path / "reconnect_delay", "off")
        disks.write(path / "fast_io_fail_tmo", 1)


def reconnect_every(seconds: int) -> None:
    """Has the sessions of this guest end their I/O soon after their connections end, and make new connections.

    For connections that end while their devices stay (see never_reconnect).
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
    """Logs in over the RDMA connection manager; the disk.

    The initiator fails when resolving the address or the route takes longer than a second, as it may on a busy machine.
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
    """Over InfiniBand's own connection manager where there is one; else over that of RDMA, to the target of this guest."""
    return ip_connection(service_guid()) if wire.RXE else native_connection(target_gid)
