# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# bad-input.sh: hosts on which netbackd cannot run. One line that names the cause and the cure, and a
# status other than 0.

# complains PATTERN COMMAND...: one line on stderr, which matches; the command fails.
complains()
{
	local pattern=$1
	shift

	not timeout 10 "$@" 2>/run/complaint
	cat /run/complaint
	equal "lines of complaint" 1 "$(wc -l </run/complaint)"
	grep -qE -- "$pattern" /run/complaint
}

NETBACKD="$XEN_BUILD/netback/netbackd --foreground --ctl-socket /run/bad.sock"

# without PATH PATTERN: netbackd where PATH is an empty directory.
without()
{
	complains "$2" unshare -m sh -c "mount -t tmpfs tmpfs $1 && exec $NETBACKD"
}

no_xenstored()
{
	complains 'xenstored' unshare -m sh -c "mount -t tmpfs tmpfs /run/xenstored &&
		mount --bind /dev/null /dev/xen/xenbus && exec $NETBACKD"
}

no_permission()
{
	complains 'root|access' setpriv --reuid 65534 --clear-groups \
		"$XEN_BUILD/netback/netbackd" --foreground --ctl-socket /tmp/bad.sock
}

kernel_netback_is_loaded()
{
	load xen-netback
	complains 'modprobe -r xen-netback' sh -c "exec $NETBACKD"
	rmmod xen_netback
}

second_netbackd()
{
	complains 'another netbackd' "$XEN_BUILD/netback/netbackd" --foreground \
		--ctl-socket "$CTL_SOCKET"
}

bad_input_cases()
{
	it "no /dev/xen: one line says what to load" without /dev/xen 'xen-gntdev|xenstored'
	it "no xenstored: one line says so" no_xenstored
	it "no tun device: one line says what to load" without /dev/net 'modprobe tun'
	it "no permission: one line says so" no_permission
	it "the kernel's xen-netback is loaded: refused, with how to hand over" kernel_netback_is_loaded
}
