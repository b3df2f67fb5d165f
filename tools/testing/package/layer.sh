# SPDX-License-Identifier: GPL-2.0-or-later
# A layer over the lab tree with what a list of packages here names. Sourced, behind tools/lab/lib/common.sh, by what
# needs it.
# shellcheck shell=bash disable=SC2154

# Runs a command in the lab tree with the layer over it, in a mount namespace of its own.
in_layer() {
	local lower=$tree
	mkdir -p "$layer/upper" "$layer/work" "$layer/tree"
	# shellcheck disable=SC2016
	unshare --mount --propagation private bash -c '
		mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/tree"
		shift 2
		exec "$@"' - "$lower" "$layer" "$lab_dir/lib/enter" "$layer/tree" rw shared-proc /repo \
		--bind "$repo" /repo --bind "$cache/packages" /var/cache/apt/archives --bind "$cache/ccache" /var/cache/ccache -- \
		env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# Makes the layer where it is missing; sets "layer".
prepare_layer() { # NAME LIST
	local name=$1 list=$2
	locate_lab
	[ -e "$lab/ready" ] || die "the lab is not prepared: run 'make lab' first"
	layer=$cache/$name-$(cat "$here/$list" - <<< "$recipe" | sha256sum | cut -c1-12)
	exec 7> "$layer.lock"
	flock 7
	[ -e "$layer/ready" ] && return
	# Guest trees and layers share the downloaded packages, which apt wants for itself.
	mkdir -p "$cache/guests"
	exec 8> "$cache/guests/lock"
	flock 8
	rm -rf "$layer"
	# shellcheck disable=SC2016
	in_layer sh -c 'apt-get update && tools/lab/recipe/inside/install "$1" - 9> /dev/null' - "tools/testing/package/$list" \
		> "$layer.log" 2>&1 || {
		tail -n 30 "$layer.log" >&2
		die "what $list names cannot be installed; all of it is in $layer.log"
	}
	touch "$layer/ready"
	exec 8>&-
}
