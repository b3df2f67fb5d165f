# SPDX-License-Identifier: GPL-2.0-or-later
# The guest's environment: file systems, names, loopback. Sourced by start. A process costs up to a second here, so one
# lab-guest process does what the shell cannot (see lab_guest.c).
# shellcheck shell=bash disable=SC2034

# Needs neither a name nor the settings of a run.
set_up_system() {
	/opt/lab/lab-guest system
	# RDMA registers (pins) memory.
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
	# Guests need different machine IDs, as they have different names.
	printf '%032x\n' $((0xcb00 + LAB_VM)) > /etc/machine-id
}

# Sleeps without a process.
pause() { # SECONDS
	read -r -t "$1" <> /run/lab/never
}

# Sets $text to the content of a file, like $(cat FILE) without a process.
read_text() { # FILE
	read -r -d '' text < "$1"
}
