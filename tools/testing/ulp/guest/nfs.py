# SPDX-License-Identifier: GPL-2.0-or-later
"""NFS over RDMA with the kernel's server and client, in the newest NFS 4 version of the kernel."""

import contextlib
import os
import pathlib
from collections.abc import Iterator

import disks
import rdma
import wire

PORT = 20049
GRACE = 10  # seconds in which clients may reclaim locks; the kernel's minimum
EXPORTED = "/srv/lab"
CONTROL = pathlib.Path("/proc/fs/nfsd")
PIPES = "/var/lib/nfs/rpc_pipefs"
VERSION = "4.1" if os.environ.get("LAB_KERNEL") == "debug" else "4.2"


def start_threads() -> None:
    """Starts to serve the exported file systems."""
    rdma.run("rpc.nfsd", "-G", GRACE, "-N", 3, "-V", "4.2", 4)
    disks.write(CONTROL / "portlist", f"rdma {PORT}")


def _end_grace() -> None:
    """Ends the grace period: no earlier client exists that could reclaim locks.

    A kernel that does not track clients itself (NFSD_LEGACY_CLIENT_TRACKING) refuses to end the period early.
    """
    ended = CONTROL / "v4_end_grace"
    with contextlib.suppress(AssertionError):
        disks.write(ended, "Y")
    rdma.until(lambda: ended.read_text().startswith("Y"), "the grace period ends")


@contextlib.contextmanager
def server(disk: str) -> Iterator[None]:
    """Serves a new file system on a disk."""
    rdma.run("modprobe", "-a", "nfsd", "rpcrdma")
    rdma.run("mkdir", "-p", PIPES)
    with disks.mounted(disk, EXPORTED):
        rdma.run("mount", "-t", "nfsd", "nfsd", CONTROL)
        rdma.run("mount", "-t", "rpc_pipefs", "rpc_pipefs", PIPES)
        rdma.run("exportfs", "-o", "rw,no_root_squash,insecure,fsid=0,no_subtree_check", f"*:{EXPORTED}")
        rdma.run("rpc.mountd", "-N", 2, "-N", 3)
        start_threads()
        _end_grace()
        try:
            yield
        finally:
            rdma.run("rpc.nfsd", 0)
            rdma.run("exportfs", "-ua")
            rdma.run("killall", "rpc.mountd")
            rdma.run("umount", PIPES, CONTROL)
            rdma.until(lambda: not rdma.succeeds("pidof", "rpc.mountd"), "the mount daemon ends")


@contextlib.contextmanager
def mounted(directory: str = "/mnt/nfs") -> Iterator[disks.FileSystem]:
    rdma.run("modprobe", "-a", "nfsv4", "rpcrdma")
    rdma.run("mkdir", "-p", directory)
    rdma.run("mount", "-t", "nfs4", "-o", f"rdma,port={PORT},vers={VERSION},clientaddr={wire.CLIENT}", f"{wire.SERVER}:/",
             directory)
    try:
        yield disks.FileSystem(pathlib.Path(directory))
    finally:
        rdma.run("umount", directory)
