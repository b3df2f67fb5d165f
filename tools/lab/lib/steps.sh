# SPDX-License-Identifier: GPL-2.0-or-later
# The steps of prepare. Each is complete or leaves nothing that counts as done; a step that was interrupted can be
# begun again. Needs what common.sh, mirror.sh, progress.sh and the recipe's settings define.
# Steps are called by name, which shellcheck does not see.
# shellcheck shell=bash disable=SC2154,SC2317

# Runs a command that may change the tree, in namespaces that end with the command and with this script.
in_tree() { # [--bind SOURCE TARGET]… -- COMMAND…
	setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child \
		"$lab_dir/lib/enter" "$tree" rw own-proc / \
		--bind "$cache/packages" /var/cache/apt/archives \
		--bind "$cache/ccache" /var/cache/ccache \
		--bind "$lab_dir" /mnt "$@"
}

# Reads the archives from the host's apt, which must have its lists.
learn_archives() {
	if [ -z "${CXIB_LAB_MIRROR:-}" ] && [ -z "$(host_archives)" ] && command -v apt-get > /dev/null; then
		apt-get update || true
	fi
}

step_host() {
	local missing=()
	command -v debootstrap > /dev/null || missing+=(debootstrap)
	command -v gpgv > /dev/null || missing+=(gpgv)
	command -v xz > /dev/null || missing+=(xz-utils)
	command -v zstd > /dev/null || missing+=(zstd)
	[ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || [ -n "${CXIB_LAB_KEYRING:-}" ] ||
		missing+=(debian-archive-keyring)
	learn_archives
	[ "${#missing[@]}" -gt 0 ] || return 0
	command -v apt-get > /dev/null || {
		echo "missing on this host: ${missing[*]}; there is no apt-get to install them with"
		return 1
	}
	apt-get update
	DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

# The suite's keys may be newer than the host's keyring package, which is then updated from the host's own verified
# archive. An archive that cannot be verified is never used.
refresh_keyring() {
	command -v apt-get > /dev/null || return 0
	apt-get update || true
	DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends debian-archive-keyring || true
}

bootstrap() {
	local mirror=$1 directory=$2
	local script=/usr/share/debootstrap/scripts/$suite
	# An older debootstrap lacks the suite's script, which is the same as sid's.
	[ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
	debootstrap --arch="$architecture" --variant=minbase --merged-usr --include=ca-certificates,debconf \
		--keyring="${CXIB_LAB_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}" \
		--cache-dir="$cache/packages" "$suite" "$directory" "$mirror" "$script"
}

step_debian() {
	local mirror partial=$lab/tree.partial
	mirror=$(main_mirror)
	rm -rf "$partial"
	bootstrap "$mirror" "$partial" || {
		echo "once more, with the newest keys that the host's archive has"
		refresh_keyring
		rm -rf "$partial"
		bootstrap "$mirror" "$partial"
	}
	mkdir -p "$partial/repo" "$partial/var/cache/ccache"
	host_proxies > "$partial/etc/apt/apt.conf.d/80host-proxy"
	rm -rf "$tree"
	mv "$partial" "$tree"
	in_tree -- /mnt/recipe/inside/setup-apt "$suite" "$(security_mirror)"
}

step_debian_progress() {
	grep -h '^I: ' "$logs/debian.log" | tail -n 1 | cut -c4-50
}

step_compilers() {
	in_tree -- /mnt/recipe/inside/install /mnt/recipe/packages.build - 9> "$logs/compilers.apt"
	note_stock_release
}

step_compilers_progress() {
	apt_progress "$logs/compilers.apt"
}

# The newest Debian kernel of the tree's own release is the stock kernel. Its headers are installed before the kernel.
note_stock_release() {
	find "$tree/usr/src" -maxdepth 1 -name 'linux-headers-*-amd64' -printf '%f\n' | sed 's/^linux-headers-//' |
		grep -vxF "$(cat "$lab"/release-of-* 2> /dev/null || echo none)" | sort -V | tail -n 1 > "$lab/stock-release.new"
	mv "$lab/stock-release.new" "$lab/stock-release"
}

step_packages() {
	in_tree -- /mnt/recipe/inside/install /mnt/recipe/packages.lab - 9> "$logs/packages.apt"
	in_tree -- /mnt/recipe/inside/install /mnt/recipe/packages.backports "$suite-backports" 9> "$logs/packages.apt"
}

step_packages_progress() {
	apt_progress "$logs/packages.apt"
}

step_finish() {
	in_tree -- /mnt/recipe/inside/finish "$qemu_minimum" /mnt/guest/rds_exercise.c
	note_stock_release
	ls "$tree/boot/vmlinuz-$(cat "$lab/stock-release")"
}

step_source_done() {
	step_kernel_done
}

# Records the versions that, with the recipe, decide the contents of a built kernel.
step_source() {
	local versions suite packages=(linux-source-6.12 gcc-14)
	versions=$(source_versions "$kernel")
	in_tree -- /mnt/recipe/inside/install /mnt/recipe/kernel/packages - 9> "$logs/source.apt"
	: > "$versions.new"
	if suite=$(source_suite "$kernel"); then
		in_tree -- /mnt/lib/install_source "$suite" /var/cache/apt/archives "$(source_place "$suite")" /var/tmp/kernel-source
		cat "$tree/var/tmp/kernel-source" > "$versions.new"
		packages=(gcc-14)
	fi
	# shellcheck disable=SC2016
	in_tree -- dpkg-query -W -f '${Package} ${Version}\n' "${packages[@]}" >> "$versions.new"
	mv "$versions.new" "$versions"
}

# Prints the directory in the tree with the kernel source of another release.
source_place() { # SUITE
	echo "/usr/src/kernel-source-$1"
}

# Unpacks another release's source, so that the recipe's script does not unpack the source of the tree's release.
unpack_other_source() { # DIRECTORY of the build, SUITE
	[ ! -e "$1/unpacked" ] || return 0
	rm -rf "$1/source"
	mkdir "$1/source"
	tar -x --strip-components=1 -C "$1/source" -f "$tree$(source_place "$2")"/linux-source-*.tar.xz
	touch "$1/unpacked"
}

step_source_progress() {
	apt_progress "$logs/source.apt"
}

# Removes interrupted builds of other recipes, which take gigabytes and will not be continued.
remove_abandoned_builds() { # DIRECTORY of the build to keep
	local other
	for other in "$cache"/kernels/*.build; do
		if [ -d "$other" ] && [ "$other" != "$1.build" ]; then
			flock --nonblock "${other%.build}.lock" rm -rf "$other" || true
		fi
	done
}

step_kernel_done() {
	kernel_release "$kernel" > /dev/null
}

# Collects the inputs of a kernel build: the configuration files and the script.
gather_recipes() { # DIRECTORY
	local each
	rm -rf "$1"
	mkdir "$1"
	for each in $(kernel_recipes "$kernel"); do cp "$lab_dir/recipe/$each"/* "$1"; done
}

# A built kernel is stored by its hash, for other trees.
step_kernel() {
	local hash directory suite
	hash=$(kernel_hash "$kernel")
	directory=$cache/kernels/$hash
	if [ ! -e "$directory/release" ]; then
		exec 8> "$directory.lock"
		flock 8
	fi
	if [ ! -e "$directory/release" ]; then
		remove_abandoned_builds "$directory"
		mkdir -p "$directory.build" "$tree/usr/src/lab-kernel"
		gather_recipes "$directory.build/recipe"
		if suite=$(source_suite "$kernel"); then unpack_other_source "$directory.build" "$suite"; fi
		in_tree --bind "$directory.build" /usr/src/lab-kernel -- env CCACHE_DIR=/var/cache/ccache \
			/usr/src/lab-kernel/recipe/build /usr/src/lab-kernel/recipe "${hash:0:8}${kernel#debug}"
		rm -rf "$directory"
		mv "$directory.build/result" "$directory"
		rm -rf "$directory.build"
	fi
	install_kernel "$directory"
	mkdir -p "$lab/debug-releases"
	cp "$directory/release" "$lab/debug-releases/$hash.new"
	mv "$lab/debug-releases/$hash.new" "$lab/debug-releases/$hash"
}

# Copies a built kernel to the places of Debian's kernels in the tree. Its release contains its hash, so that kernels of
# several recipes can coexist, and running guests keep theirs.
install_kernel() { # DIRECTORY
	local release
	release=$(cat "$1/release")
	# A kernel from an earlier build may be installed before the packages.
	mkdir -p "$tree/lib/modules" "$tree/usr/src"
	rm -rf "$tree/lib/modules/$release" "$tree/usr/src/linux-headers-$release"
	cp -a "$1/modules" "$tree/lib/modules/$release"
	cp -a "$1/build" "$tree/usr/src/linux-headers-$release"
	ln -s "/usr/src/linux-headers-$release" "$tree/lib/modules/$release/build"
	cp "$1/config" "$tree/boot/config-$release"
	cp "$1/vmlinuz" "$tree/boot/vmlinuz-$release"
}

step_other_done() {
	kernel_release "$kernel" > /dev/null
}

# Installs the kernel of another Debian release, or another kernel of this release.
step_other() {
	in_tree -- /mnt/lib/install_kernel "$(other_suite "$kernel")" "$(other_flavour "$kernel")" /var/cache/apt/archives \
		"/var/tmp/release-of-$kernel"
	mv "$tree/var/tmp/release-of-$kernel" "$lab/release-of-$kernel"
}

step_arm64_done() {
	kernel_release "$kernel" > /dev/null
}

# Creates the tree of arm64 guests with a kernel.
step_arm64() {
	prepare_layer arm64 tools/lab/arm64/packages.tools tools/lab/arm64/packages.backports
	locate_arm64
	mkdir -p "$arm64"
	if [ ! -d "$arm64/tree" ]; then
		rm -rf "$arm64/tree.partial"
		mkdir "$arm64/tree.partial"
		in_layer --bind "$arm64/tree.partial" /media tools/lab/arm64/unpack tree tools/lab/arm64/packages.guest
		mv "$arm64/tree.partial" "$arm64/tree"
	fi
	in_layer --bind "$arm64/tree" /media tools/lab/arm64/unpack kernel "$(arm64_flavour "$kernel")" /var/tmp/release
	mv "$layer/upper/var/tmp/release" "$arm64/release-of-$kernel"
}

# Prints the output of a function for each kernel that the lab has built.
of_built_kernels() { # FUNCTION
	local each
	for each in "${lab_kernels[@]}"; do
		if is_built "$each"; then "$1" "$each" || true; fi
	done
}

# Removes built kernels from the tree that the current recipe does not use.
remove_other_kernels() {
	local release kept
	kept=$(of_built_kernels kernel_release)
	for release in "$tree"/lib/modules/*-cxib-debug; do
		release=${release##*/}
		if grep -qxF -- "$release" <<< "$kept" || [ ! -d "$tree/lib/modules/$release" ]; then continue; fi
		grep -lsxF -- "$release" "$lab"/debug-releases/* | xargs -r rm
		rm -rf "$tree/lib/modules/$release" "$tree/usr/src/linux-headers-$release" "$tree/boot"/{vmlinuz,config}-"$release"
		say "removed the kernel $release"
	done
}

# Number of objects of a build; used only for the percentage.
kernel_objects=2650

step_kernel_progress() {
	local objects
	objects=$(grep -c -E '^  (CC|AS|LD|AR|HOSTCC) ' "$logs/kernel.log" || true)
	if [ "$objects" -gt 0 ]; then
		printf '%d%%' $((objects * 100 / kernel_objects > 99 ? 99 : objects * 100 / kernel_objects))
	fi
}

# Builds the programs of this checkout. They need only the lab's compilers, and other runs need not wait for them, so
# they close file descriptor 7, the lab's lock.
in_checkout() { # COMMAND…
	exec 7>&-
	cd "$repo" || return
	env -u MAKEFLAGS -u MAKELEVEL LAB_EARLY=1 "$@"
}

step_cxemu_done() {
	false
}

step_cxemu() {
	in_checkout make --no-print-directory cxemu
}

step_cxemu_progress() {
	awk -F '[][/]' '/^\[[0-9]+\/[0-9]+\]/ { share = $2 * 100 / $3 } END { if (share) printf "%d%%", share }' \
		"${step_log[cxemu]}"
}

step_module_done() {
	false
}

step_module() {
	in_checkout tools/testing/module/build --kernel stock
}
