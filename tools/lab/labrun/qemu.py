# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds QEMU's command line, and decides whether the host's KVM is usable."""

import json
import os
import re
import subprocess
from pathlib import Path

BINARY = "qemu-system-x86_64"
_ARM64_BINARY = "qemu-system-aarch64"

_QUIET_KERNEL = "panic=-1 kunit.enable=1 nokaslr mitigations=off"
_QUIET_MACHINE = (
    "apparmor=0 audit=0 "
    # The processors are emulated and shared, so a long delay is not a stall.
    "rcupdate.rcu_cpu_stall_timeout=120 watchdog_thresh=60 "
    "sysctl.kernel.hung_task_timeout_secs=240 workqueue.watchdog_thresh=120"
)
_START = {
    "amd64": f"console=ttyS0 {_QUIET_KERNEL} no_timer_check tsc=reliable {_QUIET_MACHINE}",
    "arm64": f"console=ttyAMA0 {_QUIET_KERNEL} {_QUIET_MACHINE}",
}

# QEMU emulates "rep movsb" and "rep stosb" byte by byte. Without the CPUID flags for fast versions, the kernel copies
# and clears words in a loop, which takes a tenth of the time for a page.
_PROCESSOR = {"kvm": "max", "tcg": "max,erms=off,fsrm=off,fsrs=off,fzrm=off"}


def _processor_virtualizes():
    text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    return re.search(r"^flags\s*:.*\b(vmx|svm)\b", text, re.MULTILINE) is not None


def _qemu_starts_with_kvm():
    quit_at_once = '{"execute":"qmp_capabilities"}{"execute":"quit"}'
    try:
        probe = subprocess.run(
            [BINARY, "-accel", "kvm", "-machine", "q35", "-cpu", "max", "-nodefaults", "-display", "none", "-S",
             "-qmp", "stdio"],
            input=quit_at_once, capture_output=True, text=True, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        return False
    return probe.returncode == 0


def accelerator(processor="amd64"):
    """Returns CXIB_LAB_ACCEL if it is set, "kvm" if a KVM guest can be created, else "tcg". A foreign processor is
    always emulated."""
    chosen = os.environ.get("CXIB_LAB_ACCEL", "")
    if processor != "amd64":
        return "tcg"
    if chosen in ("kvm", "tcg"):
        return chosen
    usable = os.access("/dev/kvm", os.R_OK | os.W_OK) and _processor_virtualizes() and _qemu_starts_with_kvm()
    return "kvm" if usable else "tcg"


def shares_counter(machine, more):
    """Whether the guest uses the host's time stamp counter; more: further arguments for QEMU."""
    return machine["processor"] == "amd64" and machine["accelerator"] == "tcg" and "-icount" not in more


def kernel_arguments(directory, extra, iommu=False, counter_khz=None, processor="amd64"):
    """Builds the kernel command line; directory is the guest's directory.

    Without a directory the guest is for a snapshot, and gets its directory when it is resumed. counter_khz: rate of the
    time stamp counter, if the kernel need not measure it.
    """
    words = [_START[processor], f"lab.directory={directory}" if directory else "lab.snapshot"]
    if counter_khz:
        words += [f"tsc_early_khz={counter_khz}"]
    if iommu:
        # In strict mode the device cannot access memory that the driver has unmapped.
        words += ["iommu.strict=1"] if processor == "arm64" else ["intel_iommu=on", "iommu.strict=1"]
    return " ".join([*words, extra]).strip()


def _share(tag, path, readonly):
    access = ",readonly=on" if readonly else ""
    return [
        "-fsdev", f"local,id={tag},path={path},security_model=none,multidevs=remap{access}",
        "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}",
    ]


def _port(name, descriptor):
    return [
        "-chardev", f"socket,id={name},fd={descriptor}",
        "-device", f"virtserialport,chardev={name},name=lab.{name}",
    ]


def _memory(size, nodes):
    """Arguments for SIZE MiB of memory, divided equally among the nodes."""
    # The emulator can access the guest's memory only if it is shared.
    backend = "memory-backend-memfd,id=memory{},size={}M,share=on"
    if nodes == 1:
        return ["-object", backend.format("", size), "-machine", "memory-backend=memory"]
    parts = [size // nodes] * (nodes - 1)
    words = []
    for node, part in enumerate([*parts, size - sum(parts)]):
        words += ["-object", backend.format(node, part), "-numa", f"node,nodeid={node},memdev=memory{node}"]
    return words


def _processors(count, nodes):
    words = ["-smp", f"{count},sockets={count}"] if nodes > 1 else ["-smp", str(count)]
    for processor in range(count if nodes > 1 else 0):
        words += ["-numa", f"cpu,node-id={processor * nodes // count},socket-id={processor}"]
    return words


def _bus_of_hcas(nodes):
    """Arguments for a host bridge of the last node, and its name."""
    if nodes == 1:
        return [], "pcie.0"
    return ["-device", f"pxb-pcie,id=last-node,bus=pcie.0,bus_nr=128,numa_node={nodes - 1}"], "last-node"


def _hca_port(index, bus):
    return ["-device",
            f"pcie-root-port,id=hca-port{index},bus={bus},chassis={index + 1},slot={index + 1},pref64-reserve=64M"]


def hca(index, socket):
    """An HCA on its port in QEMU's syntax, for the command line or for hot-plug."""
    return {
        "driver": "vfio-user-pci",
        "id": f"hca{index}",
        "bus": f"hca-port{index}",
        # The host may not schedule the emulator for a long time; QEMU must not time out.
        "x-msg-timeout": 600000,
        "socket": {"type": "unix", "path": str(socket)},
    }


def _board(machine):
    """Program, board and processors."""
    if machine["processor"] == "arm64":
        # MSIs need version 3 of the interrupt controller. The kernel signs return addresses; emulating the cipher that
        # processors normally use for this takes most of the time.
        board = "virt,gic-version=3" + (",iommu=smmuv3" if machine["iommu"] else "")
        return [_ARM64_BINARY, "-accel", "tcg", "-machine", board, "-cpu", "max,pauth-impdef=on"]
    return [BINARY, "-accel", machine["accelerator"], "-machine", "q35,vmport=off",
            "-cpu", f"{_PROCESSOR[machine['accelerator']]},la57=off"]


def _base(machine, kernel, ports):
    words = [
        *_board(machine), "-m", f"{machine['memory']}M",
        *_memory(machine["memory"], machine["nodes"]), *_processors(machine["cpus"], machine["nodes"]),
        "-nodefaults", "-no-user-config", "-display", "none",
        "-kernel", str(kernel["image"]), "-initrd", str(kernel["initramfs"]), "-append", kernel["arguments"],
        "-chardev", f"socket,id=console,fd={ports['console']}", "-serial", "chardev:console",
    ]
    if not machine["reboots"]:
        words += ["-no-reboot"]
    if machine["iommu"] and machine["processor"] == "amd64":
        # A device that precedes the IOMMU on the command line would not be behind it.
        words += ["-device", "intel-iommu,intremap=on,caching-mode=on"]
    words += ["-device", "virtio-serial-pci"]
    words += _share("lab-root", "/run/lab/tree", readonly=True)
    words += _share("lab-repo", "/repo", readonly=False)
    for name, descriptor in ports.items():
        if name not in ("console", "qmp"):
            words += _port(name, descriptor)
    return words


def _terminal(interactive):
    if not interactive:
        return []
    return ["-chardev", "stdio,id=terminal,mux=on,signal=off", "-serial", "chardev:terminal",
            "-mon", "chardev=terminal"]


def command_line(machine, kernel, ports, sockets, interactive):
    """Builds the arguments of QEMU for a guest that boots.

    machine: processor, accelerator, cpus, memory (MiB), iommu, reboots, nodes; kernel: image, initramfs, arguments;
    ports: from name to descriptor, "console" is the first serial line; sockets: sockets of the HCAs; interactive: the
    second serial line is the terminal.
    """
    bridge, bus = _bus_of_hcas(machine["nodes"])
    words = _base(machine, kernel, ports) + bridge
    for index, socket in enumerate(sockets):
        words += [*_hca_port(index, bus), "-device", json.dumps(hca(index, socket))]
    return words + _terminal(interactive)


def snapshot_command_line(machine, kernel, ports, root, interactive=False):
    """Builds the arguments of QEMU for a guest that is stopped for a snapshot or resumed from one, which must have the
    same machine.

    Arguments are those of command_line(). machine also has hca_ports, the number of ports for HCAs; ports has "qmp";
    root: image of the tree, the guest's root. The second serial line exists even if it is unused.
    """
    bridge, bus = _bus_of_hcas(machine["nodes"])
    words = _base(machine, kernel, ports) + bridge
    # The disk is at the end of the bus, so that all other devices have the same place as in a guest that boots. Several
    # guests open this file.
    words += ["-drive", f"if=none,id=root,format=raw,read-only=on,file={root},file.locking=off",
              "-device", "virtio-blk-pci,drive=root,bus=pcie.0,addr=0x1e"]
    for index in range(machine["hca_ports"]):
        words += _hca_port(index, bus)
    words += _terminal(interactive) or ["-serial", "null"]
    return words + ["-chardev", f"socket,id=qmp,fd={ports['qmp']}", "-mon", "chardev=qmp,mode=control"]
