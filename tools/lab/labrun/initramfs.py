# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the initial RAM disk: busybox, /init, the modules that mount the real root, and the guest's program."""

import gzip
import hashlib
import lzma
import os
import stat
import subprocess
from pathlib import Path

from . import guest_program

_MODULES = ("virtio_pci", "virtio_console", "9p", "9pnet_virtio", "overlay")
# For guests with the root, or the layer with their changes, on a disk.
_DISK_MODULES = ("virtio_blk", "ext4")


class _Archive:
    """Writer for cpio's "newc" format."""

    def __init__(self):
        self._parts = []
        self._inode = 0

    def add(self, name, mode, data=b"", device=(0, 0)):
        """Adds a file; its parent directories must already be in the archive."""
        self._inode += 1
        encoded = name.encode() + b"\0"
        values = (self._inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
        header = b"070701" + b"".join(b"%08X" % value for value in values)
        self._parts += [self._padded(header + encoded), self._padded(data)]

    def bytes(self):
        """The whole archive."""
        self.add("TRAILER!!!", 0)
        return b"".join(self._parts)

    @staticmethod
    def _padded(data):
        return data + b"\0" * (-len(data) % 4)


def _module_files(tree, release, wanted):
    """Paths of those wanted drivers that the kernel has as modules, in loading order."""
    files = []
    for module in wanted:
        listed = subprocess.run(
            ["modprobe", "--dirname", str(tree), "--set-version", release, "--show-depends", module],
            check=True, capture_output=True, text=True).stdout
        for line in listed.splitlines():
            words = line.split()
            if words[0] == "insmod" and words[1] not in files:
                files.append(words[1])
    return [Path(name) for name in files]


def _module_content(path):
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


class Contents:
    """The contents of a kernel's initial RAM disk.

    files: files for its directory /lab, from name to path; on_disk: the guest mounts a disk.
    """

    def __init__(self, tree, release, init, files, on_disk=False):
        self._busybox = tree / "usr/bin/busybox"
        self._init = init
        self._modules = _module_files(tree, release, _MODULES + _DISK_MODULES if on_disk else _MODULES)
        self._files = files

    def digest(self):
        """A name for the contents; equal contents have equal names."""
        inputs = hashlib.sha256()
        for path in (Path(__file__), self._init, self._busybox, *self._modules, *self._files.values()):
            inputs.update(path.read_bytes())
        return inputs.hexdigest()[:16]

    def write(self, path):
        """Writes the RAM disk."""
        archive = _Archive()
        for directory in ("bin", "dev", "proc", "sys", "modules", "lab"):
            archive.add(directory, stat.S_IFDIR | 0o755)
        archive.add("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
        archive.add("bin/busybox", stat.S_IFREG | 0o755, self._busybox.read_bytes())
        archive.add("init", stat.S_IFREG | 0o755, self._init.read_bytes())
        names = []
        for module in self._modules:
            name = module.name.removesuffix(".xz")
            names.append(name)
            archive.add(f"modules/{name}", stat.S_IFREG | 0o644, _module_content(module))
        archive.add("modules/order", stat.S_IFREG | 0o644, "".join(f"{name}\n" for name in names).encode())
        for name, source in self._files.items():
            archive.add(f"lab/{name}", stat.S_IFREG | 0o755, source.read_bytes())
        path.write_bytes(gzip.compress(archive.bytes(), compresslevel=6))


def provide(tree, release, init, cache, on_disk=False, processor="amd64"):
    """Path of the initial RAM disk for a kernel, from the cache directory or newly built.

    on_disk: the guest keeps its changes on a disk. processor: the guest's processor.
    """
    program = guest_program.provide(init.parent / "lab_guest.c", cache, processor)
    contents = Contents(tree, release, init, {"lab-guest": program}, on_disk)
    image = cache / f"initramfs-{release}-{contents.digest()}"
    if not image.exists():
        cache.mkdir(parents=True, exist_ok=True)
        for old in cache.glob(f"initramfs-{release}-*"):
            if old != image:  # another run may just have finished it
                old.unlink(missing_ok=True)
        unfinished = image.with_suffix(f".{os.getpid()}")
        contents.write(unfinished)
        unfinished.rename(image)
    return image
