# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# frontend.sh: this tree's netfront and conformance suite inside a real guest, f1, whose kernel has no
# netfront of its own.

F1=10.77.0.6

guest_without_netfront()
{
	GUEST_EXTRA=no-netfront guest_create f1 "" "'bridge=$BRIDGE'"
	guest_ready f1
	leaves_something
}

netfront_connects()
{
	guest_run f1 'netfront --tap eth0 --up --stats-file /tmp/stats.json --stats-interval 1
		>/tmp/netfront.log 2>&1 & true'
	if ! vif_connected f1 0; then
		guest_run f1 'cat /tmp/netfront.log'
		fail "it is in state $(vif_state "$(guest_domid f1)" 0)"
	fi
	guest_run f1 "ip addr add $F1/24 dev eth0; ip link set eth0 up"
	pings $F1
	ping_all $F1
	leaves_something
}

netfront_counters_agree()
{
	local front back

	sleep 2
	guest_run f1 'cat /tmp/stats.json' >/run/f1.json
	front=$(jq -r '.totals | "\(.tx.packets) \(.tx.bytes) \(.rx.packets) \(.rx.bytes)"' /run/f1.json)
	back=$(vif_count "$(vif_name f1 0)" \
		'"\(.tx.packets) \(.tx.bytes) \(.rx.packets) \(.rx.bytes)"')
	equal "netfront's and netbackd's packets and bytes" "$front" "$back"
}

netfront_leaves()
{
	guest_run f1 'killall netfront; for i in 1 2 3 4 5 6 7 8 9; do pidof netfront || break; sleep 0.5; done'
	wait_for 10 vif_is "$(guest_domid f1)" 0 6
	leaves_something
}

conformance()
{
	local domid
	domid=$(guest_domid f1)

	guest_run f1 'conform server 0 >/tmp/conform.log 2>&1 & true'
	sleep 1
	"$XEN_BUILD/test/conform/conform" client "$domid" | tee /out/conform.log
	[ "${PIPESTATUS[0]}" = 0 ] && ! grep -q '^not ok' /out/conform.log
}

# An ordinary guest has no backend directory of its own.
netbackd_in_an_ordinary_guest()
{
	local text

	text=$(guest_run f1 'netbackd --foreground --port sink --ctl-socket /tmp/ctl & pid=$!; sleep 3;
		kill $pid; true')
	echo "$text"
	grep -q 'driver domain' <<<"$text"
}

frontend_cases()
{
	it "a guest without a netfront of its own starts" guest_without_netfront
	it "netfront runs a vif of a real guest" netfront_connects
	it "TCP flows to netfront" tcp_flows f1 $F1 netfront "to guest"
	it "TCP flows from netfront" tcp_flows f1 $F1 netfront "from guest" -R
	it "netfront's and netbackd's counters agree" netfront_counters_agree
	it "netfront leaves in order" netfront_leaves
	it "the conformance suite holds on real Xen" conformance
	it "netbackd in a guest that is no driver domain says so" netbackd_in_an_ordinary_guest
	it "xl shutdown" shut_down f1
}
