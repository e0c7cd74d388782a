/* SPDX-License-Identifier: MIT */
/*
 * load_frame.h: the frames that load generators on both sides send. Each carries a sequence number
 * and a payload that follows from it, so that a receiver proves every byte without having been told
 * anything. Pure functions on a caller's buffer.
 *
 *   0..11   addresses: the caller's business
 *  12..13   ethertype 0x88b5 (IEEE 802 local experimental)
 *  14..21   sequence number, big endian
 *  22..     payload: 64-bit words derived from sequence number and position
 */
#ifndef COMMON_LOAD_FRAME_H
#define COMMON_LOAD_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOAD_FRAME_ETHERTYPE 0x88b5
#define LOAD_FRAME_MIN_BYTES 22

/**
 * load_frame_fill() - write ethertype, sequence number and payload of frame number @seq
 * @frame: @len bytes, at least LOAD_FRAME_MIN_BYTES; the 12 bytes of addresses are left alone
 */
void load_frame_fill(void *frame, size_t len, uint64_t seq);

/** load_frame_check() - is every byte from the ethertype on what load_frame_fill() wrote? */
bool load_frame_check(const void *frame, size_t len);

/** load_frame_seq() - the sequence number of a frame of at least LOAD_FRAME_MIN_BYTES. */
uint64_t load_frame_seq(const void *frame);

#endif
