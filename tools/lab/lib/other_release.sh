# SPDX-License-Identifier: GPL-2.0-or-later
# What apt knows of another Debian release, apart from what it knows for the tree. Sourced, in the tree, by the scripts that get
# packages from there, which set "suite" and "work", an empty directory of theirs.
# shellcheck shell=bash disable=SC2154

# The archives are those of the tree.
apt_options=(
	-o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$work/lists"
	-o "Dir::State::status=$work/status" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
)

# Backports have their security updates in them.
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
