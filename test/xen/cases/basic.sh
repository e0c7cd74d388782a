# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# basic.sh: a guest of xl's with one vif, served by netbackd or by the kernel's xen-netback. The
# functions take the guest's name and address and the column of the table of figures, so that both
# backends run the very same ones.

# guest_is_created NAME IP [LINE...]
guest_is_created()
{
	local name=$1 ip=$2
	shift 2

	guest_create "$name" "$ip/24" "'bridge=$BRIDGE'" "$@"
	equal "state of the vif" 4 "$(vif_connected "$name" 0 && vif_state "$(guest_domid "$name")" 0)"
	guest_ready "$name" "$ip" || fail "the guest does not answer"
	leaves_something
}

pings_without_loss()
{
	ping_all "$1"
}

# tcp_flows NAME IP COLUMN LABEL [IPERF_OPTION...]
tcp_flows()
{
	local ip=$2 column=$3 label=$4 before after mbps bytes
	shift 4

	before=$(dom0_cpu_seconds)
	mbps=$(iperf_mbps "$ip" "$@")
	after=$(dom0_cpu_seconds)
	bytes=$(jq '.end.sum_received.bytes' /run/iperf.json)
	[ "$mbps" -gt 0 ] || fail "no byte arrived"
	figure "TCP $label, Mbit/s" "$column" "$mbps"
	figure "TCP $label, dom0 CPU s/GB" "$column" \
		"$(awk "BEGIN {printf \"%.1f\", ($after - $before) / $bytes * 1e9}")"
	figure "TCP $label, retransmitted segments" "$column" \
		"$(jq '.end.sum_sent.retransmits // "-"' /run/iperf.json)"
}

# Numbered datagrams, few enough for the emulated CPU: none may overtake another.
order_is_kept()
{
	local ip=$1 direction

	for direction in "" -R; do
		# shellcheck disable=SC2086 # none or one word
		timeout 30 iperf3 -c "$ip" -u -b 4M -l 1200 -t 2 --json $direction >/run/udp.json
		jq -e '.end.streams[0].udp | .out_of_order == 0 and .packets > 100' /run/udp.json ||
			fail "direction '$direction': $(jq -c '.end.streams[0].udp' /run/udp.json)"
	done
}

latency_is_measured()
{
	local p50 p99

	read -r p50 p99 < <(ping_percentiles "$1" 300)
	[ -n "$p99" ] || fail "no answers"
	figure "ping p50, ms" "$2" "$p50"
	figure "ping p99, ms" "$2" "$p99"
}

# counters_agree NAME: packets and bytes of the guest's eth0 are netbackd's, once it is quiet. Linux's
# netfront counts what it receives without the 14 bytes of Ethernet, and what it sends with them.
counters_agree()
{
	local name=$1 front back tries

	guest_run "$name" 'echo 1 >/proc/sys/net/ipv6/conf/eth0/disable_ipv6'
	for tries in 1 2 3 4 5; do
		front=$(guest_run "$name" 'cd /sys/class/net/eth0/statistics;
			echo $(cat tx_packets tx_bytes rx_packets) $(($(cat rx_bytes) + 14 * $(cat rx_packets)))')
		back=$(vif_count "$(vif_name "$name" 0)" \
			'"\(.tx.packets) \(.tx.bytes) \(.rx.packets) \(.rx.bytes)"')
		echo "try $tries: guest $front, netbackd $back"
		[ "$front" != "$back" ] || return 0
		sleep 1
	done
	fail "the counters differ"
}

console_has_no_complaint()
{
	local name=$1

	guest_run "$name" dmesg | grep -v mpls_gso >"/out/dmesg.$name"
	not grep -iE 'checksum|gso|hw csum|rides the rocket|netfront.*(err|fail|invalid|bad)|xennet.*(err|fail)|vif vif-.*: [0-9]|Call Trace|WARNING:' \
		"/out/dmesg.$name"
	not grep -aE 'Oops|Kernel panic|Call Trace' "$CONSOLES/guest-$name.log"
}

# What netfront switched on is what the backend offers.
features_are_agreed()
{
	local name=$1 backend feature row
	backend=$(backend_path "$(guest_domid "$name")" 0)

	guest_run "$name" 'ethtool -k eth0' >/run/features
	for row in scatter-gather:feature-sg tx-tcp-segmentation:feature-gso-tcpv4 \
		tx-tcp6-segmentation:feature-gso-tcpv6; do
		feature=$(xenstore-read "$backend/${row#*:}" 2>/dev/null || echo 0)
		[ "$feature" = 1 ] && feature=on || feature=off
		grep -q "^[[:space:]]*${row%%:*}: $feature" /run/features ||
			fail "${row#*:} is $feature in the backend: $(grep "${row%%:*}" /run/features)"
	done
}

xl_lists_the_vif()
{
	local name=$1 mac

	mac=$(guest_run "$name" 'cat /sys/class/net/eth0/address')
	xl network-list "$name"
	xl network-list "$name" | awk -v mac="$mac" '$3 == mac && $5 == 4 {found = 1} END {exit !found}'
}

# Kilobytes that xentop shows for the guest: transmitted and received.
xentop_kilobytes()
{
	xentop -b -i 1 -f | awk -v name="$1" '$1 == name {print $11, $12}'
}

xentop_shows_live_counters()
{
	local name=$1 ip=$2 tx rx tx_later rx_later

	read -r tx rx < <(xentop_kilobytes "$name")
	ping -q -c 50 -i 0.01 -s 1400 "$ip"
	read -r tx_later rx_later < <(xentop_kilobytes "$name")
	echo "before $tx $rx, after $tx_later $rx_later"
	[ "$tx_later" -ge $((tx + 50)) ] && [ "$rx_later" -ge $((rx + 50)) ]
}

guest_is_destroyed()
{
	guest_destroy "$1"
	leaves_something
}

# backend_cases COLUMN NAME IP
backend_cases()
{
	local column=$1 name=$2 ip=$3

	it "$column: xl create gives a guest its network" guest_is_created "$name" "$ip"
	it "$column: a ping of twenty loses none" pings_without_loss "$ip"
	it "$column: TCP flows to the guest" tcp_flows "$name" "$ip" "$column" "to guest"
	it "$column: TCP flows from the guest" tcp_flows "$name" "$ip" "$column" "from guest" -R
	it "$column: numbered datagrams keep their order both ways" order_is_kept "$ip"
	it "$column: latency of 300 pings is measured" latency_is_measured "$ip" "$column"
	it "$column: the guest's console has no complaint about checksums, GSO or netfront" \
		console_has_no_complaint "$name"
	it "$column: netfront switches on what the backend offers, and nothing else" \
		features_are_agreed "$name"
	it "$column: xl network-list shows the vif connected" xl_lists_the_vif "$name"
	it "$column: xentop shows the vif's counters move" xentop_shows_live_counters "$name" "$ip"
}
