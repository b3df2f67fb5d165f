# SPDX-License-Identifier: GPL-2.0-or-later
# Driver, RDMA core and subnet manager of the guest; the final checks. Sourced by start.
# shellcheck shell=bash disable=SC2154

# Limit for devices and active ports; ends only a run that has already failed.
ACTIVE_SECONDS=300

# Starts KCSAN only now: a boot with KCSAN takes minutes and finds races of other code.
watch_for_races() {
	if [ -e /sys/kernel/debug/kcsan ]; then echo on > /sys/kernel/debug/kcsan; fi
}

load_drivers() {
	watch_for_races
	case $LAB_DRIVER in
	none) return ;;
	mlx5) load_modules mlx5_core mlx5_ib "${USER_INTERFACES[@]}" ;;
	cxib) load_cxib ;;
	esac
	if registers_devices; then
		await_devices
	fi
	if [ "$LAB_SM" = opensm ] && [ "$LAB_VM" = 0 ]; then
		start_opensm
	fi
	if [ "$LAB_SM" != none ]; then
		await_active_ports
	fi
}

# User interfaces of the RDMA core, which load the core.
USER_INTERFACES=(ib_uverbs ib_umad rdma_ucm)

# Loads modules with their dependencies.
load_modules() { # NAME-OR-FILE…
	/opt/lab/lab-guest load "$@" 2> /run/lab/message || fail "$(< /run/lab/message)"
}

load_cxib() {
	local module=/repo/build/modules-$LAB_KERNEL/cxib.ko
	[ -e "$module" ] || fail "${module#/repo/} is not built: run 'make modules KERNEL=$LAB_KERNEL' first"
	load_modules "$module" "${USER_INTERFACES[@]}"
	bind_cxib
}

# cxib binds a device only on request.
bind_cxib() {
	local device vendor
	for device in /sys/bus/pci/devices/*; do
		read -r vendor < "$device/vendor"
		[ "$vendor" = 0x15b3 ] || continue
		echo cxib > "$device/driver_override"
		{ echo "${device##*/}" > /sys/bus/pci/drivers_probe; } 2> /run/lab/message ||
			fail "cxib does not take ${device##*/}: $(< /run/lab/message)"
		[ -e "$device/driver" ] || fail "cxib does not take ${device##*/}; see the kernel log"
	done
}

# A driver without the RDMA core registers no RDMA device.
registers_devices() {
	[ -d "/sys/module/ib_core/holders/$LAB_DRIVER" ] || [ "$LAB_DRIVER" = mlx5 ]
}

# Sets $present to the number of devices.
count_devices() {
	local devices=(/sys/class/infiniband/*)
	present=${#devices[@]}
	[ -e "${devices[0]}" ] || present=0
}

await_devices() {
	local started=$SECONDS present
	count_devices
	while [ "$present" -lt "$LAB_HCAS" ]; do
		[ $((SECONDS - started)) -lt $ACTIVE_SECONDS ] ||
			fail "$present of $LAB_HCAS RDMA devices are there after $ACTIVE_SECONDS s; see the kernel log"
		pause 0.1
		count_devices
	done
}

# Sets $inactive to a text that names the inactive ports.
find_inactive_ports() {
	local directory layer state name
	inactive=
	for directory in /sys/class/infiniband/*/ports/*; do
		read -r layer < "$directory/link_layer"
		read -r state < "$directory/state"
		if [ "$layer" = InfiniBand ] && [ "$state" != "4: ACTIVE" ]; then
			name=${directory#/sys/class/infiniband/}
			inactive+="${name/ports\//} is $state; "
		fi
	done
}

# One subnet manager serves the fabric: OpenSM in the first guest, or the emulator's, which is already running.
start_opensm() {
	opensm --daemon --log_file "$directory/opensm.log" > "$directory/opensm.out" 2>&1 ||
		fail "OpenSM did not start: $(tail -n 3 "$directory/opensm.out")"
}

await_active_ports() {
	local started=$SECONDS inactive log=cxemu.log
	[ "$LAB_SM" = cxemu ] || log=${directory#/repo/}/opensm.log
	find_inactive_ports
	while [ -n "$inactive" ]; do
		[ $((SECONDS - started)) -lt $ACTIVE_SECONDS ] ||
			fail "after $ACTIVE_SECONDS s with the subnet manager ($LAB_SM) ${inactive}see $log"
		pause 0.1
		find_inactive_ports
	done
}

# Checks that are conclusive only at the end.
final_checks() {
	local text
	if [ "$lab_kmemleak" = 1 ]; then
		scan_for_leaks
	fi
	# Any report turns lockdep off. Without a report it must still be on.
	if [ -e /proc/lockdep_stats ]; then
		read_text /proc/lockdep_stats
		if [[ $text =~ debug_locks:\ *0 ]]; then
			tell lockdep-off
		fi
	fi
}

# An object counts as leaked if a scan that begins at least 5 s after its allocation does not find it, and if its
# content has not changed since the end of the previous scan.
scan_for_leaks() {
	local leaks=/sys/kernel/debug/kmemleak
	note_contents $leaks
	pause 6
	echo scan > $leaks
	cat $leaks > "$directory/kmemleak"
}

# A scan with a pending signal searches no memory, but records the contents of all objects at its end. A single signal
# might arrive before the scan begins, so signals are sent until it has ended.
note_contents() { # FILE
	local process=$BASHPID signals
	trap : USR1
	while :; do
		kill -USR1 "$process"
		pause 0.05
	done &
	signals=$!
	until { echo scan > "$1"; } 2> /run/lab/message; do :; done
	kill "$signals"
	wait "$signals"
}
