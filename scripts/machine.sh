# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# shellcheck disable=SC2034 # variables are for whoever sources this
#
# machine.sh: an emulated Xen machine with netbackd and guests, inside namespaces of its own: a
# user, network, mount and pid namespace that end with the program that made them and everything in
# them. Needs no root and touches neither the network nor the files of the machine it runs on.
# Used by scripts/demo and the functional tests.
#
# Outside:  namespaces_check; namespaces_run COMMAND...
# Inside:   network_start; machine_start; netbackd_start; guest_start NAME ...; vif_attach NAME ...
#
# The caller sets BUILD (a build tree) and RUN (a private directory with a short path).

BRIDGE=xenbr0
BRIDGE_ADDRESS=10.77.0.1

# ---- outside ----

# 0, or 1 with one line that says what is missing and what to do.
namespaces_check()
{
	local complaint

	if [ ! -c /dev/net/tun ]; then
		echo "/dev/net/tun is missing: load the tun module (as root: modprobe tun)"
		return 1
	fi
	if ! { : <>/dev/net/tun; } 2>/dev/null; then
		echo "/dev/net/tun may not be opened: as root, chmod 666 /dev/net/tun"
		return 1
	fi
	if ! complaint=$(unshare --user --map-root-user --net --mount --pid --fork \
		--mount-proc true 2>&1); then
		echo "no user namespaces ($complaint): as root," \
			"sysctl kernel.unprivileged_userns_clone=1" \
			"or kernel.apparmor_restrict_unprivileged_userns=0"
		return 1
	fi
}

# namespaces_run COMMAND...: run it as root of new namespaces, and wait. Whatever ends first - it,
# the caller (also by kill -9), or a signal to the caller - ends all that was started in there.
namespaces_run()
{
	local pid status

	setpriv --pdeathsig KILL unshare --user --map-root-user --net --mount --pid --fork \
		--mount-proc --kill-child=KILL -- "$@" <&0 &
	pid=$!
	# unshare(1) blocks the polite signals while it waits.
	trap 'kill -KILL '"$pid"' 2>/dev/null; wait '"$pid"' 2>/dev/null; exit 130' INT
	trap 'kill -KILL '"$pid"' 2>/dev/null; wait '"$pid"' 2>/dev/null; exit 143' TERM HUP
	# The first process in there, for nsenter(1).
	wait_for 5 pgrep -P "$pid" && pgrep -P "$pid" >"$RUN/init.pid"
	wait "$pid"
	status=$?
	trap - INT TERM HUP
	return "$status"
}

# ---- inside ----

# wait_for SECONDS COMMAND...: until it succeeds. 1 if it does not in that time.
wait_for()
{
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000))
	shift

	until "$@" >/dev/null 2>&1; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || return 1
		sleep 0.05
	done
}

network_start()
{
	mount -t tmpfs -o mode=755 tmpfs /run && mkdir -p /run/netns || return 1
	# This namespace's own /sys shows its own devices. Refused in some containers: then a
	# program that looks there sees no device, which none of ours does.
	mount -t sysfs sysfs /sys 2>/dev/null
	no_ipv6
	ip link set lo up
	ip link add "$BRIDGE" type bridge stp_state 0 forward_delay 0 || return 1
	# Given explicitly, or it would change to that of the first vif.
	ip link set "$BRIDGE" address 00:16:3e:ff:ff:01 up
	ip address add "$BRIDGE_ADDRESS/16" dev "$BRIDGE"
}

# Nothing but what a test sends shall pass: IPv6 would announce itself at its own times.
no_ipv6()
{
	[ ! -d /proc/sys/net/ipv6 ] || echo 1 | tee /proc/sys/net/ipv6/conf/all/disable_ipv6 \
		/proc/sys/net/ipv6/conf/default/disable_ipv6 >/dev/null
}

# Programs of the build tree, by their sub-command where they have some.
xenemu()
{
	local command=$1
	shift

	"$BUILD/grant/xenemu" "$command" --rundir "$RUN/xen" "$@"
}

netbackctl()
{
	"$BUILD/netback/netbackctl" "$@" --ctl-socket "$RUN/netbackd.ctl"
}

# Xen's own tools talk to the machine's store as dom0.
store()
{
	local command=$1
	shift

	XENSTORED_PATH=$RUN/xen/dom0/xenstored.sock "xenstore-$command" "$@"
}

# exec_in_background LOG COMMAND...: $! is the command's own process, not a shell's.
exec_in_background()
{
	local log=$1
	shift

	{ exec "$@" </dev/null >>"$log" 2>&1; } &
}

# machine_start [OPTION...]: sets MACHINE_PID.
machine_start()
{
	exec_in_background "$RUN/xenemu.log" "$BUILD/grant/xenemu" start --rundir "$RUN/xen" "$@"
	MACHINE_PID=$!
	wait_for 10 store exists /local || {
		cat "$RUN/xenemu.log" >&2
		return 1
	}
}

# netbackd_start [OPTION...]: sets NETBACKD_PID (of the daemon itself: exec all the way).
netbackd_start()
{
	exec_in_background "$RUN/netbackd.log" "$BUILD/grant/xenemu" dom0 --rundir "$RUN/xen" -- \
		"$BUILD/netback/netbackd" --foreground --ctl-socket "$RUN/netbackd.ctl" "$@"
	NETBACKD_PID=$!
	wait_for 10 netbackctl list || {
		cat "$RUN/netbackd.log" >&2
		return 1
	}
}

# guest_start NAME [COMMAND...]: a guest in a network namespace of its name, running netfront with
# its network device eth0, or COMMAND. Sets GUEST_PID; COMMAND's own is in $RUN/NAME.pid.
guest_start()
{
	local name=$1
	shift

	[ $# -gt 0 ] || set -- "$BUILD/netfront/netfront" --tap eth0
	if [ ! -e "/run/netns/$name" ]; then
		ip netns add "$name" || return 1
		ip netns exec "$name" bash -c "$(declare -f no_ipv6); no_ipv6"
		ip -n "$name" link set lo up
	fi
	exec_in_background "$RUN/$name.log" "$BUILD/grant/xenemu" create --rundir "$RUN/xen" \
		"$name" -- ip netns exec "$name" sh -c 'echo $$ >"$0"; exec "$@"' \
		"$RUN/$name.pid" "$@"
	GUEST_PID=$!
	wait_for 10 guest_domid "$name" || {
		cat "$RUN/$name.log" >&2
		return 1
	}
}

# guest_domid NAME: its domid on stdout.
guest_domid()
{
	store ls -f /local/domain |
		sed -n "s,^/local/domain/\\([0-9]*\\)/name = \"$1\"\$,\\1,p" | grep .
}

# guest_address INDEX: the address of guest number INDEX, from 1.
guest_address()
{
	echo "10.77.$((1 + $1 / 250)).$((1 + $1 % 250))"
}

# guest_up NAME INDEX: address and state of its eth0, which netfront makes.
guest_up()
{
	wait_for 10 ip -n "$1" link show dev eth0 || return 1
	ip -n "$1" address add "$(guest_address "$2")/16" dev eth0 &&
		ip -n "$1" link set eth0 up
}

in_guest()
{
	local name=$1
	shift

	ip netns exec "$name" "$@"
}

# vif_state DOMID HANDLE: the backend's state, a number.
vif_state()
{
	store read "/local/domain/0/backend/vif/$1/$2/state"
}

vif_is()
{
	[ "$(vif_state "$1" "$2" 2>/dev/null)" = "$3" ]
}
