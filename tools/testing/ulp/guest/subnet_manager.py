# SPDX-License-Identifier: GPL-2.0-or-later
"""The subnet manager of the fabric, OpenSM, which runs in this guest on its first HCA."""

import rdma


def end() -> None:
    """At once: one whose port has gone may not listen to anything else."""
    rdma.run("killall", "-9", "opensm")
    rdma.until(lambda: not rdma.succeeds("pidof", "opensm"), "the subnet manager ends")


def start() -> None:
    rdma.run("opensm", "--daemon", "--log_file", "/tmp/opensm.log")
