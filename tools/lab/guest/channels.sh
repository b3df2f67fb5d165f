# SPDX-License-Identifier: GPL-2.0-or-later
# The guest's ways to the lab: virtio-serial ports for control and for the command's output. Sourced by start.
# shellcheck shell=bash disable=SC2034,SC2154

output=/run/lab/output
errors=/run/lab/errors

# Leaves the device of a port in $port; without udev there are no names in /dev.
find_port() { # NAME
	local directory name
	port=
	for directory in /sys/class/virtio-ports/*; do
		read -r name < "$directory/name"
		if [ "$name" = "lab.$1" ]; then
			port=/dev/${directory##*/}
		fi
	done
}

open_channels() {
	local port out
	find_port control
	exec 3<> "$port"
	find_port out
	out=$port
	find_port err
	# A port can be opened once only, a pipe as often as programs like (/dev/stdout): relays stand between them.
	/opt/lab/lab-guest relay "$output" "$out" "$errors" "$port" 3>&- &
	# Writers of our own keep the pipes open when the command has none.
	exec 4> "$output" 5> "$errors"
}

tell() {
	printf '%s\n' "$*" >&3
}

# The mark goes the way of the output, so everything before it has arrived when it does.
mark_end() { # STATUS
	printf '\036LAB-END %s %s\036' "$lab_token" "$1" >&4
	printf '\036LAB-END %s %s\036' "$lab_token" "$1" >&5
}

# All but the kernel's own threads.
list_processes() {
	ps --ppid 2 -p 2 --deselect -o pid,ppid,stat,wchan:28,etime,args --forest
}

# The lab asks for what it needs to explain a command that does not end.
answer_questions() {
	local question
	while read -r question <&3; do
		if [ "$question" = tasks ]; then
			list_processes > "$directory/processes" 2>&1
			echo w > /proc/sysrq-trigger
			tell listed
		fi
	done
}
