# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# save.sh: a guest leaves its domain and comes back in another, or does not leave after all.

IMAGE=/run/g1.save

saved_and_restored_under_load()
{
	local before

	before=$(guest_domid g1)
	timeout 60 iperf3 -c 10.77.0.2 -t 40 >/dev/null 2>&1 &
	guest_run g1 'ping -i 0.2 10.77.0.1 >/tmp/ping 2>&1 & true'
	sleep 1
	timeout 60 xl save g1 $IMAGE
	wait_for 10 guest_gone g1
	not has_vif "vif$before.0"
	not xenstore-exists "$(backend_path "$before" 0)"
	timeout 60 xl restore $IMAGE
	rm $IMAGE
	vif_connected g1 0
	pings 10.77.0.2 20
	ping_all 10.77.0.2
	guest_run g1 'killall ping; true'
	leaves_something
}

# A checkpoint: the guest stops, is copied, and goes on in the same domain as if nothing had been.
checkpointed()
{
	local before

	before=$(guest_domid g1)
	timeout 60 xl save -c g1 $IMAGE
	rm $IMAGE
	equal "domain" "$before" "$(guest_domid g1)"
	pings 10.77.0.2 10
	ping_all 10.77.0.2
}

save_cases()
{
	it "xl save -c: the guest goes on in its domain" checkpointed
	it "xl save and xl restore under load" saved_and_restored_under_load
}
