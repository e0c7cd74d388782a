# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# images.sh: what the Xen host boots from, made on the build machine: packages unpacked into the
# cache, dom0's first initramfs, the guests' kernel and initramfs. Sourced by run; needs $cache,
# $here, $build and skip().

# Unpacked into the cache, never installed. Kernel and hypervisor are what the host is; the others
# are for single cases, which say themselves that they cannot run.
EXTRA_PACKAGES=(net-tools openvswitch-switch openvswitch-common libunbound8 libxdp1 libbpf1 libelf1
	libnuma1)

# unpack PACKAGE DIR: once.
unpack()
{
	local package=$1 dir=$2

	[ ! -e "$cache/have.$package" ] || return 0
	(cd "$cache" && apt-get download "$package") >"$cache/download.log" 2>&1 &&
		dpkg -x "$cache/${package}"_*.deb "$dir" >>"$cache/download.log" 2>&1 &&
		touch "$cache/have.$package"
}

need()
{
	unpack "$1" "$cache/root" ||
		skip "cannot get the Debian package $1: $(tail -n 1 "$cache/download.log")"
}

# Debian's kernels are packed with xz; where the packed part is stands in the header
# (Documentation/x86/boot.rst: setup_sects, payload_offset, payload_length). An emulated CPU takes
# ten seconds and more for it, a guest: so dom0 gets it packed with gzip, and unpacks it once.
unpack_kernel()
{
	local image=$1 out=$2 sects offset length

	sects=$(od -An -tu1 -j $((0x1f1)) -N1 "$image")
	offset=$(od -An -tu4 -j $((0x248)) -N4 "$image")
	length=$(od -An -tu4 -j $((0x24c)) -N4 "$image")
	tail -c +$(((sects + 1) * 512 + offset + 1)) "$image" | head -c "$length" |
		xz -dc --single-stream 2>/dev/null | gzip -1 >"$out.new"
	if [ "$(gunzip -c "$out.new" | head -c 4 | tail -c 3)" = ELF ]; then
		mv "$out.new" "$out"
	else
		gzip -1 <"$image" >"$out" # slower in the guest, and just as good
	fi
}

prepare_packages()
{
	local kernel package tool

	command -v qemu-system-x86_64 >/dev/null ||
		skip "qemu-system-x86_64 is missing (Debian: qemu-system-x86)"
	for tool in cpio gzip depmod xz dpkg apt-get; do
		command -v "$tool" >/dev/null || skip "$tool is missing (Debian: cpio gzip kmod xz-utils)"
	done
	[ -x /bin/busybox ] && ! ldd /bin/busybox >/dev/null 2>&1 ||
		skip "a static busybox is missing (Debian: busybox-static)"
	[ -x /usr/lib/xen-4.17/bin/xl ] || skip "Xen's tools are missing (Debian: xen-utils-4.17)"
	mkdir -p "$cache/root" "$cache/extra" || skip "cannot make $cache"
	kernel=$(apt-cache depends linux-image-amd64 2>/dev/null |
		awk '/Depends: linux-image/ {print $2; exit}')
	[ -n "$kernel" ] || skip "apt knows no linux-image-amd64 (run apt-get update)"
	need "$kernel"
	need xen-hypervisor-4.17-amd64
	for package in "${EXTRA_PACKAGES[@]}"; do
		unpack "$package" "$cache/extra"
	done
	version=${kernel#linux-image-}
	[ -e "$cache/root/lib/modules/$version/modules.dep" ] || depmod -b "$cache/root" "$version"
	[ -e "$cache/xen.elf" ] || gunzip -c "$cache/root/boot/xen-4.17-amd64.gz" >"$cache/xen.elf"
	[ -e "$cache/vmlinux-$version.gz" ] ||
		unpack_kernel "$cache/root/boot/vmlinuz-$version" "$cache/vmlinux-$version.gz"
}

# copy_modules DIR MODULE...: with what they need, numbered in the order to insert them.
copy_modules()
{
	local dir=$1 file n=0
	shift

	mkdir -p "$dir"
	for file in $(modprobe -d "$cache/root" -S "$version" -a --show-depends "$@" |
		awk '$1 == "insmod" && !seen[$2]++ {print $2}'); do
		n=$((n + 1))
		cp "$file" "$dir/$(printf '%02d' $n)-${file##*/}"
	done
}

# copy_programs DIR PROGRAM...: with their libraries, to where they are here.
copy_programs()
{
	local dir=$1 program lib
	shift

	for program in "$@"; do
		program=$(PATH=/usr/lib/xen-4.17/bin:$PATH command -v "$program") || return 1
		install -D "$program" "$dir/usr/bin/${program##*/}"
		for lib in $(ldd "$program" 2>/dev/null | grep -o '/[^ ]*'); do
			[ -e "$dir$lib" ] || install -D "$lib" "$dir$lib"
		done
	done
}

start_image()
{
	local dir=$1

	mkdir -p "$dir"/{bin,sbin,proc,sys,dev,modules,tmp,run,etc,root,var/lock,var/log/xen}
	cp /bin/busybox "$dir/bin/"
}

pack_image()
{
	(cd "$1" && find . | cpio -o -H newc --quiet) >"$2.new" && mv "$2.new" "$2"
	rm -rf "$1"
}

make_dom0_image()
{
	local dir

	dir=$(mktemp -d "$cache/dom0.XXXXXX")
	start_image "$dir"
	mkdir -p "$dir"/{ro,rw,new}
	copy_modules "$dir/modules" virtio_pci 9pnet_virtio 9p overlay
	install "$here/dom0-init" "$dir/init"
	pack_image "$dir" "$1"
}

# An ordinary guest: Linux's own netfront, and netfront and the conformance suite of this tree.
make_guest_image()
{
	local dir

	dir=$(mktemp -d "$cache/guest.XXXXXX")
	start_image "$dir"
	copy_programs "$dir" iperf3 ethtool || skip "iperf3 or ethtool is missing"
	[ -z "$build" ] || copy_programs "$dir" "$build/netback/netbackd" "$build/netfront/netfront" \
		"$build/test/conform/conform" || skip "$build has no netbackd, netfront, conform"
	copy_modules "$dir/modules" xen-netfront xen-gntalloc xen-gntdev xen-evtchn xenfs tun
	install "$here/guest-init" "$dir/init"
	pack_image "$dir" "$1"
}

# A driver domain: a guest with xl devd, the hotplug scripts and all they call.
make_driver_image()
{
	local dir

	dir=$(mktemp -d "$cache/driver.XXXXXX")
	start_image "$dir"
	copy_programs "$dir" bash ip brctl xl xenstore-read xenstore-write xenstore-ls \
		xenstore-exists xenstore-rm xenstore-list logger flock ping ||
		skip "a program for the driver domain is missing (Debian: bridge-utils, xen-utils-4.17)"
	copy_programs "$dir" "$build/netback/netbackd" "$build/netback/netbackctl"
	cp -r /etc/xen "$dir/etc/"
	ln -s /usr/bin/bash "$dir/bin/bash"
	copy_modules "$dir/modules" xen-netfront xen-gntdev xen-evtchn xen-privcmd xenfs tun bridge
	install "$here/guest-init" "$dir/init"
	pack_image "$dir" "$1"
}
