# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests that several test files of cxemu share. The in-tree driver tests the emulator; cxib and the emulator test each
other."""

from machine import LONG, Guest


def with_kernels(guest: Guest, *kernels: str) -> list[Guest]:
    """The guest, and long runs of it with the in-tree drivers of other kernels."""
    return [guest, *(guest.but(f"{guest.name}-{kernel}", kernel=kernel, level=LONG) for kernel in kernels)]


def with_tests(guests: list[Guest], *only: str) -> list[Guest]:
    return [guest.with_tests(*only) for guest in guests]


# CXEMU_MATRIX=whole combines all services, operations, sizes and options.
WHOLE = ("CXEMU_MATRIX=whole",)

# HCAs without subnet manager.
DEVICE = with_kernels(Guest("device", driver="mlx5", settings=("CXEMU_RELOADS=1",)), "backports", "oldstable")
IOMMU = [Guest("iommu", driver="mlx5", sm="cxemu", iommu=True, settings=("CXEMU_RELOADS=1",), level=LONG)]
# The debug kernel examines the in-tree driver more than the emulator: one guest suffices.
DEBUG = Guest("debug", driver="mlx5", kernel="debug", sm="cxemu", iommu=True, level=LONG)
REBOOTS = [Guest("reboots", driver="mlx5", sm="cxemu", reboots=1, level=LONG)]
VIRTUAL = [Guest("virtual", driver="mlx5", sm="cxemu", cxemu="--device-id 1018", settings=("CXEMU_DEVICE_ID=1018",),
                level=LONG)]
SIGNATURES = [Guest("signatures", driver="mlx5", sm="cxemu", level=LONG)]

# OpenSM, diagnostic tools, datagrams, multicast, IPoIB; the packets on the wire.
FABRIC = Guest("fabric", driver="mlx5", hcas=3, sm="opensm",
               packets=("smp", "directed-route", "gmp", "datagram", "multicast", "global"))
FABRIC_WHOLE = FABRIC.but("fabric-whole", settings=WHOLE, level=LONG)

# Every service between two HCAs: pingpongs, perftest, the connection manager, data patterns, extended atomic operations,
# error counters.
TRANSPORT = [
    Guest("transport-cxib", sm="cxemu", level=LONG),
    Guest("transport", driver="mlx5", sm="cxemu", settings=WHOLE, level=LONG, seconds=14400),
]

# Packets of connections: checksums, opcodes, PSNs.
WIRE = [Guest("wire", driver="mlx5", sm="cxemu", settings=("CXEMU_ROUNDS=3",),
              packets=("rc", "uc", "xrc", "long", "read", "atomic", "acknowledge", "global"))]

TWO_PORTS = [Guest("migration", driver="mlx5", sm="cxemu", cxemu="--ports 2", level=LONG)]
# The tests restart OpenSM, and a program overruns its CQ on purpose.
SUBNET_CXIB = [Guest("subnet-cxib-debug", kernel="debug", sm="opensm", allow="../module/violations_of_overruns.toml", level=LONG)]

# Profile, PCI device IDs of its physical and its virtual function, major version of its firmware, Gbit/s of a lane.
PROFILES = (
    ("connectx4-2016", "1013", "1014", "12", "25.0"),
    ("connectx4", "1013", "1014", "12", "25.0"),
    ("connectx5", "1017", "1018", "16", "25.0"),
    ("connectx6", "101b", "101c", "20", "50.0"),
    ("connectx7", "1021", "101e", "28", "100.0"),
)


def on_profile(driver: str, profile: str, function: str, device_id: str, firmware: str, speed: str) -> Guest:
    settings = (f"CXEMU_DEVICE_ID={device_id}", f"CXEMU_FIRMWARE={firmware}", f"CXEMU_LANE_SPEED={speed}")
    return Guest(f"{driver}-{profile}-{function}", driver=driver, sm="cxemu", settings=settings, level=LONG,
                 cxemu=f"--profile {profile} --device-id {device_id}")


# Both drivers on every profile, and on the physical and the virtual function of every other one.
MATRIX = [on_profile(driver, profile, *(("physical", physical), ("virtual", virtual))[number % 2], firmware, speed)
          for driver in ("mlx5", "cxib") for number, (profile, physical, virtual, firmware, speed) in enumerate(PROFILES)]
