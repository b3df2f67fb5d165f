# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests that several test files of this directory share."""

from machine import LONG, Guest

BUILD_CASES = ("tools/testing/module/cases/build",)
# The contents of DEVX commands come from user space, so the strict checker does not attribute them to the driver.
OF_USER_SPACE = "violations_of_user_space.toml"
# fork() takes the lock of the address space before disassociation_lock of the RDMA core, the removal of a device takes them in
# the other order: with each driver they can wait for each other.
FORK = (r"(?s)possible circular locking.*\bdisassociation_lock\b.*\brdma_umap_open\+",)


def on_debug(guest: Guest, **changes: object) -> Guest:
    """The guest with the debug kernel, in the long form."""
    return guest.but(f"{guest.name}-debug", kernel="debug", level=LONG, **changes)


# What the check runs with KASAN, lockdep and kmemleak: what handles errors.
DEBUG = Guest("debug", kernel="debug", sm="cxemu", allow=OF_USER_SPACE, builds=BUILD_CASES,
              settings=("CXIB_REQUESTS=250", "CXIB_REGISTRATIONS=4 8 10"))

# Many HCAs that go wrong during bring-up. Boot and initialization need few pages.
WRONG_DEVICES = Guest("wrong-devices", driver="none", hcas=8, cxemu="--boot-pages 2 --init-pages 6",
                      allow="expected_violations.toml")
WRONG_DEVICES_DEBUG = on_debug(WRONG_DEVICES, hcas=4, settings=("CXIB_ALLOCATIONS=6", "CXIB_COMMANDS=1", "CXIB_SEEDS=4"))

BRING_UP = Guest("bring-up", driver="none", cxemu="--boot-pages 2 --init-pages 6", settings=("CXIB_CYCLES=3",))
# On the debug kernel a device takes several times as long.
BRING_UP_DEBUG = on_debug(BRING_UP, settings=("CXIB_CYCLES=1", "CXIB_ALLOCATIONS=6"))
# One HCA without counters, on the second of two NUMA nodes.
UNCOUNTED = Guest("bring-up-uncounted-debug", driver="none", kernel="debug", hcas=1, nodes=2, settings=("CXIB_CYCLES=1",),
                  cxemu="--capability max_qp_cnt=0 --log DIRECTORY/commands", level=LONG)

# The second HCA fails and recovers.
RECOVERY = Guest("recovery", sm="cxemu")
RECOVERY_DEBUG = on_debug(RECOVERY, reports=FORK)

# Programs of rdma-core and perftest, of older libraries, killed and malicious ones.
USER_SPACE = Guest("user-space", sm="cxemu", cxemu="--capability qp_packet_based=1",
                   allow="violations_of_overruns.toml")
USER_SPACE_DEBUG = on_debug(USER_SPACE, settings=("CXIB_ROUNDS=20",))

# DEVX commands, ODP, objects that are used during their destruction.
DEVICE_COMMANDS = Guest("device-commands", allow=OF_USER_SPACE, builds=BUILD_CASES)
DEVICE_COMMANDS_DEBUG = on_debug(DEVICE_COMMANDS)

# C programs, with two ports per HCA. One of them restarts OpenSM.
CASES = Guest("cases", sm="opensm", cxemu="--ports 2", builds=BUILD_CASES)
REGISTRATIONS = CASES.but("registrations", kernel="debug", settings=("CXIB_SEED=2", "CASE_SECONDS=60"), level=LONG, seconds=14400,
                          reports=FORK)

# What `make fuzz` runs for hours. The check has the first five seeds.
BAD_REQUESTS = Guest("bad-requests", kernel="debug", allow=OF_USER_SPACE, settings=("CXIB_REQUESTS=1000", "CXIB_FIRST_SEED=6"),
                     level=LONG, seconds=86400)

# A kernel that bounces all DMA, and with it an IOMMU in pass-through mode, with which nothing is bounced.
BOUNCED = Guest("bounced-dma", sm="cxemu", append="swiotlb=force", level=LONG)
TRANSLATED = BOUNCED.but("translated-dma", iommu=True, settings=("CXIB_ROUNDS=20",))

# Kernels of other Debian releases, a real-time kernel, another processor with larger pages.
OTHER_KERNELS = [Guest(kernel, kernel=kernel, sm="cxemu") for kernel in ("backports", "oldstable")]
LARGER_PAGES = Guest("arm64-16k", kernel="arm64-16k", sm="cxemu", level=LONG)
OTHER_KERNELS += [Guest("debug-rt", kernel="debug-rt", sm="cxemu", level=LONG), LARGER_PAGES]
IN_TREE = [Guest(f"mlx5-{kernel}", driver="mlx5", kernel=kernel, sm="cxemu", settings=("CXEMU_RELOADS=1",), level=LONG)
           for kernel in ("backports", "oldstable")]

# Firmware of 2016. Its HCAs have no atomic operations. With cxib, MRs keep their keys when their access rights change.
OLD_FIRMWARE = Guest("old-firmware", sm="cxemu", cxemu="--profile connectx4-2016")
OLD_FIRMWARE_MLX5 = OLD_FIRMWARE.but("old-firmware-mlx5", driver="mlx5", level=LONG,
                                     settings=("CXEMU_DEVICE_ID=1013", "CXEMU_FIRMWARE=12"))

# Unusual guests. If a kernel argument occurs twice, the later one is used.
STRICT_ISOLATED = Guest("iommu-strict-isolated", sm="cxemu", iommu=True, level=LONG,
                        append="isolcpus=managed_irq,domain,1 nohz_full=1 rcu_nocbs=1")
IDENTITY_FIVE_LEVELS = Guest("iommu-pt-five-levels", sm="cxemu", iommu=True, append="iommu=pt", level=LONG,
                             options=("--qemu", "-cpu max,erms=off,fsrm=off,fsrs=off,fzrm=off,la57=on"))
OFF_NOSMT = Guest("iommu-off-nosmt-vectors-3", sm="cxemu", iommu=True, append="intel_iommu=off nosmt", cxemu="--vectors 3",
                  options=("--qemu", "-smp 4,sockets=1,cores=2,threads=2"), level=LONG)
ONE_PROCESSOR = Guest("processors-1", sm="cxemu", cpus=1, level=LONG)
# On a host with fewer processors their speed cannot be measured, and they may wait for each other for a long time.
MANY_PROCESSORS = Guest("processors-64", sm="cxemu", cpus=64, memory=4096, options=("--boot-timeout", "1800"), level=LONG,
                        append="lpj=4000000 tsc=reliable nowatchdog rcupdate.rcu_cpu_stall_suppress=1")
SIGNATURES = Guest("signatures", driver="none", append="lockdown=integrity", level=LONG)
UNUSUAL = [STRICT_ISOLATED, IDENTITY_FIVE_LEVELS, OFF_NOSMT, ONE_PROCESSOR, MANY_PROCESSORS]
