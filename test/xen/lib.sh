# SPDX-License-Identifier: MIT
# lib.sh: what jobs in dom0 share. Source it from a job; needs XEN_CACHE, XEN_VERSION, XEN_HERE.
guest_kernel=$XEN_CACHE/root/boot/vmlinuz-$XEN_VERSION
guest_initrd=/run/guest.gz

copy_with_libs() { # DIR PROGRAM...
  local dir=$1 program lib
  shift
  for program in "$@"; do
    program=$(command -v "$program") || return 1
    install -D "$program" "$dir/usr/bin/$(basename "$program")"
    for lib in $(ldd "$program" | grep -o '/[^ ]*'); do
      install -D "$lib" "$dir$lib"
    done
  done
}

make_guest_initrd() { # [PROGRAM...]: further programs to have in the guest
  local dir n=0 file
  dir=$(mktemp -d /run/guest.XXXXXX)
  mkdir -p "$dir"/{bin,proc,sys,dev,modules,tmp}
  cp /bin/busybox "$dir/bin/"
  chroot "$dir" /bin/busybox --install -s /bin
  copy_with_libs "$dir" iperf3 ethtool "$@" || return 1
  for file in $(modprobe -d "$XEN_CACHE/root" -S "$XEN_VERSION" -a --show-depends xen-netfront \
    xen-gntalloc xen-evtchn xenfs tun | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'); do
    n=$((n + 1))
    cp "$file" "$dir/modules/$(printf '%02d' $n)-$(basename "$file")"
  done
  cp "$XEN_HERE/guest-init" "$dir/init"
  chmod +x "$dir/init"
  (cd "$dir" && find . | cpio -o -H newc --quiet | gzip -1) >"$guest_initrd"
  rm -rf "$dir"
}

guest_create() { # NAME IP/LEN VIF [VCPUS]
  cat >"/run/$1.cfg" <<END
name = "$1"
type = "pv"
memory = 256
vcpus = ${4:-1}
kernel = "$guest_kernel"
ramdisk = "$guest_initrd"
extra = "console=hvc0 quiet panic=-1 net.ifnames=0 ip4=$2"
vif = [ "$3" ]
on_poweroff = "destroy"
on_crash = "destroy"
END
  xl create "/run/$1.cfg"
}

guest_run() { # IP COMMAND: run in the guest, print what it prints (no exit status)
  printf '%s; exit\n' "$2" | timeout "${3:-30}" busybox nc "$1" 7000
}

wait_ping() { # IP SECONDS
  local i
  for i in $(seq $(($2 * 5))); do
    ping -c 1 -W 1 "$1" >/dev/null 2>&1 && return 0
    sleep 0.2
  done
  return 1
}

bridge_up() { # NAME IP/LEN
  ip link add "$1" type bridge && ip addr add "$2" dev "$1" && ip link set "$1" up
}
