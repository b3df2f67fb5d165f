# SPDX-License-Identifier: GPL-2.0-or-later
"""The guests of the tests of ULPs."""

from machine import LONG, Guest

ALL_MODULES = "tools/testing/ulp/build KERNEL rds_atomic corruption pipelined_nvmet"
RDS_ATOMIC = "tools/testing/ulp/build KERNEL rds_atomic"
# The driver, for a guest of the in-tree driver: its target finds no signature pipelining on foreign devices.
CXIB = "tools/testing/module/build --kernel KERNEL"
LOST_PACKETS = "\n".join(f"packet drop 1% data direction=out @hca{number}" for number in (0, 1))
# Faults of the protocols, described in Documentation/ulps.rst with the drivers on which they occur.
REPORTS = (r"(?s)possible circular locking dependency.*\brds_trans_sem\b",
           r"(?s)KASAN: (slab-)?use-after-free in .*\bcma_ib_handler\+.*\bcm_send_handler\+",
           r"(?s)irq lock inversion dependency.*\biscsit_handle_time2retain_timeout\+")

STOCK = Guest("stock", sm="cxemu", envelope=True, builds=(ALL_MODULES,))
# The first guest is the server, the second one the client.
TWO = Guest("guests-all", sm="cxemu", vms=2, hcas=1, server="peer", builds=(ALL_MODULES,), level=LONG, seconds=7200)
IN_TREE = Guest("in-tree", driver="mlx5", sm="cxemu", builds=(CXIB, ALL_MODULES), level=LONG, seconds=7200)
# No HCA, but rdma_rxe between two virtual Ethernet interfaces.
RXE = Guest("rxe-all", driver="none", hcas=0, settings=("ULP_DRIVER=rxe",), level=LONG, seconds=7200)
LOSS = Guest("loss", sm="cxemu", faults=LOST_PACKETS, settings=("ULP_LOSS=1",))
GOES = Guest("goes", sm="cxemu", hcas=3)
# KASAN must report each use of freed memory, not only the first.
ON_DEBUG = Guest("on-debug", kernel="debug", sm="cxemu", append="kasan_multi_shot", reports=REPORTS)

ALL = STOCK.but("all", envelope=False, settings=("ULP_WHOLE=1",), level=LONG, seconds=7200)
LOSS_ALL = LOSS.but("loss-all", level=LONG, seconds=7200)
FAULTS_ALL = GOES.but("faults-all", hcas=2, level=LONG, seconds=7200)
GOES_ALL = GOES.but("goes-all", settings=("ULP_WHOLE=1",), level=LONG, seconds=7200)
NODES = GOES.but("nodes", hcas=2, nodes=2, level=LONG)
PROCESSORS_DEBUG = ON_DEBUG.but("processors-debug", level=LONG)
PIPELINING_DEBUG = ON_DEBUG.but("pipelining-debug", builds=(ALL_MODULES,), level=LONG, seconds=7200)
SOAK = ON_DEBUG.but("soak", settings=("ULP_POLLING=random:1", "ULP_SOAK=300"), level=LONG, seconds=7200)
CONTEXTS = ("softirq:workqueue", "thread:unbound")
POLLING = [STOCK.but(f"polling-{contexts.replace(':', '-')}", envelope=False, builds=(RDS_ATOMIC,),
                     settings=(f"ULP_POLLING={contexts}",), level=LONG, seconds=7200) for contexts in CONTEXTS]
POLLING_DEBUG = ON_DEBUG.but("polling-thread-thread-debug", settings=("ULP_POLLING=thread:thread",), level=LONG, seconds=7200)

EVERY_PROTOCOL = [ALL, TWO, IN_TREE]
