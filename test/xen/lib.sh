# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# lib.sh: what jobs in dom0 share: guests, netbackd, the kernel's backend, waiting, measuring. Sourced
# by a job; XEN_CACHE, XEN_VERSION, XEN_HERE and XEN_BUILD say where things are. Nothing here judges:
# what fails returns 1.

BRIDGE=xenbr0
DOM0_ADDRESS=10.77.0.1
KERNEL=/run/vmlinux
NETBACKD_LOG=/out/netbackd.log
CTL_SOCKET=/run/netbackd/ctl.sock
CONSOLES=/var/log/xen/console
SCRIPTS=/etc/xen/scripts

# ---- waiting ----

now_msec()
{
	date +%s%3N
}

# wait_for SECONDS COMMAND...: until it succeeds; 1 if it does not in that time.
wait_for()
{
	local end=$(($(now_msec) + $1 * 1000))
	shift

	until "$@" >/dev/null 2>&1; do
		[ "$(now_msec)" -lt "$end" ] || return 1
		sleep 0.1
	done
}

# ---- the host ----

load()
{
	modprobe -d "$XEN_CACHE/root" -S "$XEN_VERSION" "$@"
}

host_prepare()
{
	gunzip -c "$XEN_CACHE/vmlinux-$XEN_VERSION.gz" >"$KERNEL" &&
		cp /out/guest.cpio /out/driver.cpio /run/ || return 1
	bridge_up "$BRIDGE" "$DOM0_ADDRESS/24"
}

bridge_up()
{
	ip link add "$1" type bridge && ip addr add "$2" dev "$1" && ip link set "$1" up
}

# ---- netbackd ----

netbackd_start()
{
	mkdir -p /run/netbackd
	"$XEN_BUILD/netback/netbackd" --pid-file /run/netbackd.pid --ctl-socket "$CTL_SOCKET" \
		--log-file "$NETBACKD_LOG" --log-level debug "$@"
}

netbackd_pid()
{
	cat /run/netbackd.pid 2>/dev/null
}

netbackd_gone()
{
	! kill -0 "$1" 2>/dev/null
}

# netbackd_end SIGNAL: and wait until it is gone.
netbackd_end()
{
	local pid

	pid=$(netbackd_pid)
	[ -n "$pid" ] || return 0
	kill "-$1" "$pid"
	wait_for 10 netbackd_gone "$pid" || return 1
	rm -f /run/netbackd.pid
}

netbackctl()
{
	"$XEN_BUILD/netback/netbackctl" --ctl-socket "$CTL_SOCKET" "$@"
}

# vif_count VIF FILTER: a number of netbackctl's about a vif.
vif_count()
{
	netbackctl stats --json | jq -r --arg name "$1" ".vifs[] | select(.name == \$name) | $2"
}

# ---- guests ----

# guest_config NAME IP/LEN|"" VIFS [LINE...]: VIFS as in xl.cfg, without the brackets; further lines
# for the configuration. GUEST_MEMORY, GUEST_IMAGE and GUEST_EXTRA (for the command line) if set.
guest_config()
{
	local name=$1 ip=$2 vifs=$3
	shift 3

	cat <<-END
	name = "$name"
	type = "pv"
	memory = ${GUEST_MEMORY:-192}
	kernel = "$KERNEL"
	ramdisk = "/run/${GUEST_IMAGE:-guest}.cpio"
	extra = "console=hvc0 quiet panic=-1 mitigations=off net.ifnames=0 ${ip:+ip4=$ip} ${GUEST_EXTRA:-}"
	vif = [ $vifs ]
	on_poweroff = "destroy"
	on_crash = "destroy"
	END
	[ $# = 0 ] || printf '%s\n' "$@"
}

# guest_create NAME IP/LEN|"" VIFS [LINE...]: returns when xl does; see guest_ready.
guest_create()
{
	rm -f "$CONSOLES/guest-$1.log"
	guest_config "$@" >"/run/$1.cfg"
	timeout 90 xl create "/run/$1.cfg"
}

guest_domid()
{
	xl domid "$1" 2>/dev/null
}

guest_has_started()
{
	grep -qa 'guest ready' "$CONSOLES/guest-$1.log"
}

# guest_ready NAME [IP]: it takes commands, and answers a ping if it has an address.
guest_ready()
{
	wait_for 90 guest_has_started "$1" || return 1
	[ -z "${2:-}" ] || pings "$2" 20
}

guest_gone()
{
	! guest_domid "$1"
}

guest_destroy()
{
	xl destroy "$1" && wait_for 10 guest_gone "$1"
}

# guest_run NAME COMMAND [SECONDS]: on the guest's console; prints what the command prints there,
# returns its status, or 124.
guest_run()
{
	local name=$1 command=${2//[$'\n\t']/ } log=$CONSOLES/guest-$1.log number tty
	number=$(now_msec)
	tty=$(xenstore-read "/local/domain/$(guest_domid "$name")/console/tty") || return 1

	printf '%s %s\n' "$number" "$command" >"$tty"
	if ! wait_for "${3:-30}" grep -qa "^$number= " "$log"; then
		echo "no answer of guest $name to: $command"
		return 124
	fi
	tr -d '\r' <"$log" | sed -n "s/^$number> //p"
	return "$(tr -d '\r' <"$log" | sed -n "s/^$number= \([0-9]*\).*/\1/p")"
}

# ---- vifs in the store ----

backend_path()
{
	echo "/local/domain/${3:-0}/backend/vif/$1/$2"
}

# vif_state DOMID HANDLE [BACKEND_DOMID]
vif_state()
{
	xenstore-read "$(backend_path "$@")/state" 2>/dev/null
}

vif_is()
{
	[ "$(vif_state "$1" "$2")" = "$3" ]
}

# vif_connected NAME HANDLE
vif_connected()
{
	wait_for 20 vif_is "$(guest_domid "$1")" "$2" 4
}

vif_name()
{
	echo "vif$(guest_domid "$1").$2"
}

has_vif()
{
	[ -e "/sys/class/net/$1" ]
}

# ---- traffic ----

# pings IP [SECONDS]: it answers within that time.
pings()
{
	wait_for "${2:-10}" ping -c 1 -W 1 "$1"
}

# ping_all IP: twenty, and none is lost.
ping_all()
{
	ping -q -c 20 -i 0.05 -W 2 "$1" | tee /dev/stderr | grep -q ' 0% packet loss'
}

# iperf_mbps IP [OPTION...]: three seconds of TCP to the guest; -R: from it.
iperf_mbps()
{
	local ip=$1
	shift

	timeout 40 iperf3 -c "$ip" -t "${IPERF_SECONDS:-3}" --json "$@" >/run/iperf.json || return 1
	jq -r '.end.sum_received.bits_per_second / 1e6 | round' /run/iperf.json
}

# ping_percentiles IP COUNT: "p50 p99" in milliseconds.
ping_percentiles()
{
	ping -c "$2" -i 0.02 -W 2 "$1" | sed -n 's/.*time=\([0-9.]*\) ms.*/\1/p' | sort -n |
		awk '{t[NR] = $1} END {print t[int((NR + 1) / 2)], t[int(NR * 0.99 + 0.999)]}'
}

# The longest time between two answers of a ping started with -D, in milliseconds.
longest_gap_msec()
{
	sed -n 's/^\[\([0-9.]*\)\] .*time=.*/\1/p' "$1" |
		awk 'NR > 1 && $1 - last > gap {gap = $1 - last} {last = $1} END {printf "%d", gap * 1000}'
}

dom0_cpu_seconds()
{
	xl list 0 | awk 'NR == 2 {print $6}'
}
