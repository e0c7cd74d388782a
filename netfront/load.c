/* SPDX-License-Identifier: MIT */
/*
 * load.c: the contents of load frames. Pure: reads and writes the pieces it is given. Received pieces are
 * shared with the backend, so each byte is read once.
 */
#include "netfront/side.h"

#include <endian.h>
#include <string.h>

#define WORD_BYTES 8u

/* Word number @word of frame @seq: the pattern starts over at each multiple of 8 of the frame. */
static uint64_t pattern(uint64_t seq, size_t word)
{
	return htole64((seq + word + 1) * 0x9e3779b97f4a7c15u);
}

/* Calls for each stretch [pos, pos + len) of one piece that holds pattern. */
static void write_piece(uint8_t *dst, size_t pos, size_t len, uint64_t seq)
{
	while (len) {
		uint64_t word = pattern(seq, pos / WORD_BYTES);
		size_t skip = pos % WORD_BYTES;
		size_t take = MIN(WORD_BYTES - skip, len);

		memcpy(dst, (const uint8_t *)&word + skip, take);
		dst += take;
		pos += take;
		len -= take;
	}
}

static bool check_piece(const uint8_t *src, size_t pos, size_t len, uint64_t seq)
{
	uint64_t bad = 0;

	while (len) {
		uint64_t want = pattern(seq, pos / WORD_BYTES);
		size_t skip = pos % WORD_BYTES;
		size_t take = MIN(WORD_BYTES - skip, len);

		if (take == WORD_BYTES) {
			uint64_t have;

			memcpy(&have, src, WORD_BYTES);
			bad |= have ^ want;
		} else {
			bad |= (uint64_t)memcmp(src, (const uint8_t *)&want + skip, take);
		}
		src += take;
		pos += take;
		len -= take;
	}
	return !bad;
}

static void put_header(uint8_t head[LOAD_DATA_OFFSET], const uint8_t dst[NETFRONT_MAC_BYTES],
		       const uint8_t src[NETFRONT_MAC_BYTES], uint64_t seq)
{
	uint64_t be_seq = htobe64(seq);

	memcpy(head, dst, NETFRONT_MAC_BYTES);
	memcpy(head + NETFRONT_MAC_BYTES, src, NETFRONT_MAC_BYTES);
	head[12] = LOAD_ETHERTYPE >> 8;
	head[13] = LOAD_ETHERTYPE & 0xff;
	memcpy(head + LOAD_SEQ_OFFSET, &be_seq, sizeof(be_seq));
}

void load_write(const struct iovec *iov, unsigned nr, const uint8_t dst[NETFRONT_MAC_BYTES],
		const uint8_t src[NETFRONT_MAC_BYTES], uint64_t seq)
{
	uint8_t head[LOAD_DATA_OFFSET];
	size_t pos = 0;

	put_header(head, dst, src, seq);
	for (unsigned i = 0; i < nr; i++) {
		uint8_t *piece = iov[i].iov_base;
		size_t len = iov[i].iov_len;
		size_t from_head = pos < LOAD_DATA_OFFSET ? MIN(LOAD_DATA_OFFSET - pos, len) : 0;

		memcpy(piece, head + (from_head ? pos : 0), from_head);
		write_piece(piece + from_head, pos + from_head, len - from_head, seq);
		pos += len;
	}
}

/* Return: false if the frame is too short. A backend may cut it into pieces anywhere. */
static bool get_header(const struct netfront_frame *frame, uint8_t head[LOAD_DATA_OFFSET])
{
	size_t have = 0;

	for (unsigned i = 0; i < frame->nr_iov && have < LOAD_DATA_OFFSET; i++) {
		size_t take = MIN(frame->iov[i].iov_len, LOAD_DATA_OFFSET - have);

		memcpy(head + have, frame->iov[i].iov_base, take);
		have += take;
	}
	return have == LOAD_DATA_OFFSET;
}

enum load_verdict load_check(const struct netfront_frame *frame, uint64_t *seq)
{
	uint8_t head[LOAD_DATA_OFFSET];
	size_t pos = 0;
	bool good = true;

	if (!get_header(frame, head) || (unsigned)head[12] << 8 != (LOAD_ETHERTYPE & 0xff00) ||
	    head[13] != (LOAD_ETHERTYPE & 0xff))
		return LOAD_FOREIGN;
	memcpy(seq, head + LOAD_SEQ_OFFSET, sizeof(*seq));
	*seq = be64toh(*seq);
	for (unsigned i = 0; i < frame->nr_iov; i++) {
		size_t len = frame->iov[i].iov_len;
		size_t skip = pos < LOAD_DATA_OFFSET ? MIN(LOAD_DATA_OFFSET - pos, len) : 0;

		good &= check_piece((const uint8_t *)frame->iov[i].iov_base + skip, pos + skip,
				    len - skip, *seq);
		pos += len;
	}
	return good ? LOAD_GOOD : LOAD_BAD;
}
