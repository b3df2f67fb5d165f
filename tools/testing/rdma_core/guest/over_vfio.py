#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the tests of rdma-core's vfio driver on the only HCA of this guest, and checks that none is skipped.

usage: over_vfio.py FILE   FILE gets the outcome of each test
"""

import importlib
import json
import pathlib
import subprocess
import sys
import time

import record
from scapy.fields import MayEnd

DEVICES = pathlib.Path("/sys/bus/pci/devices")
VENDOR = "0x15b3"
LEAST = 2  # tests: test_mlx5vfio_rc_qp_send_imm_traffic, test_mlx5vfio_async_event
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


def main(file: pathlib.Path) -> int:
    HUGE_PAGES.write_text("64")
    file.parent.mkdir(parents=True, exist_ok=True)
    sys.argv = [sys.argv[0], str(file), "--pci-dev", give_to_vfio(), "-v", "tests.test_mlx5_vfio"]
    sys.path[:0] = [str(record.TESTS), str(record.TESTS.parent)]
    take_beginnings_of_eqes()
    wait_for_event_of_port()
    be_patient()
    try:
        status = record.main()
    except SystemExit as end:  # unittest reports its result this way
        status = end.code
    outcomes = json.loads(file.read_text(encoding="utf-8"))
    bad = [f"{name}: {entry['outcome']}: {entry['text']}" for name, entry in outcomes.items() if entry["outcome"] != "passed"]
    print(f"{len(outcomes)} tests, {len(bad)} not passed", *bad, sep="\n  ")
    return 1 if status or bad or len(outcomes) < LEAST else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
