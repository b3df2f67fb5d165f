# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs OpenSM as subnet manager of the fabric, in this guest on its first HCA."""

import rdma


def is_running() -> bool:
    """Returns False if the emulator's switch has the subnet manager."""
    return rdma.succeeds("pidof", "opensm")


def end() -> None:
    """Kills OpenSM: an OpenSM whose port is gone may ignore other signals."""
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
    """Starts OpenSM, unless it runs, and lets it take over from the emulator's subnet manager."""
    if not is_running():
        start()
    rdma.until(is_master, "OpenSM is the master")
