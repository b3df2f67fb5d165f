# SPDX-License-Identifier: GPL-2.0-or-later
"""iSCSI extensions for RDMA: the kernel's target and open-iscsi's initiator, over the RDMA connection manager."""

import contextlib
import pathlib
import re
from collections.abc import Iterator

import disks
import dma_checker
import rdma
import scsi_target
import wire

TARGET = "iqn.2026-01.com.lab:disk"
INITIATOR = "iqn.2026-01.com.lab:initiator"
PORTAL = f"{wire.SERVER}:3260"
FABRIC = scsi_target.CONFIG / "iscsi"
INTERFACE = "wire"  # iscsiadm's name for the transport and the address that the initiator uses
NODE = ("iscsiadm", "-m", "node", "-T", TARGET, "-p", PORTAL, "-I", INTERFACE)
# Seconds of an attempt to log in, and for which I/O waits for a session. The usual 15 of an attempt are not enough for
# the initiator's memory keys where processors are busy or the kernel checks all that it does; both together take minutes.
PATIENCE = (("node.conn[0].timeo.login_timeout", 300), ("node.session.timeo.replacement_timeout", 240))
LOGIN_PATIENCE = 900.0  # seconds of all attempts; only ends what has failed anyway
LOGIN_TIMEOUT = 30  # seconds that the target waits for each message of a login, 15 by default; its limit
# What ib_iser logs of a command that comes after the end of its connection and before the session knows. libiscsi
# reports such a command as aborted instead of keeping it for the next connection; with drivers of any HCA.
COMMAND_LOST = re.compile(r"iscsi_iser_task_init: Failed to init task \S+, err = -19\b")
LASTING: list[str] = []  # disks of sessions that cannot be ended any more; they hold ib_iser


def _await_end_of_sessions(group: pathlib.Path, may_stay: bool) -> None:
    """The kernel's target does not survive it when its group goes while sessions are still ending. After errors of
    protection it keeps some for good."""
    try:
        rdma.until(lambda: not (group / "dynamic_sessions").read_text().strip("\0\n"), "all sessions have ended",
                   10 if may_stay else rdma.PATIENCE)
    except AssertionError:
        if not may_stay:
            raise


@contextlib.contextmanager
def _target(backstore: contextlib.AbstractContextManager[pathlib.Path], protected: bool) -> Iterator[None]:
    rdma.run("modprobe", "-a", "iscsi_target_mod", "ib_isert")
    group = FABRIC / TARGET / "tpgt_1"
    unit, portal = group / "lun/lun_0", group / "np" / PORTAL
    with contextlib.ExitStack() as stack:
        # The target gives each message to the processor before it has mapped it.
        stack.enter_context(dma_checker.limited())
        disk = stack.enter_context(backstore)
        stack.enter_context(scsi_target.made(FABRIC, FABRIC / TARGET, group, unit))
        settings = {"authentication": 0, "generate_node_acls": 1, "cache_dynamic_acls": 1, "demo_mode_write_protect": 0,
                    "login_timeout": LOGIN_TIMEOUT, "t10_pi": int(protected)}
        for name, value in settings.items():
            disks.write(group / "attrib" / name, value)
        stack.enter_context(scsi_target.linked(unit / "disk", disk))
        stack.enter_context(scsi_target.made(portal))
        disks.write(portal / "iser", 1)
        disks.write(group / "enable", 1)
        stack.callback(disks.write, group / "enable", 0)
        stack.callback(_await_end_of_sessions, group, may_stay=protected)
        yield


def end_sessions() -> None:
    """Has the target end its sessions, which would last for ever where no initiator does."""
    disks.write(FABRIC / TARGET / "tpgt_1/enable", 0)


def target(disk: str) -> contextlib.AbstractContextManager[None]:
    return _target(scsi_target.backstore("iser", disk), protected=False)


def protected_target() -> contextlib.AbstractContextManager[None]:
    """Offers a disk whose blocks have protection information, which goes over the wire with them."""
    return _target(scsi_target.protected_backstore("iser"), protected=True)


def _prepare_initiator() -> None:
    rdma.run("modprobe", "-a", "ib_iser", "sd_mod")
    if not rdma.succeeds("pidof", "iscsid"):
        pathlib.Path("/etc/iscsi/initiatorname.iscsi").write_text(f"InitiatorName={INITIATOR}\n")
        rdma.run("iscsid")
    if not rdma.succeeds("iscsiadm", "-m", "iface", "-I", INTERFACE):
        rdma.run("iscsiadm", "-m", "iface", "-I", INTERFACE, "-o", "new")
        for name, value in {"transport_name": "iser", "ipaddress": wire.CLIENT}.items():
            rdma.run("iscsiadm", "-m", "iface", "-I", INTERFACE, "-o", "update", "-n", f"iface.{name}", "-v", value)


def _log_in(sessions: int, settings: tuple[tuple[str, int], ...]) -> list[str]:
    _prepare_initiator()
    rdma.run(*NODE, "-o", "new")
    for name, value in (("node.session.nr_sessions", sessions), *PATIENCE, *settings):
        rdma.run(*NODE, "-o", "update", "-n", name, "-v", value)
    before = disks.names("sd*")
    rdma.run(*NODE, "--login", timeout=LOGIN_PATIENCE)
    rdma.until(lambda: len(disks.names("sd*") - before) == sessions, f"{sessions} disks appear")
    found = [f"/dev/{name}" for name in sorted(disks.names("sd*") - before)]
    disks.await_opening(found)
    return found


@contextlib.contextmanager
def connection(sessions: int = 1, *settings: tuple[str, int]) -> Iterator[list[str]]:
    """Logs in, if wanted several times; the disks that it has, one a session. The settings are those of iscsiadm."""
    found = _log_in(sessions, settings)
    try:
        yield found
    finally:
        rdma.run(*NODE, "--logout")
        rdma.run(*NODE, "-o", "delete")


@contextlib.contextmanager
def lasting_connection() -> Iterator[str]:
    """Logs in; the disk. The session is left without a process that would reconnect it: its HCA, its parent in sysfs, has
    been pulled meanwhile, and without that iscsiadm cannot log out."""
    (found,) = _log_in(1, ())
    try:
        yield found
    finally:
        LASTING.append(found)
        rdma.run("killall", "-9", "iscsid")
        rdma.run(*NODE, "-o", "delete")
