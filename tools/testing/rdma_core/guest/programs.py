# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs under test from a tree of ../release_tree. Only these programs run in that tree."""

import os
import pathlib
import platform
import tempfile

import rdma

TREE = pathlib.Path(os.environ["SUITE_TREE"])
PATTERNS = ("ibv_*", "rping", "ucmatose", "ucx_*", "io_demo", "fi_*")


def use() -> None:
    """Lets tests find these programs before those of the guest."""
    if os.path.ismount(TREE / "repo"):
        return  # a module of this guest has called this
    for directory in ("dev", "proc", "sys", "tmp"):
        rdma.run("mount", "--rbind", f"/{directory}", TREE / directory)
    rdma.run("mount", "--bind", "/repo", TREE / "repo")
    # libfabric resolves both names, and waits without end if it cannot connect to itself.
    (TREE / "etc/hosts").write_text(f"127.0.0.1 localhost {platform.node()}\n")
    directory = pathlib.Path(tempfile.mkdtemp())
    for pattern in PATTERNS:
        for program in (TREE / "usr/bin").glob(pattern):
            script = directory / program.name
            script.write_text(f'#!/bin/sh\nexec chroot {TREE} /usr/bin/{program.name} "$@"\n')
            script.chmod(0o755)
    os.environ["PATH"] = f"{directory}:{os.environ['PATH']}"
