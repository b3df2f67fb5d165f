# SPDX-License-Identifier: GPL-2.0-or-later
"""The guests of the tests of kernel verbs."""

from machine import LONG, Guest

BUILD = "tools/testing/kernel_verbs/build --kernel KERNEL"
# The kernel warns once about the case context_no_options.
WARNING = r"WARNING: .* at .*context_(check_options|check_allocation|alloc_cq|change)\+"

STOCK = Guest("stock", sm="cxemu", cxemu="--signature-stop random", allow="expected_violations.toml", reports=(WARNING,),
              builds=(BUILD,))
DEBUG = STOCK.but("debug", kernel="debug", cxemu="", leaks=False,
                  settings=("KVERBS_SEEDS=1", "KVERBS_ROUNDS=1", "KVERBS_ALLOCATIONS=6"))
MLX5 = STOCK.but("mlx5", driver="mlx5", builds=("tools/testing/module/build --kernel KERNEL", BUILD))
# HCAs without a local key for all PDs. Their QPs stop at a fence after a signature error.
OWN_KEYS = STOCK.but("own-keys", cxemu="--capability umr_ptr_rlky=0 --signature-stop fence",
                     settings=("KVERBS_SEEDS=1", "KVERBS_PIPELINING_SEEDS=3"))
# What cxib sends in these tests is compared with what tools/testing/envelope/record has recorded of the in-tree driver.
ENVELOPE = STOCK.but("envelope", settings=("KVERBS_SEEDS=1",), envelope=True)

SEEDS = STOCK.but("seeds", settings=("KVERBS_SEEDS=10", "KVERBS_ROUNDS=5", "KVERBS_PIPELINING_SEEDS=1000"), level=LONG,
                  seconds=18000)
# STOCK sees errors reported before the transfer completes, this guest sees them afterwards.
SEEDS_DEBUG = STOCK.but("seeds-debug", kernel="debug", cxemu="--signature-stop random --signature-report behind",
                        settings=("KVERBS_SEEDS=3", "KVERBS_ROUNDS=2"), level=LONG, seconds=18000)
FAULTS = DEBUG.but("faults", settings=("KVERBS_ALLOCATIONS=12",), leaks=True, level=LONG, seconds=18000)
LOST_STOPS = STOCK.but("lost-stops", faults="eqe type=3 drop 20%\neqe type=3 duplicate 20%", level=LONG)
LOSS = STOCK.but("loss", faults="packet drop 1% data\npacket duplicate 1% data\npacket reorder 1% data",
                 settings=("KVERBS_SEEDS=20",), level=LONG, seconds=18000)
DEBUG_RT, ARM64 = [
    STOCK.but(kernel, kernel=kernel, settings=("KVERBS_SEEDS=1", "KVERBS_ROUNDS=1"), level=LONG, seconds=18000)
    for kernel in ("debug-rt", "arm64")]

ALL = [STOCK, SEEDS, SEEDS_DEBUG, DEBUG_RT, ARM64]
