# SPDX-License-Identifier: GPL-2.0-or-later
# A separate apt configuration for another Debian release. Sourced, in the tree, by the scripts that download packages
# from there. They set "suite" and "work", an empty directory.
# shellcheck shell=bash disable=SC2154

# The archives are those of the tree.
apt_options=(
	-o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$work/lists"
	-o "Dir::State::status=$work/status" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
)

# Backports contain their own security updates.
write_sources() {
	local uri suites
	: > "$work/sources.list"
	while read -r uri; do
		suites=$suite
		case $suite:$uri in
		*-backports:*security*) continue ;;
		*:*security*) suites=$suite-security ;;
		esac
		printf 'deb [signed-by=%s] %s %s main\n' /usr/share/keyrings/debian-archive-keyring.gpg "$uri" "$suites" \
			>> "$work/sources.list"
	done < <(sed -n 's/^URIs: //p' /etc/apt/sources.list.d/lab.sources)
}

read_lists() {
	mkdir -p "$work/lists/partial"
	: > "$work/status"
	write_sources
	apt-get "${apt_options[@]}" update
}

# Prints the name of a package's file.
file_of() { # PACKAGE
	apt-get "${apt_options[@]}" download --print-uris "$1" | awk '{ print $2 }'
}
