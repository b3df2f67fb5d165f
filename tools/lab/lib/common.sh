# SPDX-License-Identifier: GPL-2.0-or-later
# Where things are, and how to complain. Sourced by the scripts of tools/lab.
# shellcheck shell=bash disable=SC2034

lab_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
repo=$(cd "$lab_dir/../.." && pwd -P)
cache=${CXIB_LAB_CACHE:-/var/cache/cxib-lab}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

need_root() {
	[ "$(id -u)" = 0 ] || die "must be run as root (mounts, chroot)"
}

# The files that decide what the tree contains; their hash names it.
recipe_files() {
	(cd "$lab_dir" && find recipe guest/rds_exercise.c -type f ! -name '*~' ! -name '*.swp' | LC_ALL=C sort)
}

# Prints the hash of all files named on standard input (paths below tools/lab).
hash_files() {
	(cd "$lab_dir" && xargs sha256sum) | sha256sum | cut -c1-16
}

recipe_hash() {
	recipe_files | hash_files
}

# Sets: recipe, lab (directory of this recipe), tree (root of the Debian tree)
locate_lab() {
	recipe=$(recipe_hash)
	lab=$cache/$recipe
	tree=$lab/tree
}
