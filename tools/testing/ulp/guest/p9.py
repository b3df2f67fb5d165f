# SPDX-License-Identifier: GPL-2.0-or-later
"""9P over RDMA with the kernel's client and the server p9_server.py."""

import contextlib
import pathlib
from collections.abc import Iterator

import disks
import rdma
import wire

PORT = 5640
SERVED = "/srv/p9"
PROGRAM = pathlib.Path(__file__).with_name("p9_server.py")


@contextlib.contextmanager
def server(directory: str = SERVED) -> Iterator[None]:
    """Serves a directory to the next client."""
    rdma.run("mkdir", "-p", directory)
    with rdma.background("python3", PROGRAM, wire.SERVER, PORT, directory) as child:
        if child.stdout.readline() != "listens\n":
            raise AssertionError(f"the server has ended: {child.communicate()[0]}")
        yield


@contextlib.contextmanager
def mounted(directory: str = "/mnt/p9") -> Iterator[disks.FileSystem]:
    """Mounts without a cache, so that everything read comes from the wire."""
    rdma.run("modprobe", "-a", "9p", "9pnet_rdma")
    rdma.run("mkdir", "-p", directory)
    rdma.run("mount", "-t", "9p", "-o", f"trans=rdma,port={PORT},version=9p2000.L,msize=65536,cache=none", wire.SERVER,
             directory)
    try:
        yield disks.FileSystem(pathlib.Path(directory))
    finally:
        rdma.run("umount", directory)
