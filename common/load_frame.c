/* SPDX-License-Identifier: MIT */
/* load_frame.c: the pattern. Cheap enough not to be what a load test measures. */
#include "common/load_frame.h"

#include <endian.h>
#include <string.h>

#define ETHERTYPE_OFFSET 12
#define SEQ_OFFSET	 14
#define WORD_STEP	 0x9e3779b97f4a7c15ULL /* odd, so words differ for 2^64 steps */

/* Neighbouring sequence numbers must not give payloads that are shifted copies of each other. */
static uint64_t first_word(uint64_t seq)
{
	seq ^= seq >> 33;
	seq *= 0xff51afd7ed558ccdULL;
	return seq ^ seq >> 29;
}

void load_frame_fill(void *frame, size_t len, uint64_t seq)
{
	uint16_t ethertype = htobe16(LOAD_FRAME_ETHERTYPE);
	uint64_t wire_seq = htobe64(seq);
	uint64_t word = first_word(seq);
	uint8_t *bytes = frame;
	size_t at = LOAD_FRAME_MIN_BYTES;

	memcpy(bytes + ETHERTYPE_OFFSET, &ethertype, sizeof(ethertype));
	memcpy(bytes + SEQ_OFFSET, &wire_seq, sizeof(wire_seq));
	for (; at + sizeof(word) <= len; at += sizeof(word), word += WORD_STEP) {
		uint64_t le = htole64(word);

		memcpy(bytes + at, &le, sizeof(le));
	}
	word = htole64(word);
	memcpy(bytes + at, &word, len - at);
}

bool load_frame_check(const void *frame, size_t len)
{
	const uint8_t *bytes = frame;
	size_t at = LOAD_FRAME_MIN_BYTES;
	uint16_t ethertype;
	uint64_t word, diff = 0;

	if (len < LOAD_FRAME_MIN_BYTES)
		return false;
	memcpy(&ethertype, bytes + ETHERTYPE_OFFSET, sizeof(ethertype));
	if (ethertype != htobe16(LOAD_FRAME_ETHERTYPE))
		return false;
	word = first_word(load_frame_seq(frame));
	for (; at + sizeof(word) <= len; at += sizeof(word), word += WORD_STEP) {
		uint64_t le;

		memcpy(&le, bytes + at, sizeof(le));
		diff |= le ^ htole64(word);
	}
	word = htole64(word);
	return !diff && !memcmp(bytes + at, &word, len - at);
}

uint64_t load_frame_seq(const void *frame)
{
	uint64_t wire_seq;

	memcpy(&wire_seq, (const uint8_t *)frame + SEQ_OFFSET, sizeof(wire_seq));
	return be64toh(wire_seq);
}
