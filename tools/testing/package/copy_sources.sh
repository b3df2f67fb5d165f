# SPDX-License-Identifier: GPL-2.0-or-later
# Copies the source of the packages. Sourced by build and libraries, after common.sh.
# shellcheck shell=bash disable=SC2154

# Copies the current content of the files that git tracks.
copy_sources() { # DIRECTORY, in the checkout
	rm -rf "${repo:?}/$1"
	mkdir -p "$repo/$1/source"
	(cd "$repo" && git ls-files --cached --others --exclude-standard -z | while IFS= read -r -d '' file; do
		[ ! -e "$file" ] || printf '%s\0' "$file"
	done | tar -c --null -T -) | tar -x -C "$repo/$1/source"
}
