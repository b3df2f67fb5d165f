# SPDX-License-Identifier: GPL-2.0-or-later
"""What guest a test file needs. A file names it in GUEST, or several in GUESTS; the same tests then run in each.

    GUEST = Guest("ports", driver="mlx5", hcas=1, sm="cxemu", cxemu="--ports 2")

Files that name the same guest share it. The tests of one guest run file by file in the order of their names.
"""

import dataclasses
import re

CHECK = "check"  # what make check runs
LONG = "long"  # what only make check-long runs


@dataclasses.dataclass(frozen=True)
class Guest:
    """A guest, or several, with emulated HCAs; the words in parentheses are options of tools/lab/run.

    name: with the name of the directory the name of the run
    driver: of the HCAs when the tests start: cxib, mlx5 or none (--driver)
    kernel: a kernel that tools/lab/prepare --help lists (--kernel)
    hcas, vms, cpus, memory, nodes, iommu, reboots, append: as the options with these names; 0, False or "": their default
    sm: subnet manager, cxemu or opensm; "": none (--sm)
    options: further options of tools/lab/run
    cxemu: options of the emulator (--cxemu); "DIRECTORY" is replaced by the run's, which holds that of control.py
    faults: fault plan of the emulator
    allow: file with violations of the device's rules that the tests expect, beside the test file
    reports: regular expressions of kernel reports that the tests expect (--allow-report)
    settings: environment variables of the tests
    server: module whose serve() the first of several guests runs instead of the tests
    builds: commands that build what the tests load, run in the checkout before the guest starts; "KERNEL" is replaced; if one
        ends with 77, the tests are skipped
    runner: what runs the tests and reports them as guest/run_tests.py does, instead of it: a file in the directory of the tests
    packets: kinds of packets that a capture of the run must contain (tools/testing/cxemu/capture.py)
    leaks: whether kmemleak looks for leaked memory at the end, in a kernel that has it (--kmemleak)
    envelope: whether to compare what the driver sends with public drivers (tools/testing/envelope)
    level: CHECK or LONG
    only: the tests of this file that run in this guest, in this order: names as Class or Class.test; empty: all
    seconds: after which the guest is ended
    """

    name: str
    driver: str = "cxib"
    kernel: str = "stock"
    hcas: int = 2
    vms: int = 1
    cpus: int = 0
    memory: int = 0
    nodes: int = 0
    iommu: bool = False
    reboots: int = 0
    append: str = ""
    sm: str = ""
    options: tuple[str, ...] = ()
    cxemu: str = ""
    faults: str = ""
    allow: str = ""
    reports: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    server: str = ""
    builds: tuple[str, ...] = ()
    runner: str = ""
    packets: tuple[str, ...] = ()
    leaks: bool = True
    envelope: bool = False
    level: str = CHECK
    only: tuple[str, ...] = ()
    seconds: int = 3600

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9+-]+", self.name):
            raise ValueError(f"the name of a guest is {self.name!r}, must be of small letters, digits and dashes")
        if self.level not in (CHECK, LONG):
            raise ValueError(f"the level of the guest {self.name} is {self.level!r}, must be {CHECK!r} or {LONG!r}")

    def with_tests(self, *only: str) -> "Guest":
        """The same guest, for these tests of the file."""
        return dataclasses.replace(self, only=only)

    def but(self, name: str, **changes: object) -> "Guest":
        """A guest of another name that differs from this one."""
        return dataclasses.replace(self, name=name, **changes)

    def machine(self) -> "Guest":
        """What files that share the guest have in common."""
        return dataclasses.replace(self, only=())
