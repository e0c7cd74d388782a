# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# scripts.sh: what a vif specification can say, with Xen's own hotplug scripts unchanged. Each case
# attaches a second vif to g1 and detaches it again.

# second_vif SPEC: attached, connected, and up in the guest with 10.77.9.2.
second_vif()
{
	xl network-attach g1 "$@"
	vif_connected g1 1 || fail "it is in state $(vif_state "$(guest_domid g1)" 1)"
	guest_run g1 'ip addr add 10.77.9.2/24 dev eth1; ip link set eth1 up'
}

no_second_vif()
{
	xl network-detach g1 1
	not has_vif "$(vif_name g1 1)"
	not guest_run g1 'ls /sys/class/net/eth1'
}

bridge_nine()
{
	bridge_up xenbr9 10.77.9.1/24
	[ "${1:-1500}" = 1500 ] || ip link set xenbr9 mtu "$1"
}

mtu_9000()
{
	local mtu

	bridge_nine 9000
	second_vif bridge=xenbr9 mtu=9000
	equal "MTU of the tap" 9000 "$(cat "/sys/class/net/$(vif_name g1 1)/mtu")"
	mtu=$(guest_run g1 'cat /sys/class/net/eth1/mtu')
	echo "MTU in the guest: $mtu"
	guest_run g1 'ip link set eth1 mtu 9000'
	pings 10.77.9.2
	ping -q -c 5 -i 0.1 -W 2 -M do -s 8972 10.77.9.2 | grep ' 0% packet loss'
	guest_run g1 'ping -q -c 5 -W 2 -s 8972 10.77.9.1' | grep ' 0% packet loss'
	no_second_vif
	ip link del xenbr9
}

mac_is_the_guests()
{
	bridge_nine
	second_vif bridge=xenbr9 mac=00:16:3e:77:66:55
	equal "the guest's address" 00:16:3e:77:66:55 \
		"$(guest_run g1 'cat /sys/class/net/eth1/address')"
	pings 10.77.9.2
	ip neigh show 10.77.9.2 | grep -q 00:16:3e:77:66:55
	no_second_vif
	ip link del xenbr9
}

vifname_renames_the_tap()
{
	bridge_nine
	second_vif bridge=xenbr9 vifname=web-front
	has_vif web-front
	not has_vif "$(vif_name g1 1)"
	pings 10.77.9.2
	no_second_vif
	not has_vif web-front
	ip link del xenbr9
}

# What the guest sends stays within the rate; what it receives has no limit.
rate_limits_the_guest()
{
	local mbps

	bridge_nine
	second_vif bridge=xenbr9 rate=8Mb/s
	pings 10.77.9.2
	mbps=$(iperf_mbps 10.77.9.2 -R)
	figure "TCP from guest with rate=8Mb/s, Mbit/s" netbackd "$mbps"
	[ "$mbps" -le 10 ] || fail "$mbps Mbit/s"
	[ "$mbps" -ge 4 ] || fail "$mbps Mbit/s"
	no_second_vif
	ip link del xenbr9
}

vif_route()
{
	command -v ifconfig >/dev/null || skip_case "vif-route calls ifconfig (Debian: net-tools)"
	second_vif script=vif-route ip=10.77.9.2 gatewaydev=$BRIDGE
	guest_run g1 "ip route add $DOM0_ADDRESS dev eth1 src 10.77.9.2 || true"
	ip route | grep -q '^10.77.9.2 dev vif'
	pings 10.77.9.2
	no_second_vif
	not grep -q 10.77.9.2 <(ip route)
}

vif_nat()
{
	second_vif script=vif-nat ip=10.77.9.2
	ip addr show "$(vif_name g1 1)" | grep -q 10.77.9.129
	pings 10.77.9.2
	no_second_vif
}

ovs()
{
	LD_LIBRARY_PATH=$XEN_CACHE/extra/usr/lib/x86_64-linux-gnu "$@"
}

ovs_start()
{
	local extra=$XEN_CACHE/extra dir=/run/openvswitch

	mkdir -p $dir /etc/openvswitch /var/log/openvswitch
	cat >/usr/local/bin/ovs-vsctl <<-END
	#!/bin/sh
	LD_LIBRARY_PATH=$extra/usr/lib/x86_64-linux-gnu exec $extra/usr/bin/ovs-vsctl \
		--db=unix:$dir/db.sock "\$@"
	END
	chmod +x /usr/local/bin/ovs-vsctl
	ovs "$extra/usr/bin/ovsdb-tool" create $dir/conf.db \
		"$extra/usr/share/openvswitch/vswitch.ovsschema" &&
		ovs "$extra/usr/sbin/ovsdb-server" $dir/conf.db --remote=punix:$dir/db.sock \
			--unixctl=$dir/db.ctl --pidfile=$dir/db.pid --detach --log-file=/out/ovsdb.log &&
		ovs-vsctl --no-wait init &&
		ovs "$extra/usr/sbin/ovs-vswitchd" unix:$dir/db.sock --unixctl=$dir/vswitchd.ctl \
			--pidfile=$dir/vswitchd.pid --detach --log-file=/out/vswitchd.log
}

ovs_stop()
{
	local name

	for name in vswitchd db; do
		kill "$(cat /run/openvswitch/$name.pid)"
		wait_for 10 netbackd_gone "$(cat /run/openvswitch/$name.pid)"
	done
}

vif_openvswitch()
{
	PATH=/usr/local/bin:$PATH
	[ -x "$XEN_CACHE/extra/usr/sbin/ovs-vswitchd" ] ||
		skip_case "no Open vSwitch (Debian: openvswitch-switch)"
	load openvswitch
	ovs_start
	timeout 30 ovs-vsctl add-br ovsbr0
	ip addr add 10.77.9.1/24 dev ovsbr0
	ip link set ovsbr0 up
	second_vif script=vif-openvswitch bridge=ovsbr0
	ovs-vsctl show
	pings 10.77.9.2
	ping_all 10.77.9.2
	no_second_vif
	timeout 30 ovs-vsctl list-ports ovsbr0
	equal "ports left on the switch" "" "$(timeout 30 ovs-vsctl list-ports ovsbr0)"
	timeout 30 ovs-vsctl del-br ovsbr0
	ovs_stop
	! has_vif ovs-system || ip link del ovs-system
}

script_fails()
{
	cat >$SCRIPTS/vif-broken <<-'END'
	#!/bin/bash
	. /etc/xen/scripts/vif-common.sh
	fatal "the cable is not plugged in"
	END
	chmod +x $SCRIPTS/vif-broken
	not xl network-attach g1 script=vif-broken 2>/run/attach.err
	cat /run/attach.err
	grep -q 'the cable is not plugged in' /run/attach.err
	grep -q 'its hotplug script failed: the cable is not plugged in' $NETBACKD_LOG
	xenstore-ls -f /local/domain/0/error | grep 'the cable is not plugged in'
	# libxl leaves what it could not attach until it is told to detach it.
	xl network-detach g1 1
	not has_vif "$(vif_name g1 1)"
	xl network-attach g1 bridge=$BRIDGE
	vif_connected g1 1
	no_second_vif
}

# The same with xl create: nothing may be left of the guest.
script_fails_at_create()
{
	not guest_create g4 "" "'script=$SCRIPTS/vif-broken'" 2>/run/create.err
	cat /run/create.err
	grep -q 'the cable is not plugged in' /run/create.err
	wait_for 10 guest_gone g4
}

# What a case that failed half way has left would make the next ones fail too.
second_vif_cleanup()
{
	local handle

	for handle in $(xl network-list g1 | awk 'NR > 1 && $1 > 0 {print $1}'); do
		xl network-detach g1 "$handle"
	done
	! has_vif xenbr9 || ip link del xenbr9
}

script_cases()
{
	ON_FAILURE=second_vif_cleanup
	it "mtu=9000: frames of 9000 bytes pass both ways" mtu_9000
	it "mac= is the guest's address" mac_is_the_guests
	it "vifname= renames the tap, and it goes with the vif" vifname_renames_the_tap
	it "rate= limits what the guest sends" rate_limits_the_guest
	it "vif-route: the guest is routed to, the route goes with the vif" vif_route
	it "vif-nat" vif_nat
	it "vif-openvswitch: a port of Open vSwitch, and none is left" vif_openvswitch
	it "a hotplug script that fails: xl and netbackctl say why, the next attach works" script_fails
	it "a hotplug script that fails at xl create: nothing is left" script_fails_at_create
	ON_FAILURE=
}
