# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides which guests can be resumed and what their snapshots depend on, and makes snapshots."""

import copy
import hashlib
import json
import os
import re
import secrets
import shutil
import subprocess
from pathlib import Path

from . import clock, guest_program, initramfs, qemu
from .guest import Guest, SnapshotError
from .options import BOOTED_KERNELS
from .store import Store

STORE = Path("/run/lab/snapshots")
_SCRIPTS = Path("/repo/tools/lab/guest")
# Scripts that run in the guest before it is stopped.
_EARLY = {name: _SCRIPTS / name for name in ("start", "system.sh", "channels.sh", "drivers.sh")}
_PROGRAMS = {"lab-guest": _SCRIPTS / "lab_guest.c", "await_resume": _SCRIPTS / "await_resume.c"}
# Guests with fewer HCAs have empty ports, so that nearly all guests share a snapshot; an empty port costs nothing.
_HCA_PORTS = 4
_IMAGE_SIZE = "8G"  # sparse; the tree takes about 3 GiB
_FREE_BYTES = 6 << 30

# Kernel arguments that change how a guest boots. The lab's own arguments are for guests with a layer on a disk.
_STARTING_ARGUMENT = re.compile(r"(^|\s)(lab\.|r?d?init=|root=|crashkernel=)")


def refusal(options, environment, accelerator):
    """The reason why a guest must boot; None if it can be resumed."""
    if options.boot or environment.get("CXIB_LAB_BOOT"):
        return "booting was asked for"
    if accelerator != "tcg":
        return "it has a real processor"
    if options.reboots:
        return "it is started again"
    if options.kernel in BOOTED_KERNELS:
        return "the image of the tree is made without its kernel"
    if options.qemu:
        return "it has further arguments for QEMU"
    if _STARTING_ARGUMENT.search(options.append):
        return "it has kernel arguments for another start"
    if any(environment.get(name) for name in ("LAB_GUEST_TREE", "LAB_GUEST_BOOT", "LAB_GUEST_RELEASE")):
        return "it has a tree of its own"
    return None


def hca_ports(hcas):
    """Number of hot-plug ports of a guest with this number of HCAs."""
    return max(_HCA_PORTS, hcas)


def identity(path):
    """A value that changes when the file changes."""
    status = path.stat()
    return [str(path), status.st_mtime_ns, status.st_size]


def processor(text):
    """The constant lines of /proc/cpuinfo about the first processor."""
    wanted = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")
    lines = text.split("\n\n", 1)[0].splitlines()
    return [" ".join(line.split()) for line in lines if line.partition(":")[0].strip() in wanted]


def digest(inputs):
    """Digest of a value that JSON can represent, as a file name."""
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:16]


def image_name(tree, releases):
    """Name of the image of a tree with these kernels. The tree's own name comes from its recipe and names the store."""
    files = [tree / "var/lib/dpkg/status"]
    for release in releases:
        files += [tree / f"boot/vmlinuz-{release}", tree / f"lib/modules/{release}/modules.dep"]
    return f"tree-{digest([identity(path) for path in files])}.ext4"


class Maker:
    """Finds or makes the snapshot for the guests of a run.

    machine: as for qemu.command_line(); tree: the lab's tree; releases: releases of all its kernels; release: release
    of this guest's kernel; cache: directory of compiled programs
    """

    def __init__(self, options, machine, tree, releases, release, init, cache):
        self._options = options
        self._tree = tree
        self.machine = machine | {"hca_ports": hca_ports(options.hcas)}
        self._kernel = tree / f"boot/vmlinuz-{release}"
        programs = {name: guest_program.provide(source, cache) for name, source in _PROGRAMS.items()}
        self._contents = initramfs.Contents(tree, release, init, {**_EARLY, **programs}, on_disk=True)
        self._image = STORE / image_name(tree, releases)
        self.store = Store(STORE)
        self.counter_khz = clock.counter_khz()
        self.key = self._find_key()

    def _find_key(self):
        """The key covers the command line. Channels differ from run to run, and the clock is compared separately."""
        kernel = {"image": self._kernel, "initramfs": self._contents.digest(), "arguments": self._arguments(None)}
        ports = {name: 0 for name in ("console", "control", "out", "err", "qmp")}
        return digest([
            qemu.snapshot_command_line(self.machine, kernel, ports, self._image), identity(self._kernel),
            identity(Path(shutil.which(qemu.BINARY))), processor(Path("/proc/cpuinfo").read_text()),
        ])

    def _arguments(self, counter_khz):
        return qemu.kernel_arguments(None, self._options.append, self._options.iommu, counter_khz)

    def kernel(self, snapshot_initramfs, counter_khz):
        """Kernel, RAM disk and arguments for the command line of such a guest."""
        return {"image": self._kernel, "initramfs": snapshot_initramfs, "arguments": self._arguments(counter_khz)}

    def provide(self, directory):
        """Returns the snapshot. Returns None the first time that such a guest is wanted (a snapshot pays off from the
        next time on), and while another process creates one.

        directory: for the logs of the guest that is stopped
        """
        if not self.store.asked_before(self.key):
            return None
        found = self.store.find(self.key, self.counter_khz)
        if found:
            return found
        with self.store.locked() as mine:
            if not mine:
                return None
            # Another process may just have created it.
            return self.store.find(self.key, self.counter_khz) or self._make(directory)

    def _make(self, directory):
        unfinished = self.store.begin(self.key)
        try:
            self._check_room()
            self._provide_image()
            disk = unfinished / "initramfs"
            self._contents.write(disk)
            directory.mkdir()
            guest = Guest(0, directory, self._options_of_maker(), secrets.token_hex(8))
            guest.save(self.machine, self.kernel(disk, self.counter_khz), self._image, unfinished / "state")
            return self.store.complete(self.key, self._image, self.counter_khz)
        except (OSError, subprocess.CalledProcessError) as error:
            raise SnapshotError(str(error)) from None
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)

    def _options_of_maker(self):
        options = copy.copy(self._options)
        options.vms, options.shell = 1, False
        return options

    def _check_room(self):
        room = os.statvfs(STORE)
        if room.f_bavail * room.f_frsize < _FREE_BYTES:
            raise SnapshotError(f"less than {_FREE_BYTES >> 30} GiB are free in the lab's cache")

    def _provide_image(self):
        if self._image.exists():
            return
        unfinished = self._image.with_suffix(".new")
        # The file system is never written, so it has no journal. A guest sees only one such image, so the UUID does not
        # matter.
        subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", "-O", "^has_journal", "-d", str(self._tree), str(unfinished),
                        _IMAGE_SIZE], check=True, capture_output=True)
        unfinished.rename(self._image)
