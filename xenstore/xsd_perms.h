/* SPDX-License-Identifier: MIT */
/*
 * xsd_perms.h: who may do what with a node. Pure; no state.
 *
 * A node's list: the first entry names the owner, who may do all, and says what everybody not
 * listed may do; each further entry is for one domain (docs/misc/xenstore.txt, SET_PERMS).
 */
#ifndef XENSTORE_XSD_PERMS_H
#define XENSTORE_XSD_PERMS_H

#include <stdbool.h>
#include <stdint.h>

#define XSD_READ  0x1U
#define XSD_WRITE 0x2U
#define XSD_OWNER 0x4U

#define XSD_NO_TARGET (-1)

struct xsd_perm {
	uint16_t domid;
	uint8_t access; /* XSD_READ, XSD_WRITE */
	bool ignored;	/* the domain meant is gone: a later one of the same domid is not it */
};

struct xsd_perms {
	struct xsd_perm *list; /* owned */
	unsigned nr;	       /* at least 1 in a node */
};

/** On whose behalf a request is made. */
struct xsd_cred {
	unsigned domid;
	int target; /* the domain it is the device model of (XS_SET_TARGET), or XSD_NO_TARGET */
};

/** xsd_cred_privileged() - dom0 may do everything everywhere. */
static inline bool xsd_cred_privileged(const struct xsd_cred *cred)
{
	return cred->domid == 0;
}

/** xsd_perms_of() - what @cred may do: XSD_READ, XSD_WRITE and, for owner and dom0, XSD_OWNER. */
unsigned xsd_perms_of(const struct xsd_perms *perms, const struct xsd_cred *cred);

/** xsd_perms_copy() - @dst is overwritten. Return: 0 or -ENOMEM. */
int xsd_perms_copy(struct xsd_perms *dst, const struct xsd_perms *src);

/** xsd_perms_free() - and empty it. */
void xsd_perms_free(struct xsd_perms *perms);

/**
 * xsd_perms_parse() - the strings of SET_PERMS
 * @strings: @nr strings, each with its end, one after another
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int xsd_perms_parse(struct xsd_perms *perms, const char *strings, unsigned nr);

/* "b65535" and its end. */
#define XSD_PERM_BYTES 7

/** xsd_perm_format() - as GET_PERMS shows it. Return: length without the end. */
unsigned xsd_perm_format(char text[XSD_PERM_BYTES], const struct xsd_perm *perm);

/** xsd_perms_forget() - @domid is gone: its entries, but for the owner's, no longer count. */
void xsd_perms_forget(struct xsd_perms *perms, unsigned domid);

#endif
