/* SPDX-License-Identifier: MIT */
/*
 * xsd_path.h: names of nodes. Pure string work on hostile text; no state.
 */
#ifndef XENSTORE_XSD_PATH_H
#define XENSTORE_XSD_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xen/io/xs_wire.h>

/* Room for every path the protocol allows, and its end. */
#define XSD_PATH_BYTES (XENSTORE_ABS_PATH_MAX + 1)

/**
 * xsd_path_valid() - may a node have this name
 * @max: longest length taken, not counting a leading "/local/domain/N/" (xenstored's rule)
 *
 * Absolute, no double or trailing slash, only [A-Za-z0-9-/_@] (docs/misc/xenstore.txt).
 */
bool xsd_path_valid(const char *path, size_t max);

/**
 * xsd_path_canonical() - relative names are below the caller's own /local/domain/N
 *
 * Names that begin with / or @ are copied. Return: 0, or -EINVAL if the result does not fit.
 */
int xsd_path_canonical(char out[XSD_PATH_BYTES], const char *name, unsigned domid);

/** xsd_path_up() - cut @path to its parent's name, in place. False, and unchanged, for "/". */
bool xsd_path_up(char *path);

/** xsd_path_base() - the last component of @path, which is not "/". */
const char *xsd_path_base(const char *path);

/** xsd_path_below() - is @path the node @top or somewhere under it. */
bool xsd_path_below(const char *path, const char *top);

/** xsd_path_own() - length of "/local/domain/N/" at the head of @path, 0 if there is none. */
size_t xsd_path_own(const char *path);

#endif
