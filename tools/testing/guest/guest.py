# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the module use in the guest: PCI devices, the driver, the kernel log."""

import contextlib
import os
import pathlib
import subprocess
import unittest
from collections.abc import Iterator

MODULE = pathlib.Path(os.environ.get("CXIB_MODULE", "cxib.ko"))
DEVICES = pathlib.Path("/sys/bus/pci/devices")
DRIVER = pathlib.Path("/sys/bus/pci/drivers/cxib")
MELLANOX = "15b3:"
LOG_WARNING, LOG_LEVEL = 4, 7
"""A level of the kernel log, and the bits of a record's priority that are its level."""


def device_id(device: pathlib.Path) -> str:
    return f"{(device / 'vendor').read_text().strip()[2:]}:{(device / 'device').read_text().strip()[2:]}"


def find_devices(wanted: str) -> list[pathlib.Path]:
    return [device for device in sorted(DEVICES.iterdir()) if device_id(device).startswith(wanted)]


def find_device(wanted: str) -> pathlib.Path:
    found = find_devices(wanted)
    if not found:
        raise LookupError(f"the guest has no device {wanted}")
    return found[0]


def driver_of(device: pathlib.Path) -> str:
    link = device / "driver"
    return link.resolve().name if link.exists() else ""


def write_bytes(path: pathlib.Path, value: bytes) -> None:
    """Writes in one system call. (Python's file objects repeat a write that failed.)"""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, value)
    finally:
        os.close(descriptor)


def write_attribute(path: pathlib.Path, value: str) -> None:
    write_bytes(path, value.encode())


def kernel_log() -> str:
    return subprocess.run(["dmesg", "--notime"], check=True, capture_output=True, text=True).stdout


class LogTail:
    """The kernel log from now on, including messages that the kernel overwrites later."""

    def __init__(self) -> None:
        self.descriptor = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.descriptor, 0, os.SEEK_END)
        self.lines: list[str] = []
        self.levels: list[int] = []
        self.times: list[float] = []

    def close(self) -> None:
        os.close(self.descriptor)

    def read(self) -> list[str]:
        """The messages since the last call."""
        known = len(self.lines)
        while True:
            try:
                record = os.read(self.descriptor, 8192)
            except BlockingIOError:
                return self.lines[known:]
            except BrokenPipeError:
                continue  # the oldest ones were overwritten
            facts, _, text = record.decode(errors="replace").partition(";")
            self.lines.append(text.splitlines()[0])
            self.levels.append(int(facts.split(",")[0]) & LOG_LEVEL)
            self.times.append(int(facts.split(",")[2]) / 1e6)

    def text(self) -> str:
        """All messages so far, one per line."""
        self.read()
        return "".join(f"{line}\n" for line in self.lines)

    def warnings(self) -> list[str]:
        """The messages so far of level warning and above."""
        self.read()
        return [line for line, level in zip(self.lines, self.levels, strict=True) if level <= LOG_WARNING]

    def last_time(self, text: str) -> float:
        """Time of the last message with this text, in seconds since boot."""
        self.read()
        return max(time for time, line in zip(self.times, self.lines, strict=True) if text in line)

    def forget(self) -> None:
        """Discards all messages so far."""
        self.read()
        self.lines.clear()
        self.levels.clear()
        self.times.clear()


def load() -> None:
    """Loads the module and its dependencies, as modprobe does for an installed module."""
    needed = subprocess.run(["modinfo", "-F", "depends", MODULE], check=True, capture_output=True, text=True).stdout
    for module in needed.strip().split(",") if needed.strip() else []:
        subprocess.run(["modprobe", module], check=True)
    subprocess.run(["insmod", MODULE], check=True)


def unload() -> None:
    subprocess.run(["rmmod", "cxib"], check=True)


def bind_error(device: pathlib.Path) -> str:
    """Binds a device and returns the error text, or an empty string on success."""
    try:
        write_attribute(DRIVER / "bind", device.name)
    except OSError as error:
        return os.strerror(error.errno or 0)
    return ""


def unbind(device: pathlib.Path) -> None:
    write_attribute(DRIVER / "unbind", device.name)


@contextlib.contextmanager
def override(device: pathlib.Path) -> Iterator[None]:
    """Lets only cxib bind the device inside the context."""
    write_attribute(device / "driver_override", "cxib\n")
    try:
        yield
    finally:
        write_attribute(device / "driver_override", "\n")


class ModuleTest(unittest.TestCase):
    """Loads the module before each test and unloads it afterwards, even if devices are bound."""

    def setUp(self) -> None:
        load()
        self.addCleanup(subprocess.run, ["rmmod", "cxib"], check=False)
        self.log = LogTail()
        self.addCleanup(self.log.close)

    def new_messages(self) -> str:
        return self.log.text()

    def assert_logged(self, pattern: str) -> None:
        self.assertRegex(self.new_messages(), pattern)
