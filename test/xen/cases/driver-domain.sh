# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# driver-domain.sh: netbackd in an unprivileged domain beside xl devd, for the vif of another guest.

driver_domain_starts()
{
	GUEST_MEMORY=320 GUEST_IMAGE=driver guest_create driver "" "" 'driver_domain = 1'
	guest_ready driver
	guest_run driver 'mkdir -p /run/xen /run/netbackd /var/lib/xen /var/run; ln -s /run/xen /var/run/xen;
		ip link add xenbr0 type bridge; ip addr add 10.77.5.1/24 dev xenbr0; ip link set xenbr0 up'
	guest_run driver 'netbackd --log-file /tmp/netbackd.log --log-level debug'
	guest_run driver 'xl devd && sleep 1; pidof xl'
	leaves_something
}

guest_of_driver_domain()
{
	guest_create g5 "" "'backend=driver,bridge=xenbr0'" || {
		guest_run driver 'cat /tmp/netbackd.log; tail -20 /var/log/xen/*'
		fail "xl create"
	}
	guest_ready g5
	leaves_something
}

driver_domain_passes_traffic()
{
	local domid driver

	domid=$(guest_domid g5)
	driver=$(guest_domid driver)
	equal "state of the vif" 4 "$(vif_state "$domid" 0 "$driver")"
	guest_run g5 'ip addr add 10.77.5.2/24 dev eth0; ip link set eth0 up;
		for i in 1 2 3 4 5 6 7 8 9; do ping -c 1 -W 1 10.77.5.1 && break; done'
	guest_run g5 'ping -q -c 20 -W 2 10.77.5.1' 40 | grep ' 0% packet loss'
	guest_run driver 'ping -q -c 10 -W 2 10.77.5.2' 40 | grep ' 0% packet loss'
}

guest_of_driver_domain_is_destroyed()
{
	local domid driver

	domid=$(guest_domid g5)
	driver=$(guest_domid driver)
	in_time xl destroy g5
	wait_for 10 guest_gone g5
	not guest_run driver "ls -d /sys/class/net/vif$domid.0"
	not xenstore-exists "$(backend_path "$domid" 0 "$driver")"
	leaves_something
}

driver_domain_cases()
{
	it "a driver domain runs netbackd and xl devd" driver_domain_starts
	it "backend=driver: a guest is served by the driver domain" guest_of_driver_domain
	it "backend=driver: packets pass" driver_domain_passes_traffic
	it "backend=driver: destroy leaves nothing in the driver domain" \
		guest_of_driver_domain_is_destroyed
	it "the driver domain is destroyed" guest_is_destroyed driver
}
