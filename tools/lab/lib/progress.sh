# SPDX-License-Identifier: GPL-2.0-or-later
# Steps with stamps, run in the background, shown with what they do and how far they are.
# shellcheck shell=bash disable=SC2154
#
# A step NAME is a function step_NAME; step_NAME_progress, where it exists, prints how far it is.
# Needs: $stamps and $logs (directories), $step_total

declare -A step_pid=() step_number=() step_title=() step_started=()
step_order=()
last_line_length=0
last_report=0

elapsed() { # SECONDS -> m:ss
	printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

clear_line() {
	if [ -t 1 ] && [ "$last_line_length" -gt 0 ]; then
		printf '\r%*s\r' "$last_line_length" ''
		last_line_length=0
	fi
}

say() {
	clear_line
	printf '%s\n' "$*"
}

# Starts a step unless its stamp says that it is done. Arguments: NUMBER NAME TITLE
step_start() {
	local number=$1 name=$2 title=$3
	step_number[$name]=$number
	step_title[$name]=$title
	if [ -e "$stamps/$name" ]; then
		say "[$number/$step_total] $title: done before"
		return 0
	fi
	say "[$number/$step_total] $title …"
	step_started[$name]=$SECONDS
	# A process group of its own, so that all of it can be ended.
	set -m
	(
		"step_$name"
		touch "$stamps/$name"
	) > "$logs/$name.log" 2>&1 < /dev/null &
	step_pid[$name]=$!
	set +m
	step_order+=("$name")
}

step_summary() { # NAME
	local progress=''
	if declare -F "step_$1_progress" > /dev/null; then
		progress=$("step_$1_progress" 2> /dev/null || true)
	fi
	printf '[%s/%s] %s%s (%s)' "${step_number[$1]}" "$step_total" "${step_title[$1]}" \
		"${progress:+: $progress}" "$(elapsed $((SECONDS - step_started[$1])))"
}

# One line that is rewritten on a terminal, a line every 20 s elsewhere.
show_running() {
	local name line=''
	for name in "${step_order[@]}"; do
		if [ -n "${step_pid[$name]:-}" ]; then
			line+="${line:+  |  }$(step_summary "$name")"
		fi
	done
	[ -n "$line" ] || return 0
	if [ -t 1 ]; then
		line=${line:0:$(($(tput cols 2> /dev/null || echo 100) - 1))}
		clear_line
		printf '%s' "$line"
		last_line_length=${#line}
	elif [ $((SECONDS - last_report)) -ge 20 ]; then
		printf '    %s\n' "$line"
		last_report=$SECONDS
	fi
}

# Notes the end of a step that is over. Fails with the end of its log when it failed.
step_reap() {
	local name=$1 status=0 title="[${step_number[$1]}/$step_total] ${step_title[$1]}"
	wait "${step_pid[$name]}" || status=$?
	unset "step_pid[$name]"
	if [ "$status" -ne 0 ]; then
		say "$title: FAILED; the end of $logs/$name.log:"
		tail -n 30 "$logs/$name.log" | sed 's/^/    /'
		exit 1
	fi
	say "$title: done ($(elapsed $((SECONDS - step_started[$name]))))"
}

# Waits for one step, showing all that run; the failure of any is seen at once.
step_wait() {
	local name
	while [ -n "${step_pid[$1]:-}" ]; do
		for name in "${!step_pid[@]}"; do
			kill -0 "${step_pid[$name]}" 2> /dev/null || step_reap "$name"
		done
		show_running
		sleep 1
	done
}

# Ends every step that still runs, with all its processes.
steps_kill() {
	local pid
	for pid in "${step_pid[@]}"; do
		kill -TERM -- "-$pid" 2> /dev/null || true
	done
	for pid in "${step_pid[@]}"; do
		wait "$pid" 2> /dev/null || true
	done
}

# Progress of an apt run from its status lines (file descriptor 9 of the step).
apt_progress() {
	awk -F: '
		$1 == "dlstatus" { what = "downloading"; share = $3 }
		$1 == "pmstatus" { what = "installing"; share = $3 }
		END { if (what != "") printf "%s %d%%", what, share }' "$1"
}
