# SPDX-License-Identifier: GPL-2.0-or-later
"""What the iSER and SRP fabrics of the kernel's SCSI target share."""

import contextlib
import pathlib
from collections.abc import Iterator

import disks
import rdma

CONFIG = pathlib.Path("/sys/kernel/config/target")


@contextlib.contextmanager
def _backstore(kind: str, name: str, control: str) -> Iterator[pathlib.Path]:
    rdma.run("modprobe", "-a", "target_core_mod", "target_core_iblock", "sd_mod")
    pathlib.Path("/var/target/pr").mkdir(parents=True, exist_ok=True)
    adapter = CONFIG / f"core/{kind}_0"
    directory = adapter / name
    directory.mkdir(parents=True)
    disks.write(directory / "control", control)
    disks.write(directory / "enable", 1)
    try:
        yield directory
    finally:
        directory.rmdir()
        # The directory is removed with its last disk.
        with contextlib.suppress(OSError):
            adapter.rmdir()


def backstore(name: str, disk: str) -> contextlib.AbstractContextManager[pathlib.Path]:
    """Exports a disk of this guest."""
    return _backstore("iblock", name, f"udev_path={disk}")


@contextlib.contextmanager
def protected_backstore(name: str, pages: int = 8192) -> Iterator[pathlib.Path]:
    """Exports a RAM disk of the target whose blocks have protection information of type 1."""
    with _backstore("rd_mcp", name, f"rd_pages={pages}") as directory:
        disks.write(directory / "attrib/pi_prot_type", 1)
        yield directory


@contextlib.contextmanager
def linked(link: pathlib.Path, target: pathlib.Path) -> Iterator[None]:
    link.symlink_to(target)
    try:
        yield
    finally:
        link.unlink()


@contextlib.contextmanager
def made(*directories: pathlib.Path) -> Iterator[None]:
    """Creates configfs directories in order and removes them in reverse order; both have effects in the target."""
    with contextlib.ExitStack() as stack:
        for directory in directories:
            directory.mkdir()
            stack.callback(directory.rmdir)
        yield
