/* SPDX-License-Identifier: MIT */
/* side.h: the host sides there are: the guest's own network stack (tap), and load. */
#ifndef NETFRONT_SIDE_H
#define NETFRONT_SIDE_H

#include "netfront/netfront.h"

/**
 * side_tap_new() - create or attach to the tap @name
 * @up: bring it up when the vif has its address
 *
 * Logs what is missing. Return: 0 with *@side set, or -errno.
 */
int side_tap_new(const char *name, bool up, struct netfront_side **side);

struct side_load_params {
	bool source, sink, echo;
	size_t size_bytes;  /* of a frame, header included */
	uint64_t nr_frames; /* then leave; 0: no end */
	uint64_t rate_pps;  /* 0: as fast as the ring takes them */
	uint8_t dst[NETFRONT_MAC_BYTES];
};

/** side_load_new() - source, sink, both, or echo. Return: 0 with *@side set, or -errno. */
int side_load_new(const struct side_load_params *params, struct netfront_side **side);

#endif
