# SPDX-License-Identifier: GPL-2.0-or-later
# Runs steps in the background, shows their progress, and records completed steps with stamps.
# shellcheck shell=bash disable=SC2154
#
# A step NAME is a function step_NAME; step_NAME_progress, where it exists, prints how far it is, and step_NAME_done
# succeeds where nothing is to be done (else a stamp says so).
# Needs: $stamps and $logs (directories)

declare -A step_pid=() step_number=() step_title=() step_started=() step_log=()
step_order=()
step_total=0
last_line_length=0
last_report=0
# File in which waiting runs read the progress of this run; empty if there are none.
progress_file=''

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

# Defines the steps in the order of their numbers. Arguments: NAME TITLE…
step_plan() {
	step_total=$(($# / 2))
	local number
	for ((number = 1; $# >= 2; number++)); do
		step_number[$1]=$number
		step_title[$1]=$2
		step_log[$1]=$logs/$1.log
		shift 2
	done
}

step_done() { # NAME
	if declare -F "step_$1_done" > /dev/null; then
		"step_$1_done"
	else
		[ -e "$stamps/$1" ]
	fi
}

# Starts a step unless it is done or running.
step_start() { # NAME
	local name=$1 title="[${step_number[$1]}/$step_total] ${step_title[$1]}"
	[ -z "${step_started[$name]:-}" ] || return 0
	if step_done "$name"; then
		say "$title: done before"
		return 0
	fi
	say "$title …"
	step_started[$name]=$SECONDS
	# The step gets its own process group, so that all its processes can be ended.
	set -m
	(
		"step_$name"
		touch "$stamps/$name"
	) > "${step_log[$name]}" 2>&1 < /dev/null &
	step_pid[$name]=$!
	set +m
	step_order+=("$name")
}

step_run() { # NAME
	step_start "$1"
	step_wait "$1"
}

step_summary() { # NAME
	local progress=''
	if declare -F "step_$1_progress" > /dev/null; then
		progress=$("step_$1_progress" 2> /dev/null || true)
	fi
	printf '[%s/%s] %s%s (%s)' "${step_number[$1]}" "$step_total" "${step_title[$1]}" \
		"${progress:+: $progress}" "$(elapsed $((SECONDS - step_started[$1])))"
}

show_running() {
	local name line=''
	for name in "${step_order[@]}"; do
		if [ -n "${step_pid[$name]:-}" ]; then
			line+="${line:+  |  }$(step_summary "$name")"
		fi
	done
	[ -n "$line" ] || return 0
	if [ -n "$progress_file" ]; then
		printf '%s\n' "$line" > "$progress_file.new" && mv "$progress_file.new" "$progress_file"
	fi
	show_line "$line"
}

# Rewrites one line on a terminal; prints a line every 20 s elsewhere.
show_line() {
	local line=$1
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

# Records the end of a step. If the step has failed, prints the end of its log and fails.
step_reap() {
	local name=$1 status=0 title="[${step_number[$1]}/$step_total] ${step_title[$1]}"
	wait "${step_pid[$name]}" || status=$?
	unset "step_pid[$name]"
	if [ "$status" -ne 0 ]; then
		say "$title: FAILED; the end of ${step_log[$name]}:"
		tail -n 30 "${step_log[$name]}" | sed 's/^/    /'
		exit 1
	fi
	say "$title: done ($(elapsed $((SECONDS - step_started[$name]))))"
}

# Waits for one step and shows all running ones; fails as soon as any step fails.
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

# Prints the progress of an apt run from its status lines (file descriptor 9 of the step).
apt_progress() {
	awk -F: '
		$1 == "dlstatus" { what = "downloading"; share = $3 }
		$1 == "pmstatus" { what = "installing"; share = $3 }
		END { if (what != "") printf "%s %d%%", what, share }' "$1"
}
