/* SPDX-License-Identifier: MIT */
/* xsd_wire.c: see xsd_wire.h. Pure. */
#include <errno.h> /* before xs_wire.h, which has its table of errors only then */

#include "xenstore/xsd_wire.h"

#include <string.h>

#include "common/compiler.h"

BUILD_ASSERT(sizeof(struct xsd_sockmsg) == 16);

static void split_args(struct xsd_request *req)
{
	const char *at = req->payload;
	const char *end = at + req->head.len;
	const char *nul;

	req->nr_args = 0;
	while (at < end && (nul = memchr(at, '\0', (size_t)(end - at)))) {
		if (req->nr_args < XSD_ARGS)
			req->arg[req->nr_args] = at;
		req->nr_args++;
		at = nul + 1;
	}
	req->args_len = (size_t)(at - req->payload);
}

ssize_t xsd_wire_parse(const char *bytes, size_t len, struct xsd_request *req)
{
	if (len < sizeof(req->head))
		return 0;
	memcpy(&req->head, bytes, sizeof(req->head));
	if (req->head.len > XENSTORE_PAYLOAD_MAX)
		return -EPROTO;
	if (len - sizeof(req->head) < req->head.len)
		return 0;
	req->payload = bytes + sizeof(req->head);
	split_args(req);
	return (ssize_t)(sizeof(req->head) + req->head.len);
}

const char *xsd_wire_error(int err)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(xsd_errors); i++)
		if (xsd_errors[i].errnum == -err)
			return xsd_errors[i].errstring;
	return "EINVAL";
}

int xsd_wire_number(const char *text, unsigned max, unsigned *number)
{
	unsigned long long n = 0;
	const char *p;

	for (p = text; *p >= '0' && *p <= '9' && n <= max; p++)
		n = n * 10 + (unsigned)(*p - '0');
	if (p == text || *p || n > max)
		return -EINVAL;
	*number = (unsigned)n;
	return 0;
}
