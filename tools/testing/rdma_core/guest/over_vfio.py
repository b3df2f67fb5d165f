#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs tests of rdma-core's vfio driver on the only HCA of this guest; none may be skipped.

usage: over_vfio.py NAME…
"""

import importlib
import pathlib
import subprocess
import sys
import time

import record
from scapy.fields import MayEnd

DEVICES = pathlib.Path("/sys/bus/pci/devices")
VENDOR = "0x15b3"
HUGE_PAGES = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")


def give_to_vfio() -> str:
    """Binds the HCA to vfio-pci; returns its address."""
    device = next(path for path in sorted(DEVICES.iterdir()) if (path / "vendor").read_text().strip() == VENDOR)
    subprocess.run(["modprobe", "vfio-pci"], check=True)
    (device / "driver_override").write_text("vfio-pci")
    pathlib.Path("/sys/bus/pci/drivers_probe").write_text(device.name)
    bound = (device / "driver").resolve().name
    if bound != "vfio-pci":
        raise SystemExit(f"{device.name} has the driver {bound}")
    return device.name


def take_beginnings_of_eqes() -> None:
    """Lets Scapy accept a truncated packet: the test parses the first 8 of an EQE's 64 bytes. Older versions of Scapy
    accept it by default, newer ones only if a field says so."""
    fields = importlib.import_module("tests.mlx5_prm_structs").SwEqe.fields_desc
    place = next(place for place, field in enumerate(fields) if field.name == "reserved3")
    fields[place] = MayEnd(fields[place])


def wait_for_event_of_port() -> None:
    """Brings the emulator's port up late. The test waits for an active port, then expects its event. A card's port
    comes up seconds after INIT_HCA, when the test has its EQ; the emulator's is up at once, so it starts down. On a
    busy guest the event may arrive after the port is active."""
    module = importlib.import_module("tests.test_mlx5_vfio")
    create = module.Mlx5VfioTrafficTest.create_async_players

    def create_and_close_port(test):
        create(test)
        test.server.change_port_state_with_registers(module.PortStatus.MLX5_PORT_DOWN)
        query = test.server.query_port_state_with_mads

        def query_behind_event(port):
            deadline = time.monotonic() + record.PATIENCE
            while not test.caught_event and time.monotonic() < deadline:
                time.sleep(0.1)
            return query(port)

        test.server.query_port_state_with_mads = query_behind_event

    module.Mlx5VfioTrafficTest.create_async_players = create_and_close_port


def be_patient() -> None:
    """Extends the 20 s that the tests wait for an active port."""
    for name in ("tests.test_mlx5_vfio", "tests.mlx5_base"):
        importlib.import_module(name).PORT_STATE_TIMEOUT = record.PATIENCE


class Strict(record.Recorder):
    def addSkip(self, test, reason):  # noqa: N802  (unittest's name)
        super().addSkip(test, reason)
        self.note(test, "failed", f"skipped: {reason}")


def main() -> None:
    HUGE_PAGES.write_text("64")
    sys.argv[1:1] = ["--pci-dev", give_to_vfio(), "-v"]
    record.modules()
    take_beginnings_of_eqes()
    wait_for_event_of_port()
    be_patient()
    record.Recorder = Strict
    record.main()


if __name__ == "__main__":
    main()
