# SPDX-License-Identifier: GPL-2.0-or-later
"""Disks in the server's memory, and the tests that a client runs on a disk that it has connected."""

import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import random
from collections.abc import Iterator

import rdma

BLOCKS = pathlib.Path("/sys/block")
SIZE = 64 << 20
# In a slow run packets get lost, or the kernel has debug checks. A lost packet without a successor is detected after
# seconds.
IS_SLOW = "ULP_LOSS" in os.environ or os.environ["LAB_KERNEL"].startswith("debug")
AMOUNT = "1m" if IS_SLOW else "4m"
MODULES = pathlib.Path("/sys/module")


@functools.cache
def _memory_disks() -> list[str]:
    rdma.run("modprobe", "brd", "rd_nr=8", f"rd_size={SIZE >> 10}")
    return [f"/dev/ram{number}" for number in range(8)]


def in_memory(number: int) -> str:
    """The device of one of eight disks in this guest's memory."""
    return _memory_disks()[number]


def names(pattern: str) -> set[str]:
    return {path.name for path in BLOCKS.glob(pattern)}


def _can_be_opened(disk: str) -> bool:
    try:
        os.close(os.open(disk, os.O_RDONLY))
    except OSError:
        return False
    return True


def await_opening(found: list[str]) -> None:
    """Waits until the disk can be opened: its name appears a moment earlier."""
    for disk in found:
        rdma.until(functools.partial(_can_be_opened, disk), f"{disk} can be opened")


@contextlib.contextmanager
def appearing(pattern: str) -> Iterator[list[str]]:
    """At the end of the context, waits for a disk that was not there at its start, and appends its device to the
    list."""
    before, found = names(pattern), []
    yield found
    rdma.until(lambda: bool(names(pattern) - before), f"a disk {pattern} appears")
    found.extend(f"/dev/{name}" for name in sorted(names(pattern) - before))
    await_opening(found)


def fio(disk: str, *options: str, size: str = AMOUNT, timeout: float = 300) -> dict:
    """Runs fio on a disk; returns its report. fio fails if it reads other data than it wrote."""
    text = rdma.run("fio", "--name=job", f"--filename={disk}", f"--size={size}", "--direct=1", "--ioengine=libaio",
                    "--group_reporting", "--output-format=json", *options, timeout=timeout)
    job = json.loads(text[text.index("{"):])["jobs"][0]
    if job["error"]:
        raise AssertionError(f"fio ended with error {job['error']}: {text}")
    return job


def verify(disk: str, block: str, depth: int = 16, size: str = AMOUNT) -> None:
    """Writes blocks in random order, reads them all and compares."""
    job = fio(disk, "--rw=randwrite", f"--bs={block}", f"--iodepth={depth}", "--verify=crc32c", "--verify_fatal=1",
              "--verify_state_save=0", size=size)
    if job["read"]["io_bytes"] != job["write"]["io_bytes"] or not job["read"]["io_bytes"]:
        raise AssertionError(f"{job['read']['io_bytes']} of {job['write']['io_bytes']} bytes were compared")


@dataclasses.dataclass(frozen=True)
class FileSystem:
    """A mounted file system, or a directory in it."""

    directory: pathlib.Path

    def write_files(self, count: int, size: int, seed: int = 1) -> dict[str, str]:
        """Writes files of random length and content; returns their digests."""
        generator = random.Random(seed)  # noqa: S311
        digests = {}
        for number in range(count):
            data = generator.randbytes(generator.randrange(1, size))
            (self.directory / f"file{number}").write_bytes(data)
            digests[f"file{number}"] = hashlib.sha256(data).hexdigest()
        return digests

    def digests(self) -> dict[str, str]:
        """Digests of the files, read from the disk instead of the page cache."""
        rdma.run("sync", "-f", self.directory)
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in self.directory.glob("file*")}


@contextlib.contextmanager
def mounted(disk: str, directory: str) -> Iterator[FileSystem]:
    """A new ext4 file system on a disk, mounted inside the context."""
    rdma.run("mkfs.ext4", "-q", "-F", disk)
    rdma.run("mkdir", "-p", directory)
    rdma.run("mount", disk, directory)
    try:
        yield FileSystem(pathlib.Path(directory))
    finally:
        # An NFS server may use the file system for a moment after its end.
        rdma.run_until_success("umount", directory)


def unload(*modules: str) -> None:
    """Unloads modules in this order, repeatedly until each is unused: its last user may end a moment later."""

    def is_gone(module: str) -> bool:
        return not (MODULES / module).exists() or rdma.succeeds("modprobe", "-r", module)

    for module in modules:
        rdma.until(functools.partial(is_gone, module), f"{module} is unused")


def write(path: pathlib.Path, value: str | int) -> None:
    """Writes an attribute; an error names the attribute."""
    try:
        path.write_text(f"{value}\n")
    except OSError as error:
        raise AssertionError(f"cannot write '{value}' to {path}: {error}") from error
