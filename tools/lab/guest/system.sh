# SPDX-License-Identifier: GPL-2.0-or-later
# The guest's environment: file systems, names, loopback. Sourced by start.
# shellcheck shell=bash

set_up_system() {
	mount -t tmpfs -o mode=1777 tmpfs /tmp
	mount -t tmpfs -o mode=755 tmpfs /run
	mkdir -p /run/lock/iscsi /run/dbus /run/lab /dev/shm /dev/pts
	mount -t tmpfs -o mode=1777 tmpfs /dev/shm
	mount -t devpts -o mode=620,ptmxmode=666 devpts /dev/pts
	[ -e /dev/ptmx ] || ln -s pts/ptmx /dev/ptmx
	ln -sfn /proc/self/fd /dev/fd
	ln -sf /proc/self/fd/0 /dev/stdin
	ln -sf /proc/self/fd/1 /dev/stdout
	ln -sf /proc/self/fd/2 /dev/stderr
	mount -t debugfs debugfs /sys/kernel/debug
	# The checker of DMA mappings ends after its first finding, unless it is told otherwise.
	[ ! -e /sys/kernel/debug/dma-api/all_errors ] || echo 1 > /sys/kernel/debug/dma-api/all_errors
	mount -t tracefs tracefs /sys/kernel/tracing 2> /dev/null
	mount -t configfs configfs /sys/kernel/config 2> /dev/null ||
		{ modprobe configfs && mount -t configfs configfs /sys/kernel/config; }
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	name_guest
	ip link set lo up
	# Registered memory is what this is about.
	ulimit -l unlimited
}

name_guest() {
	local name=lab
	if [ "$LAB_VMS" -gt 1 ]; then
		name=lab-vm$LAB_VM
	fi
	echo "$name" > /proc/sys/kernel/hostname
	printf '127.0.0.1 localhost %s\n::1 localhost\n' "$name" > /etc/hosts
	printf '%s\n' "$name" > /etc/hostname
	# Names of guests differ, so must what programs take for the identity of a machine.
	printf '%032x\n' $((0xcb00 + LAB_VM)) > /etc/machine-id
}
