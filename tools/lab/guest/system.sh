# SPDX-License-Identifier: GPL-2.0-or-later
# The guest's environment: file systems, names, loopback. Sourced by start.
# A process costs up to a second here: what the shell cannot do itself, lab-guest does in one (see lab_guest.c).
# shellcheck shell=bash disable=SC2034

# Needs neither a name nor the settings of a run.
set_up_system() {
	/opt/lab/lab-guest system
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

# Like sleep, without a process.
pause() { # SECONDS
	read -r -t "$1" <> /run/lab/never
}

# Everything in a file, in $text: like $(cat FILE), without a process.
read_text() { # FILE
	read -r -d '' text < "$1"
}
