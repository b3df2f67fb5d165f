# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the initial RAM disk: busybox, /init, the modules that mount the real root, and the guest's program."""

import gzip
import hashlib
import lzma
import os
import subprocess
import tempfile
from pathlib import Path

from . import guest_program

_MODULES = ("virtio_pci", "virtio_console", "9p", "9pnet_virtio", "overlay")
# For guests with the root, or the layer with their changes, on a disk.
_DISK_MODULES = ("virtio_blk", "ext4")


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
        """Writes the RAM disk. The kernel has /dev/console in a RAM disk of its own."""
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            self._fill(root)
            names = "".join(f"{each.relative_to(root)}\n" for each in sorted(root.rglob("*")))
            archive = subprocess.run(["cpio", "--create", "--format=newc", "--quiet", "--owner=+0:+0"], cwd=root,
                                     input=names.encode(), stdout=subprocess.PIPE, check=True).stdout
        path.write_bytes(gzip.compress(archive, compresslevel=6))

    def _fill(self, root):
        for directory in ("bin", "dev", "proc", "sys", "modules", "lab"):
            (root / directory).mkdir()
        programs = {"bin/busybox": self._busybox, "init": self._init}
        programs |= {f"lab/{name}": source for name, source in self._files.items()}
        for name, source in programs.items():
            (root / name).write_bytes(source.read_bytes())
            (root / name).chmod(0o755)
        names = [module.name.removesuffix(".xz") for module in self._modules]
        for name, module in zip(names, self._modules, strict=True):
            (root / "modules" / name).write_bytes(_module_content(module))
        (root / "modules/order").write_text("".join(f"{name}\n" for name in names))


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
