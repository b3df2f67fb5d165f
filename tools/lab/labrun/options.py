# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of tools/lab/run."""

import argparse
import os
import shlex
import sys
from pathlib import Path

LAB_FAILED = 125
TIMED_OUT = 124

# Kernels for the host's processor. The lab tree and its image contain them.
NATIVE_KERNELS = ("stock", "debug", "backports", "oldstable")
# The lab tree contains these kernels as well, but guests with them always boot, so that the image of resumed guests
# does not depend on them.
BOOTED_KERNELS = ("rt", "debug-rt", "debug-backports", "debug-oldstable")
ARM64_KERNELS = ("arm64", "arm64-16k", "arm64-rt")
KERNELS = NATIVE_KERNELS + BOOTED_KERNELS + ARM64_KERNELS
EMULATOR = Path("/repo/build/cxemu/cxemu")

_EPILOG = """\
ARGS may be given several times, each with one or more arguments.
COMMAND is one word with a shell command, or several words that are passed on as they are. It runs as root in the
directory of the guest that matches the current one below /repo, with LAB_DRIVER, LAB_KERNEL, LAB_HCAS, LAB_VM and
LAB_VMS in its environment and no standard input.

exit status:
  that of COMMAND (with --vms the first that is not 0), or
  125  the lab could not run it, or the guest failed: oops, WARN, sanitizer or lock report, violation, crash
  124  the guest did not boot, or COMMAND did not end, in time
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(LAB_FAILED, f"{self.prog}: {message}\n")


def _count(lowest, highest):
    def parse(text):
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None
        if not lowest <= value <= highest:
            raise argparse.ArgumentTypeError(f"{value} is not within {lowest} to {highest}")
        return value

    return parse


def _parser():
    parser = _Parser(
        prog="tools/lab/run",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s [options] -- COMMAND [ARGUMENT]…",
        description="Boots a guest with emulated HCAs, runs a command in it, fails when the kernel complains.",
        epilog=_EPILOG,
    )
    add = parser.add_argument
    add("--driver", choices=("cxib", "mlx5", "none"), default="none", help="driver to load (default: none)")
    add("--kernel", choices=KERNELS, default="stock", help="guest kernel (default: stock)")
    add("--hcas", type=_count(0, 8), metavar="N", help="HCAs of each guest (default: 1 with a driver, else 0)")
    add("--vms", type=_count(1, 4), default=1, metavar="N", help="guests, all on one switch (default: 1)")
    add("--sm", nargs="?", choices=("cxemu", "opensm"), const="cxemu", metavar="MANAGER",
        help="wait for active ports, with the subnet manager of the emulator (cxemu, the default) or with OpenSM in the "
             "first guest (opensm)")
    add("--cxemu", action="append", default=[], metavar="ARGS",
        help="further arguments for the emulator, as one word; the variable CXIB_LAB_CXEMU adds more")
    add("--timeout", type=_count(1, 86400), default=1800, metavar="S", help="limit for COMMAND (default: 1800 s)")
    add("--boot-timeout", type=_count(1, 3600), metavar="S",
        help="limit for each boot until COMMAND starts (default: 600/1200 s)")
    add("--memory", type=_count(256, 65536), metavar="MB", help="memory of a guest (default: 2048, debug 3072)")
    add("--cpus", type=_count(1, 64), default=2, metavar="N", help="processors of a guest (default: 2)")
    add("--nodes", type=_count(1, 4), default=1, metavar="N",
        help="NUMA nodes of a guest, which share its memory and processors; the HCAs are on the last one (default: 1)")
    add("--append", action="append", default=[], metavar="ARGS", help="further kernel arguments, as one word")
    add("--qemu", action="append", default=[], metavar="ARGS", help="further arguments for QEMU, as one word: devices that a test needs")
    add("--reboots", type=_count(0, 100), default=0, metavar="N",
        help="number of reboots of a guest, with its driver loaded, before COMMAND starts (default: 0)")
    add("--reboot-by", choices=("reset", "reboot", "kexec"), default="reset",
        help="kind of reboot: a machine reset, or the kernel, which first shuts devices down (default: reset)")
    add("--boot", action="store_true",
        help="boot the guest instead of resuming a snapshot (as CXIB_LAB_BOOT=1 in the environment does)")
    add("--iommu", action="store_true", help="put an IOMMU between devices and memory (intel-iommu, smmuv3)")
    add("--expect-report", action="append", default=[], metavar="PATTERN",
        help="a report that must appear in the kernel log (regular expression; (?s) matches several lines); "
             "may be repeated")
    add("--allow-report", action="append", default=[], metavar="PATTERN",
        help="a report that may appear in the kernel log without failing the run, as above; may be repeated")
    add("--kmemleak", action="store_true", help="scan for leaked memory at the end (debug kernel)")
    add("--shell", action="store_true", help="an interactive shell, after COMMAND if there is one; Ctrl-A X or exit ends it")
    add("--verbose", "-v", action="store_true", help="show the guest's kernel log and the duration of each stage")
    add("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _choose_hcas(parser, options):
    built = EMULATOR.exists()
    if options.hcas is None:
        options.hcas = 0 if options.driver == "none" else 1
    if options.hcas and not built:
        parser.error(f"--hcas {options.hcas} needs the emulator: build/cxemu/cxemu is not built (make cxemu)")


def _check(parser, options):
    if not options.shell and not options.command:
        parser.error("no COMMAND given (after --)")
    if options.shell and options.vms > 1:
        parser.error("--shell is for one guest, --vms is " + str(options.vms))
    if options.kmemleak and (not options.kernel.startswith("debug") or options.kernel == "debug-rt"):
        parser.error(f"--kmemleak needs --kernel debug, debug-backports or debug-oldstable: {options.kernel} has no kmemleak")
    if options.kernel in ARM64_KERNELS and options.nodes > 1:
        parser.error(f"--nodes {options.nodes}: guests with arm64 processors have one")
    if options.kernel in ARM64_KERNELS and options.shell:
        parser.error("--shell: guests with arm64 processors have no second serial line")
    if options.nodes > options.cpus:
        parser.error(f"--nodes {options.nodes} needs as many processors, --cpus is {options.cpus}")
    if options.sm and not options.hcas:
        parser.error("--sm needs at least one HCA (--hcas)")
    if options.sm and options.driver == "none":
        parser.error("--sm needs a driver (--driver mlx5 or cxib)")


def release(kernel):
    """The release (uname -r) of a kernel of the lab, as passed by tools/lab/run; empty if it is not installed."""
    return os.environ.get(f"LAB_RELEASE_{kernel.upper().replace('-', '_')}", "")


def parse(arguments):
    """Parses the options; exits with a message if they are invalid."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command[:1] == ["--"]:
        options.command = options.command[1:]
    _choose_hcas(parser, options)
    _check(parser, options)
    debug = options.kernel.startswith("debug")
    options.boot_timeout = options.boot_timeout or (1200 if debug else 600)
    options.memory = options.memory or (3072 if debug else 2048)
    for name in ("cxemu", "append", "qemu"):
        setattr(options, name, " ".join(getattr(options, name)))
    options.cxemu = f"{options.cxemu} {os.environ.get('CXIB_LAB_CXEMU', '')}".strip()
    if options.sm == "cxemu":
        options.cxemu = f"--subnet-manager {options.cxemu}"
    words = options.command
    options.command = words[0] if len(words) == 1 else shlex.join(words)
    return options
