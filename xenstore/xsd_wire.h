/* SPDX-License-Identifier: MIT */
/*
 * xsd_wire.h: the bytes of xen/io/xs_wire.h: bytes in, requests out. Pure, and fed by hostile
 * clients.
 */
#ifndef XENSTORE_XSD_WIRE_H
#define XENSTORE_XSD_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <xen/io/xs_wire.h>

#define XSD_FRAME_BYTES (sizeof(struct xsd_sockmsg) + XENSTORE_PAYLOAD_MAX)

/* Arguments pointed at; requests with more (SET_PERMS, CONTROL) walk the rest. */
#define XSD_ARGS 3

struct xsd_request {
	struct xsd_sockmsg head;
	const char *payload;
	/* The strings in the payload that have an end: how many, and the first of them. */
	unsigned nr_args;
	const char *arg[XSD_ARGS];
	size_t args_len; /* their bytes; what is left up to head.len has no end */
};

/**
 * xsd_wire_parse() - take the first frame of @bytes apart
 * @req: points into @bytes
 *
 * Return: bytes the frame has, when it is complete; 0: more are needed; -EPROTO: its length is over
 * the limit, and where the next frame begins is not known.
 */
ssize_t xsd_wire_parse(const char *bytes, size_t len, struct xsd_request *req);

/** xsd_wire_error() - the protocol's name for an error: 0 or -errno; unknown ones are "EINVAL". */
const char *xsd_wire_error(int err);

/** xsd_wire_number() - strict decimal up to @max. Return: 0 or -EINVAL. */
int xsd_wire_number(const char *text, unsigned max, unsigned *number);

#endif
