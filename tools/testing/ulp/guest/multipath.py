# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's multipath (dm_multipath). dmsetup configures the paths, without multipathd."""

import contextlib
import os
import pathlib
from collections.abc import Iterator

import disks
import rdma

NAME = "wires"
# The guest has no udev, so dmsetup creates the device node.
DMSETUP = ("env", "DM_DISABLE_UDEV=1", "dmsetup")


def _number(disk: str) -> str:
    device = os.stat(disk).st_rdev
    return f"{os.major(device)}:{os.minor(device)}"


def _table(paths: list[str]) -> str:
    """A table in which each request takes the next path. Without a path requests wait."""
    sectors = int((disks.BLOCKS / pathlib.Path(paths[0]).name / "size").read_text())
    numbers = " ".join(f"{_number(path)} 1" for path in paths)
    return f"0 {sectors} multipath 1 queue_if_no_path 0 1 1 round-robin 0 {len(paths)} 1 {numbers}"


@contextlib.contextmanager
def device(paths: list[str]) -> Iterator[str]:
    rdma.run("modprobe", "-a", "dm_multipath", "dm_round_robin")
    rdma.run(*DMSETUP, "create", NAME, "--table", _table(paths))
    try:
        yield f"/dev/mapper/{NAME}"
    finally:
        # Requests that wait for a path would keep the device in use.
        rdma.run(*DMSETUP, "message", NAME, 0, "fail_if_no_path")
        rdma.run(*DMSETUP, "remove", NAME)


def use(paths: list[str]) -> None:
    """Makes requests use only these paths."""
    rdma.run(*DMSETUP, "reload", NAME, "--table", _table(paths))
    rdma.run(*DMSETUP, "resume", NAME)


def reinstate(path: str) -> None:
    """Makes requests use a failed path again; it must be one of the current paths."""
    rdma.run(*DMSETUP, "message", NAME, 0, f"reinstate_path {_number(path)}")


def states() -> list[str]:
    """State of each path: A (active) or F (failed)."""
    words = rdma.run(*DMSETUP, "status", NAME).split()
    return [word for number, word in zip(words, words[1:], strict=False) if ":" in number and word in ("A", "F")]
