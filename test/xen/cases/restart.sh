# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# restart.sh: netbackd comes, goes, is killed and comes back. g1 (10.77.0.2) is there.

# What the guest would notice of a backend that closed: netfront counts each connection.
carrier_changes()
{
	guest_run g1 'cat /sys/class/net/eth0/carrier_changes'
}

# ping_over COLUMN COMMAND...: pings go on while the command runs; the longest gap is a figure, and
# the guest has not done anything for it.
ping_over()
{
	local name=$1 pid gap
	shift

	ping -D -i 0.05 10.77.0.2 >/run/ping &
	pid=$!
	sleep 1
	"$@"
	pings 10.77.0.2 15 || fail "the guest does not answer any more"
	sleep 1
	kill -INT $pid
	wait $pid || true
	gap=$(longest_gap_msec /run/ping)
	figure "ping gap, $name, ms" netbackd "$gap"
	echo "longest gap: $gap ms"
}

term_and_start()
{
	netbackd_end TERM
	netbackd_start
}

kill_and_start()
{
	netbackd_end KILL
	netbackd_start
}

stopped_and_started()
{
	ping_over "TERM and start" term_and_start
	vif_is "$(guest_domid g1)" 0 4
	ping_all 10.77.0.2
}

killed_and_started()
{
	ping_over "kill -9 and start" kill_and_start
	vif_is "$(guest_domid g1)" 0 4
	ping_all 10.77.0.2
}

# The guest's netfront is not reset: its carrier stays, and a TCP connection lives on.
guest_does_not_notice()
{
	local before pid

	before=$(carrier_changes)
	iperf3 -c 10.77.0.2 -t 8 --json >/run/over.json &
	pid=$!
	sleep 2
	kill_and_start
	wait $pid || fail "the connection broke"
	equal "changes of the guest's carrier" "$before" "$(carrier_changes)"
	ping_all 10.77.0.2
}

killed_ten_times()
{
	local i

	for i in 1 2 3 4 5 6 7 8 9 10; do
		kill_and_start || fail "start $i"
	done
	pings 10.77.0.2 15
	ping_all 10.77.0.2
}

# libxl waits ten seconds for the backend: time enough to start it.
started_after_xl_create()
{
	local creator

	netbackd_end TERM
	guest_create g3 10.77.0.4/24 "'bridge=$BRIDGE'" &
	creator=$!
	wait_for 30 xenstore-exists "/local/domain/0/backend/vif" || true
	vif_waits() { [ -n "$(guest_domid g3)" ] && vif_is "$(guest_domid g3)" 0 1; }
	wait_for 30 vif_waits
	sleep 2
	netbackd_start
	wait $creator
	guest_ready g3 10.77.0.4
	vif_connected g3 0
	pings 10.77.0.2 15
	leaves_something
}

# What xl says is what an administrator has to go by.
create_without_netbackd()
{
	netbackd_end TERM
	not guest_create g4 10.77.0.5/24 "'bridge=$BRIDGE'" 2>/run/create.err
	cat /run/create.err
	grep -q 'timed out' /run/create.err
	guest_gone g4 || xl destroy g4
	netbackd_start
	pings 10.77.0.2 15
}

# The guest is destroyed while nobody serves it.
destroyed_while_away()
{
	local domid

	domid=$(guest_domid g3)
	netbackd_end KILL
	timeout 60 xl destroy g3 || true
	wait_for 10 guest_gone g3
	netbackd_start
	not has_vif "vif$domid.0"
	not xenstore-exists "$(backend_path "$domid" 0)"
	pings 10.77.0.2 15
	leaves_something
}

restart_cases()
{
	it "netbackd stopped with TERM and started: traffic resumes" stopped_and_started
	it "netbackd killed with -9 and started: traffic resumes" killed_and_started
	it "kill -9 under TCP: the connection lives, the guest's carrier has not changed" \
		guest_does_not_notice
	it "netbackd killed ten times in a row" killed_ten_times
	it "netbackd started after xl create has begun" started_after_xl_create
	it "a guest under load is destroyed" destroyed_under_load g3 10.77.0.4
	it "xl create without netbackd says what timed out, and leaves nothing" create_without_netbackd
	it "a guest is created again" guest_is_created g3 10.77.0.4
	it "a guest is destroyed while netbackd is away" destroyed_while_away
}
