# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2034 # variables and functions are for whoever sources this
#
# harness.sh: a functional test is a bash script that sources this file, describes its cases with
#
#	it "does something" function
#
# and ends with finish. Each case runs in a shell of its own, may start a machine there, and fails
# by ending with a status other than 0: through fail, or because a command did (set -e holds). All
# it started is ended for it. Prints "ok NAME" or "not ok NAME" a case, which scripts/check counts.
# Exit status 77 is a skip, with its reason.
#
# The script runs twice: outside, where sourcing this makes the namespaces and never returns, and
# inside them.

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/machine.sh
. "$HERE/../../scripts/machine.sh"
PATH=$PATH:/usr/sbin:/sbin

skip()
{
	echo "skip: $*"
	exit 77
}

harness_outside()
{
	local complaint program

	for program in unshare setpriv ip ping jq xenstore-ls ss; do
		command -v "$program" >/dev/null || skip "$program is not installed"
	done
	complaint=$(namespaces_check) || skip "$complaint"
	BUILD=${top_builddir:-$HERE/../../build}
	BUILD=$(cd "$BUILD" && pwd) || skip "there is no build tree (set top_builddir)"
	HARNESS_DIR=$(mktemp -d /tmp/nb-test.XXXXXX) || exit 1
	RUN=$HARNESS_DIR
	export BUILD HARNESS_DIR
	namespaces_run "$BASH" "$0" "$@"
	status=$?
	rm -rf "$HARNESS_DIR"
	exit "$status"
}

[ -n "${HARNESS_DIR:-}" ] || harness_outside "$@"

exec 3>&1

network_start || exit 1
CASES=0
FAILED=0
# Under a sanitizer memory is not given back at once, and everything takes longer.
SANITIZED=no
grep -q '^S\["SANITIZE_CFLAGS"\]="..*"' "$BUILD/config.status" && SANITIZED=yes

# fail TEXT: the case has failed.
fail()
{
	echo "FAILED: $*"
	exit 1
}

# not COMMAND...: the case fails if it succeeds (set -e does not see a plain "!").
not()
{
	! "$@" || fail "this succeeded: $*"
}

case_end()
{
	local pid status=$?

	set +e
	mapfile -t pids < <(jobs -p)
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null
	done
	for pid in "${pids[@]}"; do
		wait_for 5 gone "$pid" || kill -KILL "$pid" 2>/dev/null
	done
	exit $status
}

gone()
{
	! kill -0 "$1" 2>/dev/null || [ "$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' \
		"/proc/$1/status" 2>/dev/null)" = Z ]
}

# it NAME FUNCTION [ARGUMENT...]
it()
{
	local name=$1 status log mounts
	shift

	CASES=$((CASES + 1))
	RUN=$HARNESS_DIR/$CASES
	log=$RUN/case.log
	mkdir -p "$RUN"
	mounts=$(findmnt -rno TARGET)
	(
		trap case_end EXIT
		set -e
		"$@"
	) >"$log" 2>&1
	status=$?
	if [ $status = 0 ]; then
		echo "ok $name"
	else
		FAILED=$((FAILED + 1))
		echo "not ok $name"
		show_logs "$RUN"
	fi
	ip -all netns delete
	# Those of a netbackd that ended without another one to follow.
	ip -o link show type tun | cut -d' ' -f2 | while read -r tap; do
		ip link delete "${tap%:}"
	done
	# Mounts of the case; the latest first.
	findmnt -rno TARGET | tac | grep -vxF "$mounts" | while read -r mount; do
		umount -l "$mount"
	done
}

# row NAME FUNCTION [ARGUMENT...]: a part of a case that is counted by itself, and does not end the
# case if it fails; rows_hold does that in the end. What it starts stays until the case ends.
ROWS_FAILED=
row()
{
	local name=$1 status
	shift

	set +e
	(set -e && "$@") >"$RUN/row.log" 2>&1
	status=$?
	set -e
	if [ $status = 0 ]; then
		echo "ok $name" >&3
	else
		ROWS_FAILED+=" $name"
		{ echo "not ok $name" && tail -n 15 "$RUN/row.log" | sed 's/^/  /'; } >&3
	fi
}

rows_hold()
{
	[ -z "$ROWS_FAILED" ] || fail "these failed:$ROWS_FAILED"
}

show_logs()
{
	local log

	for log in "$1"/case.log "$1"/netbackd.log "$1"/xenemu.log "$1"/g1.log; do
		[ ! -s "$log" ] || { echo "  --- ${log##*/}" && tail -n 25 "$log" | sed 's/^/  /'; }
	done
}

finish()
{
	[ "$FAILED" = 0 ]
	exit
}

# ---- machines, guests, vifs ----

# A machine with netbackd; the options are netbackd's.
host_start()
{
	machine_start || fail "the machine did not start"
	netbackd_start "$@" || fail "netbackd did not start"
}

# guest NAME [COMMAND...]: guest_start, or the case fails.
guest()
{
	guest_start "$@" || fail "guest $1 did not start"
}

# netfront OPTION...: netfront with statistics written to $RUN/stats.json of the guest called $1.
guest_netfront()
{
	local name=$1
	shift

	guest "$name" "$BUILD/netfront/netfront" "$@" --stats-file "$RUN/$name.json" \
		--stats-interval 1
}

# A hotplug script that needs no network device: for ports other than taps.
no_script()
{
	cat >"$RUN/no-script" <<-'EOT'
	#!/bin/sh
	[ "$1" != online ] || exec xenstore-write "$XENBUS_PATH/hotplug-status" connected
	EOT
	chmod +x "$RUN/no-script"
	echo "$RUN/no-script"
}

# attach NAME [SPEC...]: network-attach, or the case fails.
attach()
{
	xenemu network-attach "$@" || fail "network-attach $*"
}

# connected NAME HANDLE: waits until the backend says so.
connected()
{
	local domid

	domid=$(guest_domid "$1")
	wait_for 10 vif_is "$domid" "$2" 4 ||
		fail "vif$domid.$2 is in state $(vif_state "$domid" "$2") instead of 4"
}

# tap_guest NAME INDEX [NETFRONT_OPTION...]: a guest whose eth0 is on the bridge and has an address.
tap_guest()
{
	local name=$1 index=$2
	shift 2

	guest_netfront "$name" --tap eth0 "$@"
	attach "$name" "bridge=$BRIDGE"
	guest_up "$name" "$index" || fail "guest $name has no eth0"
	connected "$name" 0
}

ping_from()
{
	in_guest "$1" ping -q -c 3 -i 0.1 -W 2 "${2:-$BRIDGE_ADDRESS}"
}

# vif_stats NAME HANDLE FILTER: of netbackctl's document about the guest's vif.
vif_stats()
{
	local domid

	domid=$(guest_domid "$1")
	netbackctl stats --json | jq -r --arg name "vif$domid.$2" \
		".vifs[] | select(.name == \$name) | $3"
}

# both_ends NAME HANDLE: do netfront and netbackd count the same packets and bytes?
both_ends_agree()
{
	local front back

	front=$(jq -c '.totals | [.tx.packets, .tx.bytes, .rx.packets, .rx.bytes]' "$RUN/$1.json")
	back=$(vif_stats "$1" "$2" '[.tx.packets, .tx.bytes, .rx.packets, .rx.bytes] | tojson')
	echo "netfront $front netbackd $back (tx, rx: packets, bytes)"
	[ -n "$front" ] && [ "$front" = "$back" ]
}

agree()
{
	wait_for 10 both_ends_agree "$1" "$2" || fail "$1: $(both_ends_agree "$1" "$2")"
}

no_guest()
{
	! guest_domid "$1"
}

no_vifs()
{
	[ "$(netbackctl stats --json | jq '.vifs | length')" = 0 ]
}

# ---- what must not grow ----

# What the first guest leaves on purpose: libxl's /libxl and /vm. To be done before footprints are
# compared.
warm_up()
{
	tap_guest warm 99
	ping_from warm
	xenemu destroy warm
	wait_for 10 no_vifs
	wait_for 10 no_guest warm
}

# Without the memory files of domains, which the emulated libraries keep as long as a domain lives.
nr_fds()
{
	find "/proc/$1/fd" -mindepth 1 ! -lname '*memfd:xen-domain*' | wc -l
}

nr_domain_memories()
{
	find "/proc/$1/fd" -mindepth 1 -lname '*memfd:xen-domain*' | wc -l
}

rss_kib()
{
	sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$1/status"
}

nr_taps()
{
	ip -o link show type tun | wc -l
}

# footprint: one line a thing that a leak would make grow, "NAME NUMBER"; memory is not among them.
footprint()
{
	echo "xenemu-fds $(nr_fds "$MACHINE_PID")"
	echo "netbackd-fds $(nr_fds "$NETBACKD_PID")"
	echo "taps $(nr_taps)"
	echo "store-nodes $(store ls -f / | wc -l)"
	xenemu stats --json | jq -r 'paths(numbers) as $p |
		"xenemu:\($p | map(tostring) | join(".")) \(getpath($p))"'
}

# same_footprint BEFORE: waits until it is as it was; what differs is the failure.
same_footprint()
{
	footprint_is() { [ "$(footprint)" = "$1" ]; }
	wait_for 5 footprint_is "$1" ||
		fail "what was there before (<) and is now (>): $(diff <(echo "$1") <(footprint))"
}
