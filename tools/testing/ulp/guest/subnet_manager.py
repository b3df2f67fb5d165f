# SPDX-License-Identifier: GPL-2.0-or-later
"""OpenSM as the subnet manager of the fabric, in this guest on its first HCA."""

import rdma


def is_running() -> bool:
    """False where the emulator's switch has the subnet manager."""
    return rdma.succeeds("pidof", "opensm")


def end() -> None:
    """At once: one whose port has gone may not listen to anything else."""
    rdma.run("killall", "-9", "opensm")
    rdma.until(lambda: not is_running(), "the subnet manager ends")


def start() -> None:
    rdma.run("opensm", "--daemon", "--log_file", "/tmp/opensm.log")


def is_master() -> bool:
    try:
        return rdma.ports()[0].guid in rdma.run("sminfo")
    except AssertionError:
        return False


def take_over() -> None:
    """From the emulator's manager, if OpenSM doesn't run yet."""
    if not is_running():
        start()
    rdma.until(is_master, "OpenSM is the master")
