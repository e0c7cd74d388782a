# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# life-cycle.sh: what the toolstack and a guest do to a vif. g1 (10.77.0.2) is there already; g2 is
# made here and is gone at the end.

G2=10.77.0.3

# in_time XL_COMMAND...: libxl never had to wait out one of its limits. (How long the command takes
# says little: most of it is the hotplug script's programs on an emulated CPU.)
in_time()
{
	local start

	start=$(now_msec)
	"$@" 2>/run/xl.err || { cat /run/xl.err && fail "$*"; }
	echo "took $(($(now_msec) - start)) ms: $*"
	cat /run/xl.err
	not grep -E 'timed out|timeout|error' /run/xl.err
}

guest_has_two_vifs()
{
	guest_create g2 "$G2/24" "'bridge=$BRIDGE', 'bridge=$BRIDGE,mac=00:16:3e:00:00:22'"
	vif_connected g2 0
	vif_connected g2 1
	guest_ready g2 "$G2"
	equal "address of the second vif" 00:16:3e:00:00:22 \
		"$(guest_run g2 'cat /sys/class/net/eth1/address')"
	guest_run g2 'ip link set eth1 up; ip addr add 10.77.0.33/24 dev eth1'
	ping_all 10.77.0.33
	leaves_something
}

two_guests_talk_over_the_bridge()
{
	guest_run g2 'ping -c 5 -W 2 10.77.0.2'
	guest_run g1 'ping -c 5 -W 2 10.77.0.3'
	guest_run g1 'iperf3 -c 10.77.0.3 -t 2 >/tmp/iperf && grep receiver /tmp/iperf' 60
}

# Xen's own script takes seconds on an emulated CPU; the one of this tree does the same with a tenth
# of the processes, so most rounds use that. Some rounds see traffic first, so that the removal meets
# more than one state of the guest.
attached_and_detached()
{
	local i spec=()

	for i in $(seq "$1"); do
		spec=(bridge=$BRIDGE)
		[ $((i % 10)) = 1 ] || spec+=("script=$XEN_HERE/../../scripts/vif-bridge")
		xl network-attach g1 "${spec[@]}" || fail "attach $i"
		vif_connected g1 1 || fail "attach $i is not connected"
		if [ $((i % 4)) = 0 ]; then
			guest_run g1 'ip link set eth1 up; ip addr add 10.77.1.2/24 dev eth1;
				ping -c 1 -W 1 10.77.1.1 >/dev/null; true'
		fi
		in_time xl network-detach g1 1
		not has_vif "$(vif_name g1 1)"
	done
	not guest_run g1 'ls /sys/class/net/eth1'
}

# The frontend's driver is not loaded in time: libxl may not have to wait out its ten seconds.
detached_before_it_connects()
{
	xl network-attach g1 bridge=$BRIDGE
	in_time xl network-detach g1 1
	not has_vif "$(vif_name g1 1)"
}

paused_and_unpaused()
{
	local before after

	ping_all 10.77.0.2
	before=$(sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$(netbackd_pid)/status")
	xl pause g1
	not ping -c 2 -i 0.2 -W 1 10.77.0.2
	ping -q -f -c 3000 -s 1400 -w 5 10.77.0.2 || true
	after=$(sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$(netbackd_pid)/status")
	xl unpause g1
	pings 10.77.0.2 5
	ping_all 10.77.0.2
	echo "netbackd's memory: $before KiB before, $after KiB with a paused guest"
	[ "$after" -lt $((before + 8192)) ]
}

interface_goes_down_and_up()
{
	ping_all 10.77.0.2
	guest_run g1 'ip link set eth0 down'
	not ping -c 2 -i 0.2 -W 1 10.77.0.2
	guest_run g1 'ip link set eth0 up'
	pings 10.77.0.2 5
	ping_all 10.77.0.2
}

netfront_is_reloaded()
{
	local vif

	vif=$(vif_name g1 0)
	# A driver is in use while it is bound to a device.
	guest_run g1 'echo vif-0 >/sys/bus/xen/drivers/vif/unbind; rmmod xen_netfront'
	has_vif "$vif"
	wait_for 5 vif_is "$(guest_domid g1)" 0 6
	guest_run g1 'insmod /modules/*-xen-netfront.ko; sleep 1;
		ip addr add 10.77.0.2/24 dev eth0; ip link set eth0 up'
	vif_connected g1 0
	pings 10.77.0.2 10
	ping_all 10.77.0.2
}

# g2 has on_reboot = "restart", xl's default: a new domain of the same name.
guest_is_rebooted()
{
	local before

	before=$(guest_domid g2)
	rm -f "$CONSOLES/guest-g2.log"
	xl reboot g2
	new_domain() { [ -n "$(guest_domid g2)" ] && [ "$(guest_domid g2)" != "$before" ]; }
	wait_for 30 new_domain || fail "no new domain"
	guest_ready g2 "$G2"
	vif_connected g2 0
	vif_connected g2 1
	ping_all "$G2"
	not has_vif "vif$before.0"
	not has_vif "vif$before.1"
	leaves_something
}

# A kernel that panics ends the domain: nobody closes anything.
guest_panics()
{
	local domid tty

	domid=$(guest_domid g2)
	tty=$(xenstore-read "/local/domain/$domid/console/tty")
	iperf3 -c "$G2" -t 20 >/dev/null 2>&1 &
	sleep 1
	echo '1 echo c >/proc/sysrq-trigger' >"$tty"
	wait_for 30 guest_gone g2 || fail "the domain is still there"
	wait_for 10 not_there "vif$domid.0" || fail "vif$domid.0 is still there"
	grep -qa 'sysrq triggered crash\|Kernel panic' "$CONSOLES/guest-g2.log"
	leaves_something
}

not_there()
{
	! has_vif "$1"
}

# destroyed_under_load NAME IP
destroyed_under_load()
{
	local vif

	vif=$(vif_name "$1" 0)
	iperf3 -c "$2" -t 30 >/dev/null 2>&1 &
	iperf3 -c "$2" -p 5202 -R -t 30 >/dev/null 2>&1 &
	sleep 1.5
	in_time xl destroy "$1"
	wait_for 10 guest_gone "$1"
	not has_vif "$vif"
	leaves_something
}

# shut_down NAME
shut_down()
{
	local vif

	vif=$(vif_name "$1" 0)
	xl shutdown -w "$1"
	wait_for 10 guest_gone "$1"
	not has_vif "$vif"
	leaves_something
}

life_cycle_cases()
{
	it "a guest with two vifs has both" guest_has_two_vifs
	it "two guests talk over one bridge" two_guests_talk_over_the_bridge
	it "network-attach and network-detach, 20 times" attached_and_detached 20
	it "network-detach before the guest has connected" detached_before_it_connects
	it "xl pause and unpause: memory is bounded, traffic resumes" paused_and_unpaused
	it "the guest's interface goes down and up" interface_goes_down_and_up
	it "netfront's module is unloaded and loaded again" netfront_is_reloaded
	it "xl reboot: the new domain has its network, the old one's vifs are gone" guest_is_rebooted
	it "a guest's kernel panics under load" guest_panics
}
