# SPDX-License-Identifier: GPL-2.0-or-later
# The guest's channels to the lab: virtio-serial ports for control and for the command's output. Sourced by start.
# shellcheck shell=bash disable=SC2034,SC2154

output=/run/lab/output
errors=/run/lab/errors

# Sets $port to the device of a port. Without udev /dev has no names.
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
	# A port can be opened only once, but programs open /dev/stdout repeatedly: relays copy pipes to ports.
	/opt/lab/lab-guest relay "$output" "$out" "$errors" "$port" 3>&- &
	# These writers keep the pipes open while the command has none.
	exec 4> "$output" 5> "$errors"
}

tell() {
	printf '%s\n' "$*" >&3
}

# The mark follows the output through the same port, so it arrives last.
mark_end() { # STATUS
	printf '\036LAB-END %s %s\036' "$lab_token" "$1" >&4
	printf '\036LAB-END %s %s\036' "$lab_token" "$1" >&5
}

# Lists all processes except kernel threads.
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
