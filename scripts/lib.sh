# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2034 # variables are for whoever sources this
#
# lib.sh: what scripts/demo and scripts/check share: messages, Debian packages, a build. Sourced by
# bash; sets TOP to the top of the source tree. Nothing here starts a machine (see machine.sh).

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PATH=$PATH:/usr/sbin:/sbin
export PATH

BUILD_PACKAGES=(gcc make autoconf autoconf-archive automake libtool pkg-config libxen-dev
	libevent-dev libjansson-dev uthash-dev check)
RUN_PACKAGES=(iproute2 iputils-ping iperf3 jq util-linux procps xenstore-utils)

# die [STATUS] TEXT: one line on stderr, and the end. 1 unless a status is given.
die()
{
	local status=1

	case $1 in
	[0-9]) status=$1 && shift ;;
	esac
	clear_progress
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit "$status"
}

# progress TEXT: what is being done. On a terminal each line replaces the one before.
progress()
{
	if [ -t 2 ]; then
		printf '\r\033[K%s' "$*" >&2
	else
		printf '%s\n' "$*" >&2
	fi
}

clear_progress()
{
	[ ! -t 2 ] || printf '\r\033[K' >&2
}

# missing_packages NAME...: those that are not installed. On a system without dpkg nobody knows:
# configure will say what it does not find.
missing_packages()
{
	local name

	command -v dpkg-query >/dev/null || return 0
	for name in "$@"; do
		# shellcheck disable=SC2016 # the dollar is dpkg's
		dpkg-query -W -f='${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed ||
			echo "$name"
	done
}

# install_packages NAME...: 0 once all are there; 1 and a line that says what to do.
install_packages()
{
	local missing

	mapfile -t missing < <(missing_packages "$@")
	[ ${#missing[@]} -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		clear_progress
		printf '%s: missing packages; as root: apt-get install %s\n' "${0##*/}" \
			"${missing[*]}" >&2
		return 1
	fi
	progress "installing ${missing[*]}"
	# Twice: a fresh machine may have no package lists yet, and a new list is slow to fetch.
	if ! apt_install "${missing[@]}" && ! { apt-get -qq update && apt_install "${missing[@]}"; } \
		>/dev/null 2>&1; then
		clear_progress
		printf '%s: apt-get install %s failed; try it by hand\n' "${0##*/}" "${missing[*]}" >&2
		return 1
	fi
}

apt_install()
{
	DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@" \
		</dev/null >/dev/null 2>&1
}

# build_tree DIR LOG [CONFIGURE_ARG...]: configure and build the source tree in DIR. Run again, it
# builds what has changed. 1 if that fails; the reason is at the end of LOG.
build_tree()
{
	local dir=$1 log=$2
	shift 2

	{
		if [ ! -x "$TOP/configure" ] || [ "$TOP/configure.ac" -nt "$TOP/configure" ]; then
			(cd "$TOP" && autoreconf -fi) || return 1
		fi
		mkdir -p "$dir" || return 1
		if [ ! -f "$dir/config.status" ]; then
			(cd "$dir" && "$TOP/configure" -q "$@") || return 1
		fi
		make -C "$dir" -j"$(nproc)"
	} >>"$log" 2>&1
}
