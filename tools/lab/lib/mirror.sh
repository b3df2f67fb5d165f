# SPDX-License-Identifier: GPL-2.0-or-later
# The source of Debian packages: the host's apt configuration, in either format.
# shellcheck shell=bash

# Prints the base addresses of the archives in the host's apt configuration for a release, one "RELEASE URI" per line.
host_archives() {
	command -v apt-get > /dev/null || return 0
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(RELEASE) $(REPO_URI) $(COMPONENT)' 'Created-By: Packages' 2> /dev/null |
		awk '$3 == "main" && $2 ~ /^(https?|ftp):/ && !seen[$1 $2]++ { print $1, $2 }'
}

# Prints the release of a Debian host; nothing on another system, whose archives have other packages.
host_codename() {
	local ID='' VERSION_CODENAME=''
	# shellcheck disable=SC1091
	. /etc/os-release
	if [ "$ID" = debian ]; then
		printf '%s\n' "$VERSION_CODENAME"
	fi
}

# Prints the mirror of the host's release; nothing if there is none (debootstrap then uses its default).
main_mirror() {
	if [ -n "${CXIB_LAB_MIRROR:-}" ]; then
		printf '%s\n' "$CXIB_LAB_MIRROR"
	else
		host_archives | awk -v release="$(host_codename)" '$1 == release { print $2; exit }'
	fi
}

# Prints the host's archive of security updates, or "-".
security_mirror() {
	local uri=''
	if [ -z "${CXIB_LAB_MIRROR:-}" ]; then
		uri=$(host_archives | awk -v release="$(host_codename)-security" '$1 == release { print $2; exit }')
	fi
	printf '%s\n' "${CXIB_LAB_SECURITY_MIRROR:-${uri:--}}"
}

# Prints the host's proxy settings in apt's configuration syntax.
host_proxies() {
	command -v apt-config > /dev/null || return 0
	apt-config dump | grep -E '^Acquire::(http|https|ftp)::[Pp]roxy' || true
}
