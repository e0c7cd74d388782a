/* SPDX-License-Identifier: MIT */
/* privileges.c: capabilities, by libcap-ng. */
#include "netback/privileges.h"

#include <cap-ng.h>
#include <errno.h>
#include <sys/prctl.h>

bool privileges_may_make_taps(void)
{
	/* Cannot tell: making the first tap will. */
	if (capng_get_caps_process())
		return true;
	return capng_have_capability(CAPNG_EFFECTIVE, CAP_NET_ADMIN);
}

int privileges_drop(bool taps)
{
	bool keep = taps && privileges_may_make_taps();
	/* Only who has CAP_SETPCAP may take from the bounding set. */
	bool bound = capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP);

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	capng_clear(bound ? CAPNG_SELECT_BOTH : CAPNG_SELECT_CAPS);
	if (keep && capng_updatev(CAPNG_ADD,
				  bound ? CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET
					: CAPNG_EFFECTIVE | CAPNG_PERMITTED,
				  CAP_NET_ADMIN, -1))
		return -EINVAL;
	return capng_apply(bound ? CAPNG_SELECT_BOTH : CAPNG_SELECT_CAPS) ? -EPERM : 0;
}
