# SPDX-License-Identifier: GPL-2.0-or-later
# Paths, state and error messages of the lab. Sourced by the scripts of tools/lab.
# shellcheck shell=bash disable=SC2034

lab_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=tools/lab/lib/layer.sh
. "$lab_dir/lib/layer.sh"
repo=$(cd "$lab_dir/../.." && pwd -P)
cache=${CXIB_LAB_CACHE:-/var/cache/cxib-lab}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

need_root() {
	[ "$(id -u)" = 0 ] || die "must be run as root (mounts, chroot)"
}

# All kernels of the lab.
lab_kernels=(stock debug debug-rt debug-backports debug-oldstable backports oldstable rt arm64 arm64-16k arm64-rt)

# Prints their names for a message.
kernel_names() {
	local all
	all=$(printf '%s, ' "${lab_kernels[@]:0:${#lab_kernels[@]}-1}")
	printf '%s or %s\n' "${all%, }" "${lab_kernels[-1]}"
}

# Lists the files that decide the contents of the tree; their hash names it. Built kernels have their own hashes.
recipe_files() {
	(cd "$lab_dir" && find recipe guest/rds_exercise.c -type f ! -path 'recipe/kernel*/*' ! -name '*~' ! -name '*.swp' |
		LC_ALL=C sort)
}

# Does the lab build this kernel from Debian's source?
is_built() { # KERNEL
	case $1 in
	debug | debug-*) return 0 ;;
	*) return 1 ;;
	esac
}

# Prints the Debian release with the source of a built kernel; fails for a kernel of the tree's own release.
source_suite() { # KERNEL
	case $1 in
	debug-backports | debug-oldstable) other_suite "${1#debug-}" ;;
	*) return 1 ;;
	esac
}

# Prints the file with the versions of a built kernel's source and of the compiler.
source_versions() { # KERNEL
	local suite
	if suite=$(source_suite "$1"); then echo "$lab/kernel-source-$suite"; else echo "$lab/kernel-source"; fi
}

# Prints the directories below the recipe from which a kernel is built. A file in a later directory replaces one with
# the same name.
kernel_recipes() { # KERNEL
	echo kernel
	[ "$1" = debug ] || echo "kernel-${1#debug-}"
}

# Lists the files that, with the versions of the kernel's source and of the compiler, decide the contents of a built
# kernel.
kernel_files() { # KERNEL
	# shellcheck disable=SC2046
	(cd "$lab_dir" && find $(kernel_recipes "$1" | sed 's|^|recipe/|') -type f ! -name '*~' ! -name '*.swp' | LC_ALL=C sort)
}

# Prints the hash of all files named on standard input (paths below tools/lab).
hash_files() {
	(cd "$lab_dir" && xargs sha256sum) | sha256sum | cut -c1-16
}

recipe_hash() {
	recipe_files | hash_files
}

# Prints the hash that names a built kernel; fails if the tree does not have its source yet.
kernel_hash() { # KERNEL
	local versions
	versions=$(source_versions "$1")
	[ -s "$versions" ] || return 1
	{
		kernel_files "$1" | hash_files
		cat "$versions"
	} | sha256sum | cut -c1-16
}

# Prints the Debian release of a kernel; fails for kernels of the tree's own release and for unknown names.
other_suite() { # KERNEL
	case $1 in
	backports) echo trixie-backports ;;
	oldstable) echo bookworm ;;
	rt) echo trixie ;;
	*) return 1 ;;
	esac
}

# Prints the flavour of a kernel from another release.
other_flavour() { # KERNEL
	case $1 in
	rt) echo rt-amd64 ;;
	*) echo amd64 ;;
	esac
}

# Is this a kernel for arm64? Guests with it have their own tree.
is_arm64() { # KERNEL
	arm64_flavour "$1" > /dev/null
}

# Prints the flavour of Debian's arm64 kernel; fails for other kernels.
arm64_flavour() { # KERNEL
	case $1 in
	arm64 | arm64-16k) echo "$1" ;;
	arm64-rt) echo rt-arm64 ;;
	*) return 1 ;;
	esac
}

is_kernel() { # NAME
	local each
	for each in "${lab_kernels[@]}"; do
		if [ "$1" = "$each" ]; then return 0; fi
	done
	return 1
}

# Sets arm64 (directory with the tree of arm64 guests) and layer (tools for arm64 over the lab's tree).
locate_arm64() {
	locate_layer arm64 tools/lab/arm64/packages.tools tools/lab/arm64/packages.backports
	arm64=$cache/arm64-tree-$(cd "$lab_dir/arm64" && cat packages.guest unpack - <<< "$layer" | sha256sum | cut -c1-12)
}

# Prints the release (uname -r) of a kernel of the lab; fails if it is not in the tree.
kernel_release() { # KERNEL
	local hash
	case $1 in
	stock) cat "$lab/stock-release" 2> /dev/null ;;
	debug | debug-*) hash=$(kernel_hash "$1") && cat "$lab/debug-releases/$hash" 2> /dev/null ;;
	arm64*) (locate_arm64 && cat "$arm64/release-of-$1" 2> /dev/null) ;;
	*) cat "$lab/release-of-$1" 2> /dev/null ;;
	esac
}

# Does the tree have all that guests with this kernel need?
lab_has() { # KERNEL
	[ -e "$lab/ready" ] || return 1
	kernel_release "$1" > /dev/null
}

# Prints one line with the reason why a guest kernel cannot be used yet, and what to do.
missing() { # KERNEL
	local what='the lab is' command="tools/lab/prepare --for $1"
	if [ "$1" != stock ] && [ -e "$lab/ready" ]; then what="the $1 kernel is"; fi
	if [ -e "$lab/lock" ] && ! flock --shared --nonblock "$lab/lock" true; then
		printf "%s being prepared%s; '%s' waits for it\n" "$what" "$(progress_of_others)" "$command"
	else
		printf "%s not there: '%s' prepares it (looked in %s)\n" "$what" "$command" "$lab"
	fi
}

# Prints the progress of the run that prepares the lab.
progress_of_others() {
	if [ -s "$lab/logs/progress" ]; then
		printf ' (%s)' "$(cat "$lab/logs/progress")"
	fi
}

# Sets: recipe, lab (directory of this recipe), tree (root of the Debian tree)
locate_lab() {
	recipe=$(recipe_hash)
	lab=$cache/$recipe
	tree=$lab/tree
}
