# SPDX-License-Identifier: GPL-2.0-or-later
# A layer over the lab tree with the packages of additional lists. Sourced by common.sh.
# shellcheck shell=bash disable=SC2154

# Runs a command in the lab tree with the layer over it, in a new mount namespace.
in_layer() { # [--bind SOURCE TARGET]… COMMAND…
	local lower=$tree binds=()
	while [ "${1:-}" = --bind ]; do
		binds+=("$1" "$2" "$3")
		shift 3
	done
	mkdir -p "$layer/upper" "$layer/work" "$layer/tree"
	# shellcheck disable=SC2016
	unshare --mount --propagation private bash -c '
		mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/tree"
		shift 2
		exec "$@"' - "$lower" "$layer" "$lab_dir/lib/enter" "$layer/tree" rw shared-proc /repo \
		--bind "$repo" /repo --bind "$cache/packages" /var/cache/apt/archives --bind "$cache/ccache" /var/cache/ccache \
		"${binds[@]}" -- \
		env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# Sets "layer".
locate_layer() { # NAME LIST…, below the checkout
	layer=$cache/$1-$(cd "$repo" && cat "${@:2}" - <<< "$recipe" | sha256sum | cut -c1-12)
}

# Creates the layer if it does not exist; sets "layer". A list "packages.backports" names packages of the release's
# backports.
prepare_layer() { # NAME LIST…, below the checkout
	local list from
	locate_lab
	[ -e "$lab/ready" ] || die "the lab is not prepared: run 'make lab' first"
	locate_layer "$@"
	shift
	# A command that runs in a finished layer must not hold its lock, or no other could start.
	[ ! -e "$layer/ready" ] || return 0
	exec 6> "$layer.lock"
	flock 6
	if [ -e "$layer/ready" ]; then
		exec 6>&-
		return 0
	fi
	# apt locks its download directory, which guest trees and layers share.
	mkdir -p "$cache/guests"
	exec 8> "$cache/guests/lock"
	flock 8
	rm -rf "$layer"
	: > "$layer.log"
	for list; do
		from=-
		if [ "${list##*/}" = packages.backports ]; then from=trixie-backports; fi
		# shellcheck disable=SC2016
		in_layer sh -c 'apt-get update && tools/lab/recipe/inside/install "$1" "$2" 9> /dev/null' - "$list" "$from" \
			>> "$layer.log" 2>&1 || {
			tail -n 30 "$layer.log" >&2
			die "what $list names cannot be installed; all of it is in $layer.log"
		}
	done
	touch "$layer/ready"
	exec 6>&- 8>&-
}
