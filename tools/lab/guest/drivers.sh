# SPDX-License-Identifier: GPL-2.0-or-later
# Driver, RDMA core and subnet manager of the guest; the checks at the end. Sourced by start.
# shellcheck shell=bash disable=SC2154

# For devices, and for active ports; only ends a run that has failed anyway.
ACTIVE_SECONDS=300

load_drivers() {
	case $LAB_DRIVER in
	none) return ;;
	mlx5) load_in_tree ;;
	cxib) load_cxib ;;
	esac
	modprobe -a ib_uverbs ib_umad rdma_ucm || fail "cannot load the RDMA core's user interfaces"
	if registers_devices; then
		await_devices
	fi
	if [ "$LAB_SM" = 1 ]; then
		start_subnet_manager
	fi
}

load_in_tree() {
	local message
	message=$(modprobe -a mlx5_core mlx5_ib 2>&1) || fail "cannot load mlx5_core and mlx5_ib: $message"
}

load_cxib() {
	local module=/repo/build/modules-$LAB_KERNEL/cxib.ko dependency message
	[ -e "$module" ] || fail "${module#/repo/} is not built: run 'make modules KERNEL=$LAB_KERNEL' first"
	for dependency in $(modinfo -F depends "$module" | tr , ' '); do
		message=$(modprobe "$dependency" 2>&1) || fail "cannot load $dependency, which cxib needs: $message"
	done
	message=$(insmod "$module" 2>&1) || fail "cannot load ${module#/repo/}: $message"
	bind_cxib
}

# The driver takes no device unasked.
bind_cxib() {
	local device message
	for device in /sys/bus/pci/devices/*; do
		[ "$(cat "$device/vendor")" = 0x15b3 ] || continue
		echo cxib > "$device/driver_override"
		message=$( (echo "${device##*/}" > /sys/bus/pci/drivers_probe) 2>&1) ||
			fail "cxib does not take ${device##*/}: $message"
		[ -e "$device/driver" ] || fail "cxib does not take ${device##*/}; see the kernel log"
	done
}

# A driver that does not use the RDMA core has nothing to show there.
registers_devices() {
	[ -d "/sys/module/ib_core/holders/$LAB_DRIVER" ] || [ "$LAB_DRIVER" = mlx5 ]
}

rdma_devices() {
	find /sys/class/infiniband -mindepth 1 -maxdepth 1 2> /dev/null | wc -l
}

await_devices() {
	local waited=0
	while [ "$(rdma_devices)" -lt "$LAB_HCAS" ]; do
		[ "$waited" -lt $ACTIVE_SECONDS ] ||
			fail "$(rdma_devices) of $LAB_HCAS RDMA devices are there after $waited s; see the kernel log"
		sleep 1
		waited=$((waited + 1))
	done
}

inactive_ports() {
	local port
	for port in /sys/class/infiniband/*/ports/*; do
		if [ "$(cat "$port/link_layer")" = InfiniBand ] && [ "$(cat "$port/state")" != "4: ACTIVE" ]; then
			printf '%s is %s; ' "$(echo "$port" | cut -d/ -f5,7)" "$(cat "$port/state")"
		fi
	done
}

# One subnet manager serves the whole fabric: the first guest's.
start_subnet_manager() {
	local waited=0
	if [ "$LAB_VM" = 0 ]; then
		opensm --daemon --log_file "$directory/opensm.log" > "$directory/opensm.out" 2>&1 ||
			fail "OpenSM did not start: $(tail -n 3 "$directory/opensm.out")"
	fi
	while [ -n "$(inactive_ports)" ]; do
		[ "$waited" -lt $ACTIVE_SECONDS ] ||
			fail "after $waited s with OpenSM $(inactive_ports)see ${directory#/repo/}/opensm.log"
		sleep 1
		waited=$((waited + 1))
	done
}

# What only shows when everything has run.
final_checks() {
	if [ "$lab_kmemleak" = 1 ]; then
		scan_for_leaks
	fi
	# Any report switches the lock checker off; without one it must still be on, or it has checked nothing.
	if grep -q 'debug_locks: *0' /proc/lockdep_stats 2> /dev/null; then
		tell lockdep-off
	fi
}

# An object counts as leaked when two scans some time apart do not find it.
scan_for_leaks() {
	local leaks=/sys/kernel/debug/kmemleak
	echo scan > $leaks
	sleep 6
	echo scan > $leaks
	cat $leaks > "$directory/kmemleak"
}
