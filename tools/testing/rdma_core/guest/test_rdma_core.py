# SPDX-License-Identifier: GPL-2.0-or-later
"""rdma-core's own tests, unchanged, on two HCAs; the runner says how their outcomes are judged."""

import sys
import unittest

import record
from cxemu_machines import MATRIX
from machine import LONG, Guest

# munmap() unmaps a page before it calls the MMU notifier. If the in-tree driver prefetches present pages in between, the
# RDMA core warns that a page is mapped for the device and missing in the process.
PREFETCH = (r"(?s)ib_umem_odp_map_dma_and_lock\+.*\bmlx5_ib_prefetch_mr_work\+",)

CXIB = Guest("cxib", sm="cxemu", cxemu="--profile connectx7", runner="suite.py", seconds=2400)
MLX5 = CXIB.but("mlx5", driver="mlx5", reports=PREFETCH, level=LONG)


def over_vfio(profile: str) -> Guest:
    """A guest in which vfio-pci is the HCA's only driver. Profiles before connectx5 lack umem_uid_0, which rdma-core's
    driver needs."""
    return Guest(f"vfio-{profile}", driver="none", hcas=1, iommu=True, cxemu=f"--profile {profile} --subnet-manager",
                 allow="vfio_violations.toml", runner="over_vfio.py", level=LONG, only=("tests.test_mlx5_vfio",))


def on_profile(guest: Guest) -> Guest:
    """The guest of a profile and function of cxemu. cxib is compared with the in-tree driver on the same device."""
    profile = guest.cxemu.split()[1]
    guest = guest.but(guest.name, runner="suite.py", settings=(f"SUITE_PROFILE={profile}",), seconds=2400)
    if guest.driver == "mlx5":
        return guest.but(guest.name, reports=PREFETCH)
    run = f"rdma-core-{guest.name.replace('cxib', 'mlx5')}"
    results = f"build/tests/{run}/outcomes.json"
    # Waits for the run if another session has started it.
    build = f"flock build/tests/{run}.lock test -e {results} || pytest-3 --quiet --run {run} tools/testing/rdma_core"
    return guest.but(guest.name, settings=(*guest.settings, f"SUITE_REFERENCE=/repo/{results}"), builds=(build,))


GUESTS = [
    CXIB.but("cxib", envelope=True),
    # A kernel that is several times slower, even more so on a busy machine.
    MLX5, CXIB.but("debug", kernel="debug", level=LONG, seconds=7200),
    # On a device with firmware of 2016 MRs keep their keys when their access rights change, and DEVX is unsupported
    # instead of forbidden, which the tests distinguish.
    CXIB.but("old-firmware", cxemu="--profile connectx4-2016", settings=("SUITE_PROFILE=connectx4-2016",), level=LONG).with_tests(
        *(f"tests.test_mr.MRTest.test_mr_rereg_{what}" for what in ("access", "pd", "addr")),
        "tests.test_mlx5_flow.Mlx5MatcherTest.test_tx_packet_reformat"),
    *(CXIB.but(kernel, kernel=kernel, level=LONG) for kernel in ("backports", "oldstable")),
    *(over_vfio(f"connectx{generation}") for generation in (5, 6, 7)),
    *(on_profile(guest) for guest in MATRIX if guest.name.endswith(("-2016-physical", "-connectx6-virtual"))),
]


def load_tests(loader: unittest.TestLoader, _tests: unittest.TestSuite, _pattern: str | None) -> unittest.TestSuite:
    """Makes the tests for their names; their constructors read the arguments of run_tests.py."""
    names = sorted(record.test_names())
    sys.modules["args_parser"].parser.args = {"dev": None, "port": 1, "gid": None}
    return loader.loadTestsFromNames(names)
