# SPDX-License-Identifier: GPL-2.0-or-later
# The guest's ways to the lab: virtio-serial ports for control and for the command's output. Sourced by start.
# shellcheck shell=bash disable=SC2034,SC2154

output=/run/lab/output
errors=/run/lab/errors

# Prints the device of a port; without udev there are no names in /dev.
port() { # NAME
	local directory
	for directory in /sys/class/virtio-ports/*; do
		if [ "$(cat "$directory/name" 2> /dev/null)" = "lab.$1" ]; then
			echo "/dev/${directory##*/}"
		fi
	done
}

# A port can be opened once only, a pipe as often as programs like (/dev/stdout): relays stand between them.
relay() { # PIPE PORT
	mkfifo "$1"
	cat "$1" > "$(port "$2")" &
}

open_channels() {
	exec 3<> "$(port control)"
	relay "$output" out
	relay "$errors" err
	# Writers of our own keep the pipes open when the command has none.
	exec 4> "$output" 5> "$errors"
	answer_questions &
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
