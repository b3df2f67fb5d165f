# SPDX-License-Identifier: GPL-2.0-or-later
"""iSER with the kernel's target and open-iscsi's initiator, over the RDMA connection manager."""

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
INTERFACE = "wire"  # iscsiadm's name for transport and initiator address
NODE = ("iscsiadm", "-m", "node", "-T", TARGET, "-p", PORTAL, "-I", INTERFACE)
# Time-outs in seconds: of a login attempt, and for I/O without a session. The default of 15 for an attempt is too short
# for the initiator's mkeys on a busy machine or a debug kernel, where both take minutes.
PATIENCE = (("node.conn[0].timeo.login_timeout", 300), ("node.session.timeo.replacement_timeout", 240))
LOGIN_PATIENCE = 900.0  # seconds for all attempts; ends only a test that has already failed
LOGIN_TIMEOUT = 30  # seconds in which the target expects each login message; the maximum, 15 by default
# ib_iser's message about a command that arrives between the end of its connection and the end of the session. libiscsi
# reports such a command as aborted instead of keeping it for the next connection, with every HCA driver.
COMMAND_LOST = re.compile(r"iscsi_iser_task_init: Failed to init task \S+, err = -19\b")
LASTING: list[str] = []  # disks of sessions that can no longer be ended; they keep ib_iser in use


def _await_end_of_sessions(group: pathlib.Path, may_stay: bool) -> None:
    """Waits until a portal group has no sessions: the kernel's target crashes if the group is removed before. After
    protection errors some sessions never end."""
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
        # The target syncs each message for the CPU before it maps the message.
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
    """Makes the target end its sessions; without it a session stays until its initiator ends it."""
    disks.write(FABRIC / TARGET / "tpgt_1/enable", 0)


def target(disk: str) -> contextlib.AbstractContextManager[None]:
    return _target(scsi_target.backstore("iser", disk), protected=False)


def protected_target() -> contextlib.AbstractContextManager[None]:
    """Exports a disk whose blocks have protection information, which is also sent on the wire."""
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
    """Logs in `sessions` times; returns one disk per session. The settings are iscsiadm's."""
    found = _log_in(sessions, settings)
    try:
        yield found
    finally:
        rdma.run(*NODE, "--logout")
        rdma.run(*NODE, "-o", "delete")


@contextlib.contextmanager
def lasting_connection() -> Iterator[str]:
    """Logs in and returns the disk. Leaves the session without a process that would reconnect it: the HCA, its parent
    in sysfs, is pulled inside the context, and iscsiadm cannot log out without it."""
    (found,) = _log_in(1, ())
    try:
        yield found
    finally:
        LASTING.append(found)
        rdma.run("killall", "-9", "iscsid")
        rdma.run(*NODE, "-o", "delete")
