# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that tools print the same under cxib and under the in-tree driver on the same emulated HCAs.

The guest has two HCAs and no driver. Each driver is loaded in turn, OpenSM makes the ports active, and the output of the
tools is parsed into fields. DIFFERENCES lists the fields that differ, with reasons.
"""

import json
import pathlib
import re
import subprocess
import time
import unittest

import guest
import rdma
import traffic
from guest import MELLANOX, find_devices, override
from machine import LONG, Guest

GUEST = Guest("tool-output", driver="none", level=LONG)
CLASS = pathlib.Path("/sys/class/infiniband")
PATIENCE = 300.0  # seconds; ends only a test that has already failed

DIFFERENCES = {
    r"modes/.*": "the only optional counter is one of RoCE packets, which an InfiniBand port does not have",
    r"devinfo/.*/(device_cap_flags_ex|PCI_WRITE_END_PADDING)$":
        "padding is for queues of raw packets, which an InfiniBand port does not have: the kernel allows no other",
    r"devinfo/.*/max_ops$":
        "an operation on a list of tags is a request, which takes up to four of the blocks that the in-tree driver counts",
    r"link/.*": "the in-tree driver leaves the prefix to the core, which takes it from the last GID",
    r"sysfs/.*/(fw_pages|reg_pages)$": "cxib shows the firmware's pages in debugfs",
}


def run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def ask(tool: str, *words: str) -> str:
    """Output of a tool of infiniband-diags."""
    return run(tool, *map(str, rdma.MAD_TIMEOUT), *words)


def devices() -> list[str]:
    return sorted(path.name for path in CLASS.glob("*"))


def ports_are_active() -> bool:
    return all("ACTIVE" in (CLASS / name / "ports/1/state").read_text() for name in devices())


def subnet_manager_is_master() -> bool:
    return subprocess.run(["sminfo"], capture_output=True, check=False).returncode == 0


def plain(text: str) -> str:
    """Replaces the drivers' device names."""
    return re.sub(r"\b(mlx5_|cxib)(?=\d)", "rdma", text)


def colon_fields(prefix: str, text: str) -> dict[str, str]:
    """Parses `name: value` lines. A line without a colon is a field without a value. A name may occur repeatedly."""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        name, _, value = line.strip().partition(":")
        if not name or name.startswith("#"):
            continue
        while f"{prefix}/{name}" in fields:
            name += " again"
        fields[f"{prefix}/{name}"] = value.strip(". ")
    return fields


def counter_fields(prefix: str, text: str) -> dict[str, str]:
    """Counters by name. A counter that traffic increments is reduced to whether it exists and has counted. On a busy
    machine other counters change as well."""
    fields = colon_fields(prefix, text)
    for name, value in fields.items():
        if re.search(r"(Data|Pkts)$", name) and value != "0":
            fields[name] = "counts"
        elif re.search(r"(XmitWait|VL15Dropped)$", name):
            fields[name] = "is there"
    return fields


def sysfs_fields(name: str) -> dict[str, str]:
    fields = {}
    directory = CLASS / name
    wanted = ["*", "ports/1/*", "ports/1/gids/*", "ports/1/pkeys/0", "ports/1/pkeys/1"]
    for pattern in wanted:
        for path in directory.glob(pattern):
            if path.is_file() and path.name != "uevent":
                fields[f"sysfs/{plain(name)}/{path.relative_to(directory)}"] = path.read_text().strip()
    return fields


def read_counters(name: str) -> dict[str, str]:
    """The counters of a device and its port from sysfs, and the output of `rdma statistic`."""
    directory = CLASS / name
    files = [*directory.glob("hw_counters/*"), *directory.glob("ports/1/hw_counters/*"), *directory.glob("ports/1/counters/*")]
    fields = {f"sysfs/{plain(name)}/{path.relative_to(directory)}": path.read_text().strip() for path in files}
    shown, = json.loads(run("rdma", "-j", "statistic", "show", "link", f"{name}/1"))
    return fields | {f"statistic/{plain(name)}/{key}": str(value) for key, value in shown.items()}


def counted(before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    """Counters that traffic has incremented. For counters that a busy machine increments as well, existence is
    sufficient."""
    fields = {}
    for name, value in after.items():
        if not value.isdigit() or name.endswith("/lifespan"):
            fields[name] = value
        elif name.rsplit("/", 1)[1] in traffic.MOVED_BY_DELAYS:
            fields[name] = "is there"
        else:
            fields[name] = "counts" if int(value) > int(before[name]) else "unchanged"
    return fields


def counters_that_traffic_moves() -> dict[str, str]:
    before = {name: read_counters(name) for name in devices()}
    traffic.exchange(*rdma.ports()[:2])
    return {field: value for name in devices() for field, value in counted(before[name], read_counters(name)).items()}


def collect() -> dict[str, str]:
    fields = counters_that_traffic_moves()
    for name in devices():
        fields |= colon_fields(f"devinfo/{plain(name)}", run("ibv_devinfo", "-v", "-d", name))
        fields |= sysfs_fields(name)
        for what in ("nodeinfo", "nodedesc", "portinfo", "guidinfo", "pkeys"):
            fields |= colon_fields(f"smp/{plain(name)}/{what}", ask("smpquery", "-C", name, "-D", what, "0"))
        fields |= counter_fields(f"perf/{plain(name)}", ask("perfquery", "-x", "-C", name))
    fields |= colon_fields("ibstat", run("ibstat"))
    fields |= {f"discover/{line}": "" for line in ask("ibnetdiscover").splitlines() if not line.startswith("#")}
    fields |= {f"dev/{plain(line.split()[1])}": line.split(": ", 2)[2] for line in run("rdma", "dev").splitlines()}
    fields |= {f"link/{line.split()[1]}": line for line in run("rdma", "link").splitlines()}
    fields |= {f"modes/{line}": "" for line in run("rdma", "statistic", "mode", "supported").splitlines()}
    return {plain(name): plain(value) for name, value in fields.items()}


class Answers(unittest.TestCase):
    maxDiff = None

    def collect_under_subnet_manager(self) -> dict[str, str]:
        with subprocess.Popen(["opensm", "--log_file", "/tmp/opensm.log"], stdout=subprocess.DEVNULL) as manager:
            deadline = time.monotonic() + PATIENCE
            while len(devices()) < 2 or not ports_are_active() or not subnet_manager_is_master():
                self.assertLess(time.monotonic(), deadline, "the subnet is not up")
                time.sleep(0.5)
            try:
                return collect()
            finally:
                manager.terminate()

    def in_tree(self) -> dict[str, str]:
        run("modprobe", "-a", "mlx5_core", "mlx5_ib", "ib_umad", "ib_uverbs")
        fields = self.collect_under_subnet_manager()
        run("modprobe", "-r", "mlx5_ib", "mlx5_core")
        return fields

    def ours(self) -> dict[str, str]:
        guest.load()
        self.addCleanup(guest.unload)
        for hca in find_devices(MELLANOX):
            with override(hca):
                self.assertEqual(guest.bind_error(hca), "")
        return self.collect_under_subnet_manager()

    def assert_counters_move(self, fields: dict[str, str]) -> None:
        standing = {name for name, value in fields.items()
                    if "/hw_counters/" in name and name.rsplit("/", 1)[1] in traffic.MOVED and value != "counts"}
        self.assertEqual(standing, set())

    def test_outputs_equal_or_explained(self) -> None:
        theirs, ours = self.in_tree(), self.ours()
        self.assert_counters_move(ours)
        self.assertGreater(len(theirs), 300)
        differing = {name for name in theirs.keys() | ours.keys() if theirs.get(name) != ours.get(name)}
        unexplained = {
            name: (theirs.get(name), ours.get(name))
            for name in sorted(differing)
            if not any(re.fullmatch(pattern, name) for pattern in DIFFERENCES)
        }
        needless = [pattern for pattern in DIFFERENCES if not any(re.fullmatch(pattern, name) for name in differing)]
        self.assertEqual((unexplained, needless), ({}, []), "differences without a reason, reasons without a difference")
