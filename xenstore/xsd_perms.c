/* SPDX-License-Identifier: MIT */
/* xsd_perms.c: see xsd_perms.h. Pure. */
#include "xenstore/xsd_perms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"

/* The letter of an access is its place. */
static const char letters[] = "nrwb";

static bool is_cred(const struct xsd_perm *perm, const struct xsd_cred *cred)
{
	return perm->domid == cred->domid ||
	       (cred->target != XSD_NO_TARGET && perm->domid == (unsigned)cred->target);
}

unsigned xsd_perms_of(const struct xsd_perms *perms, const struct xsd_cred *cred)
{
	unsigned i;

	if (xsd_cred_privileged(cred) || is_cred(&perms->list[0], cred))
		return XSD_READ | XSD_WRITE | XSD_OWNER;
	for (i = 1; i < perms->nr; i++)
		if (!perms->list[i].ignored && is_cred(&perms->list[i], cred))
			return perms->list[i].access;
	return perms->list[0].access;
}

int xsd_perms_copy(struct xsd_perms *dst, const struct xsd_perms *src)
{
	dst->list = malloc(src->nr * sizeof(*src->list));
	if (!dst->list)
		return -ENOMEM;
	memcpy(dst->list, src->list, src->nr * sizeof(*src->list));
	dst->nr = src->nr;
	return 0;
}

void xsd_perms_free(struct xsd_perms *perms)
{
	free(perms->list);
	perms->list = NULL;
	perms->nr = 0;
}

static int parse_one(struct xsd_perm *perm, const char *text)
{
	const char *letter = *text ? strchr(letters, *text) : NULL;
	size_t digits = letter ? strspn(text + 1, "0123456789") : 0;
	unsigned long domid;

	if (digits == 0 || digits > 5 || text[1 + digits] != '\0')
		return -EINVAL;
	domid = strtoul(text + 1, NULL, 10);
	if (domid > UINT16_MAX)
		return -EINVAL;
	perm->domid = (uint16_t)domid;
	perm->access = (uint8_t)(letter - letters);
	return 0;
}

int xsd_perms_parse(struct xsd_perms *perms, const char *strings, unsigned nr)
{
	unsigned i;
	int ret;

	perms->nr = nr;
	perms->list = calloc(nr, sizeof(*perms->list));
	if (!perms->list)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		ret = parse_one(&perms->list[i], strings);
		if (ret) {
			xsd_perms_free(perms);
			return ret;
		}
		strings += strlen(strings) + 1;
	}
	return 0;
}

unsigned xsd_perm_format(char text[XSD_PERM_BYTES], const struct xsd_perm *perm)
{
	BUILD_ASSERT((XSD_READ | XSD_WRITE) < sizeof(letters) - 1);
	return (unsigned)snprintf(text, XSD_PERM_BYTES, "%c%u", letters[perm->access], perm->domid);
}

void xsd_perms_forget(struct xsd_perms *perms, unsigned domid)
{
	unsigned i;

	for (i = 1; i < perms->nr; i++)
		if (perms->list[i].domid == domid)
			perms->list[i].ignored = true;
}
