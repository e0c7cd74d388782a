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

/*
 * The contents of a load frame: Ethernet header with the local experimental EtherType, the sequence
 * number (big endian), then a pattern that depends on the sequence number and the position only.
 */
#define LOAD_ETHERTYPE	 0x88b5u
#define LOAD_SEQ_OFFSET	 14u
#define LOAD_DATA_OFFSET 22u

/** load_write() - write the frame @seq into @nr pieces that hold it exactly. */
void load_write(const struct iovec *iov, unsigned nr, const uint8_t dst[NETFRONT_MAC_BYTES],
		const uint8_t src[NETFRONT_MAC_BYTES], uint64_t seq);

enum load_verdict {
	LOAD_FOREIGN, /* not a load frame */
	LOAD_GOOD,
	LOAD_BAD,
};

/** load_check() - is @frame what load_write() made; *@seq is set unless LOAD_FOREIGN. */
enum load_verdict load_check(const struct netfront_frame *frame, uint64_t *seq);

#endif
