# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's command line, and whether this machine's KVM is of any use."""

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
    # The processors are emulated and shared: what takes long is not stuck.
    "rcupdate.rcu_cpu_stall_timeout=120 watchdog_thresh=60 "
    "sysctl.kernel.hung_task_timeout_secs=240 workqueue.watchdog_thresh=120"
)
_START = {
    "amd64": f"console=ttyS0 {_QUIET_KERNEL} no_timer_check tsc=reliable {_QUIET_MACHINE}",
    "arm64": f"console=ttyAMA0 {_QUIET_KERNEL} {_QUIET_MACHINE}",
}

# QEMU emulates "rep movsb" and "rep stosb" byte by byte. Without the CPUID flags that call them fast, the kernel copies
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
    """"kvm" where the processor virtualizes and a guest can be made, else "tcg"; CXIB_LAB_ACCEL decides before. A
    processor that is not this machine's is emulated.
    """
    chosen = os.environ.get("CXIB_LAB_ACCEL", "")
    if processor != "amd64":
        return "tcg"
    if chosen in ("kvm", "tcg"):
        return chosen
    usable = os.access("/dev/kvm", os.R_OK | os.W_OK) and _processor_virtualizes() and _qemu_starts_with_kvm()
    return "kvm" if usable else "tcg"


def shares_counter(machine, more):
    """Whether the guest's time stamp counter is that of the host; more: further arguments for QEMU."""
    return machine["processor"] == "amd64" and machine["accelerator"] == "tcg" and "-icount" not in more


def kernel_arguments(directory, extra, iommu=False, counter_khz=None, processor="amd64"):
    """The kernel's command line; directory is the guest's, where its scripts find what to do.

    No directory: the guest is for a snapshot, it learns its directory when it is resumed.
    counter_khz: of the time stamp counter, where the kernel need not find that out.
    """
    words = [_START[processor], f"lab.directory={directory}" if directory else "lab.snapshot"]
    if counter_khz:
        words += [f"tsc_early_khz={counter_khz}"]
    if iommu:
        # Strict: what the driver has unmapped is out of the device's reach at once.
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
    """SIZE MiB, the same part of it on each node."""
    # The emulator reaches the guest's memory only when it is shared.
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
    """A host bridge of the last node, and its name."""
    if nodes == 1:
        return [], "pcie.0"
    return ["-device", f"pxb-pcie,id=last-node,bus=pcie.0,bus_nr=128,numa_node={nodes - 1}"], "last-node"


def _hca_port(index, bus):
    return ["-device",
            f"pcie-root-port,id=hca-port{index},bus={bus},chassis={index + 1},slot={index + 1},pref64-reserve=64M"]


def hca(index, socket):
    """An HCA on its port, as QEMU wants it: on the command line, or plugged in later."""
    return {
        "driver": "vfio-user-pci",
        "id": f"hca{index}",
        "bus": f"hca-port{index}",
        # The host may not schedule the emulator for long; QEMU must not time out.
        "x-msg-timeout": 600000,
        "socket": {"type": "unix", "path": str(socket)},
    }


def _board(machine):
    """The program, the board and its processors."""
    if machine["processor"] == "arm64":
        # Message interrupts take the third version of the controller. The kernel signs return addresses; emulating the
        # cipher that processors usually have for that takes most of the time.
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
        # Devices that come before it would not be behind it.
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
    """The words that start QEMU with a guest that boots.

    machine: processor, accelerator, cpus, memory (MiB), iommu, reboots, nodes; kernel: image, initramfs, arguments; ports: name to
    descriptor, with "console" for the first serial line; sockets: of the HCAs; interactive: the second serial line is
    the terminal.
    """
    bridge, bus = _bus_of_hcas(machine["nodes"])
    words = _base(machine, kernel, ports) + bridge
    for index, socket in enumerate(sockets):
        words += [*_hca_port(index, bus), "-device", json.dumps(hca(index, socket))]
    return words + _terminal(interactive)


def snapshot_command_line(machine, kernel, ports, root, interactive=False):
    """The words that start QEMU with a guest that is stopped for a snapshot, or that comes from one: the same machine.

    As in command_line(). machine has hca_ports, too: how many HCAs can be plugged in; ports has "qmp"; root: the image
    of the tree that is the guest's root. There is a second serial line even if it is unused.
    """
    bridge, bus = _bus_of_hcas(machine["nodes"])
    words = _base(machine, kernel, ports) + bridge
    # At the far end of the bus: all the others are where they are in a guest that boots. Several have this file open.
    words += ["-drive", f"if=none,id=root,format=raw,read-only=on,file={root},file.locking=off",
              "-device", "virtio-blk-pci,drive=root,bus=pcie.0,addr=0x1e"]
    for index in range(machine["hca_ports"]):
        words += _hca_port(index, bus)
    words += _terminal(interactive) or ["-serial", "null"]
    return words + ["-chardev", f"socket,id=qmp,fd={ports['qmp']}", "-mon", "chardev=qmp,mode=control"]
