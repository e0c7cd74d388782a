/* SPDX-License-Identifier: MIT */
/* xsd_path.c: see xsd_path.h. Pure. */
#include "xenstore/xsd_path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DOMAIN_DIR "/local/domain/"

size_t xsd_path_own(const char *path)
{
	size_t len = sizeof(DOMAIN_DIR) - 1;
	size_t digits;

	if (strncmp(path, DOMAIN_DIR, len) != 0)
		return 0;
	digits = strspn(path + len, "0123456789");
	if (digits == 0 || digits > 5 || path[len + digits] != '/')
		return 0;
	return len + digits + 1;
}

bool xsd_path_valid(const char *path, size_t max)
{
	size_t len = strlen(path);

	if (path[0] != '/' || strstr(path, "//"))
		return false;
	if (len > 1 && path[len - 1] == '/')
		return false;
	if (len > XENSTORE_ABS_PATH_MAX || len > max + xsd_path_own(path))
		return false;
	return strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "abcdefghijklmnopqrstuvwxyz"
			    "0123456789-/_@") == len;
}

int xsd_path_canonical(char out[XSD_PATH_BYTES], const char *name, unsigned domid)
{
	int len;

	if (name[0] == '/' || name[0] == '@')
		len = snprintf(out, XSD_PATH_BYTES, "%s", name);
	else
		len = snprintf(out, XSD_PATH_BYTES, DOMAIN_DIR "%u/%s", domid, name);
	return len < 0 || len >= XSD_PATH_BYTES ? -EINVAL : 0;
}

bool xsd_path_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (path[1] == '\0')
		return false;
	if (slash == path)
		slash++;
	*slash = '\0';
	return true;
}

const char *xsd_path_base(const char *path)
{
	return strrchr(path, '/') + 1;
}

bool xsd_path_below(const char *path, const char *top)
{
	size_t len = strlen(top);

	/* "/" would have to be "" for the rule to hold for it as well. */
	if (len == 1 && top[0] == '/')
		return path[0] == '/';
	return strncmp(path, top, len) == 0 && (path[len] == '/' || path[len] == '\0');
}
