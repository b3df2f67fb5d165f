# SPDX-License-Identifier: GPL-2.0-or-later
# Prints the makefile targets that have a "## description", under the "##@ Title" above them or, without a title, under
# the name of the makefile.
BEGIN { FS = ":.*## " }
FNR == 1 {
	title = FILENAME
	sub(/.*\//, "", title)
	sub(/\.mk$/, "", title)
	title = toupper(substr(title, 1, 1)) substr(title, 2)
}
/^##@ / { title = substr($0, 5); next }
/^[a-z][a-z-]*:.*## / {
	if (title != shown) {
		printf "%s%s\n", (shown == "" ? "" : "\n"), title
		shown = title
	}
	printf "  make %-12s %s\n", $1, $2
}
