# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# harness.sh: cases in dom0. Sourced by a job after lib.sh. A case is
#
#	it "does something" function [ARGUMENT...]
#
# It runs in a shell of its own, with a time limit, and fails by ending with a status other than 0:
# through fail, or because a command did (set -e holds). What it leaves behind in the host makes it
# fail too: interfaces, nodes of vifs, event channels, grants in use, domains; a case that is meant
# to leave a guest or a vif says leaves_something. Prints "ok NAME", "not ok NAME" or "skip NAME:
# REASON". figure NAME COLUMN VALUE puts a number into the table at the end.

CASE_SECONDS=150
CASES=0
FAILED=0
WORK=/run/cases
FIGURES=/out/figures
RESULTS=/out/results
mkdir -p $WORK
: >$FIGURES
: >$RESULTS

fail()
{
	echo "FAILED: $*"
	exit 1
}

skip_case()
{
	echo "$*" >"$WORK/skip"
	exit 77
}

# not COMMAND...: the case fails if it succeeds (set -e does not see a plain "!").
not()
{
	! "$@" || fail "this succeeded: $*"
}

# equal WHAT WANTED GOT
equal()
{
	[ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

leaves_something()
{
	touch "$WORK/leaves"
}

figure()
{
	printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>$FIGURES
}

# ---- what must not be left ----

# Entries of all domains' grant tables that somebody maps or copies: Xen prints them to its console.
grants_in_use()
{
	xl debug-keys g
	xl dmesg | awk '/gnttab_usage_print_all \[/ {n = 0} /\[0x[0-9a-f]*\]/ {n++} END {print n + 0}'
}

# One line a thing that a leak would make grow: "NAME NUMBER".
footprint()
{
	local store domains

	store=$(xenstore-ls -f /)
	domains=$(xl list | sed 1d)
	echo "domains $(wc -l <<<"$domains")"
	echo "zombies $(grep -c '^(null)' <<<"$domains")"
	echo "interfaces $(find /sys/class/net -mindepth 1 | wc -l)"
	echo "store-nodes-of-vifs $(grep -c '/vif' <<<"$store")"
	echo "store-error-nodes $(grep -c '^/local/domain/[0-9]*/error/' <<<"$store")"
	echo "event-channels $(lsevtchn 0 | grep -c 'Interdomain\|Waiting')"
	echo "grants-in-use $(grants_in_use)"
}

# same_footprint BEFORE: waits until it is; prints what differs if it stays different.
same_footprint()
{
	local now tries

	for tries in 1 2 3 4; do
		now=$(footprint)
		[ "$now" != "$1" ] || return 0
		[ "$tries" = 4 ] || sleep 1
	done
	echo "what was there before (<) and is now (>):"
	diff <(echo "$1") <(echo "$now")
	return 1
}

# ---- running a case ----

# Everything a case has started and not ended.
end_children()
{
	local pid

	for pid in $(pgrep -P "$1"); do
		end_children "$pid"
		kill -KILL "$pid" 2>/dev/null
	done
}

run_case()
{
	local pid status deadline=$((SECONDS + CASE_SECONDS))

	(
		set -eE
		trap 'echo "line $LINENO: $BASH_COMMAND: status $?"' ERR
		"$@"
	) &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		if [ $SECONDS -ge $deadline ]; then
			echo "FAILED: no end after $CASE_SECONDS s"
			end_children $pid
			kill -KILL $pid
		fi
		sleep 0.05
	done
	wait $pid
	status=$?
	return $status
}

result()
{
	printf '%s\n' "$1${2:+: $2}"
	printf '%s\t%s\n' "$1" "$3" >>$RESULTS
}

BEFORE=
ON_FAILURE= # what to run after a case that failed

# it NAME FUNCTION [ARGUMENT...]
it()
{
	local name=$1 log=$WORK/log status start=$SECONDS
	shift

	[ -n "$BEFORE" ] || BEFORE=$(footprint)
	rm -f "$WORK/skip" "$WORK/leaves"
	CASES=$((CASES + 1))
	run_case "$@" >"$log" 2>&1
	status=$?
	if [ $status = 77 ] && [ -e "$WORK/skip" ]; then
		result "skip $name" "$(cat "$WORK/skip")" $((SECONDS - start))
		return
	fi
	[ $status = 0 ] || [ -z "$ON_FAILURE" ] || $ON_FAILURE >>"$log" 2>&1
	if [ -e "$WORK/leaves" ]; then
		BEFORE=
	elif ! same_footprint "$BEFORE" >>"$log" 2>&1; then
		status=1
		BEFORE=
	fi
	if [ $status = 0 ]; then
		result "ok $name" "" $((SECONDS - start))
	else
		FAILED=$((FAILED + 1))
		result "not ok $name" "" $((SECONDS - start))
		tail -n "${XENTEST_LINES:-25}" "$log" | sed 's/^/    /'
	fi
	cat "$log" >>/out/cases.log
}

# ---- the end ----

print_figures()
{
	local columns

	[ -s $FIGURES ] || return 0
	columns=$(cut -f 2 $FIGURES | sort -u -r | tr '\n' ' ')
	awk -F '\t' -v columns="$columns" '
		{
			if (!($1 in seen)) order[++n] = $1
			seen[$1] = 1
			value[$1, $2] = $3
		}
		END {
			nr = split(columns, column, " ")
			printf "%-46s", ""
			for (c = 1; c <= nr; c++) printf "%12s", column[c]
			printf "\n"
			for (i = 1; i <= n; i++) {
				printf "%-46s", order[i]
				for (c = 1; c <= nr; c++) printf "%12s", value[order[i], column[c]]
				printf "\n"
			}
		}' $FIGURES
}

finish()
{
	echo
	print_figures
	printf '\n%d cases in %d s: %d ok, %d not ok, %d skipped\n' $CASES $SECONDS \
		"$(grep -c '^ok ' $RESULTS)" "$(grep -c '^not ok ' $RESULTS)" "$(grep -c '^skip ' $RESULTS)"
	[ $FAILED = 0 ] && [ $CASES -gt 0 ]
	exit
}
