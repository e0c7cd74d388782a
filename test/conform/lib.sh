# SPDX-License-Identifier: MIT
# What the scripts here share: a machine of their own that ends with them. Sourced, from the build
# directory.
xenemu=./grant/xenemu
dir=$(mktemp -d) || exit 99
machine=

finish() {
	if [ -n "$machine" ]; then
		kill "$machine" 2>/dev/null
		wait "$machine" 2>/dev/null
	fi
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM

wait_for() { # seconds command...
	tries=$(($1 * 50))
	shift
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || { echo "timed out: $*"; exit 1; }
		sleep 0.02
	done
}

start_machine() {
	XENEMU_RUNDIR=$dir/m
	export XENEMU_RUNDIR
	$xenemu start "$@" &
	machine=$!
	wait_for 5 $xenemu list
}

# The machine holds nothing but domain 0, and the connection that asks.
only_dom0() {
	$xenemu stats >"$dir/stats" || return 1
	for line in domains:1 dying:0 connections:1 ports:0 map_groups:0 pins:0 shared_pages:0 \
		quarantined_pages:0 store_watches:0 store_transactions:0 store_connections:0; do
		grep -Eq "^${line%:*} +${line#*:}\$" "$dir/stats" || return 1
	done
}
