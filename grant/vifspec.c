/* SPDX-License-Identifier: MIT */
/*
 * vifspec.c: parses vif specifications. Keys and their meaning are those of
 * xl-network-configuration(5) of Xen 4.17.
 */
#include "grant/vifspec.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/compiler.h"
#include "common/log.h"

#define MTU_MIN		      68    /* RFC 791 */
#define MTU_MAX		      65521 /* 65535 less an Ethernet header: the longest netif packet */
#define RATE_USEC_DEFAULT     50000
#define HANDLE_MAX	      65535
#define VIFSPEC_SETTING_BYTES (VIFSPEC_VALUE_BYTES + 32)

struct vifspec_key {
	const char *name;
	int (*set)(struct vifspec *spec, const char *value);
	const char *expected; /* completes "KEY must be ..." */
};

void vifspec_init(struct vifspec *spec)
{
	*spec = (struct vifspec){
		.handle = -1,
		.mtu = VIFSPEC_MTU_DEFAULT,
		.trusted = true,
		.bridge = "xenbr0",
		.backend = "0",
	};
}

int vifspec_random_mac(struct vifspec *spec)
{
	uint8_t random[3];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	spec->mac[0] = 0x00;
	spec->mac[1] = 0x16;
	spec->mac[2] = 0x3e;
	spec->mac[3] = random[0] & 0x7f;
	spec->mac[4] = random[1];
	spec->mac[5] = random[2];
	spec->has_mac = true;
	return 0;
}

/* Decimal digits only, no more than @max. */
static int parse_number(const char *text, const char **end, uint64_t max, uint64_t *number)
{
	uint64_t sum = 0;
	const char *at;

	for (at = text; isdigit((unsigned char)*at); at++) {
		sum = sum * 10 + (uint64_t)(*at - '0');
		if (sum > max)
			return -ERANGE;
	}
	if (at == text)
		return -EINVAL;
	*end = at;
	*number = sum;
	return 0;
}

static int parse_whole_number(const char *text, uint64_t min, uint64_t max, uint64_t *number)
{
	const char *end;
	int err;

	err = parse_number(text, &end, max, number);
	if (err)
		return err;
	return *end || *number < min ? -EINVAL : 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int set_mac(struct vifspec *spec, const char *value)
{
	for (int i = 0; i < VIFSPEC_MAC_BYTES; i++, value += 3) {
		int high = hex_digit(value[0]);
		int low = high < 0 ? -1 : hex_digit(value[1]);

		if (low < 0 || value[2] != (i == VIFSPEC_MAC_BYTES - 1 ? '\0' : ':'))
			return -EINVAL;
		spec->mac[i] = (uint8_t)(high << 4 | low);
	}
	/* The lowest bit of the first byte marks a group: no NIC can have such an address. */
	if (spec->mac[0] & 1)
		return -EINVAL;
	spec->has_mac = true;
	return 0;
}

/* Printable and not too long: it goes to the store and, by hotplug scripts, to a shell. */
static int set_text(char to[VIFSPEC_VALUE_BYTES], const char *value, size_t max)
{
	size_t len = strlen(value);

	if (!len || len >= max)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		if (!isprint((unsigned char)value[i]))
			return -EINVAL;
	}
	memcpy(to, value, len + 1);
	return 0;
}

static int set_netdev(char to[VIFSPEC_VALUE_BYTES], const char *value)
{
	if (strchr(value, '/') || strchr(value, ' ') || !strcmp(value, ".") || !strcmp(value, ".."))
		return -EINVAL;
	return set_text(to, value, IFNAMSIZ);
}

static int set_bridge(struct vifspec *spec, const char *value)
{
	/* vif-openvswitch takes BRIDGE.TAG:TRUNK:TRUNK, longer than a device name. */
	return set_text(spec->bridge, value, VIFSPEC_VALUE_BYTES);
}

static int set_script(struct vifspec *spec, const char *value)
{
	return set_text(spec->script, value, VIFSPEC_VALUE_BYTES);
}

static int set_vifname(struct vifspec *spec, const char *value)
{
	return set_netdev(spec->vifname, value);
}

static int set_ip(struct vifspec *spec, const char *value)
{
	return set_text(spec->ip, value, VIFSPEC_VALUE_BYTES);
}

static int set_gatewaydev(struct vifspec *spec, const char *value)
{
	return set_netdev(spec->gatewaydev, value);
}

static int set_vlan(struct vifspec *spec, const char *value)
{
	return set_text(spec->vlan, value, VIFSPEC_VALUE_BYTES);
}

static int set_backend(struct vifspec *spec, const char *value)
{
	return set_text(spec->backend, value, VIFSPEC_VALUE_BYTES);
}

static int set_mtu(struct vifspec *spec, const char *value)
{
	uint64_t mtu;

	if (parse_whole_number(value, MTU_MIN, MTU_MAX, &mtu))
		return -EINVAL;
	spec->mtu = (unsigned)mtu;
	return 0;
}

static int set_devid(struct vifspec *spec, const char *value)
{
	uint64_t handle;

	if (parse_whole_number(value, 0, HANDLE_MAX, &handle))
		return -EINVAL;
	spec->handle = (int)handle;
	return 0;
}

static int set_trusted(struct vifspec *spec, const char *value)
{
	if (!strcmp(value, "1") || !strcmp(value, "true"))
		spec->trusted = true;
	else if (!strcmp(value, "0") || !strcmp(value, "false"))
		spec->trusted = false;
	else
		return -EINVAL;
	return 0;
}

static int set_type(struct vifspec *spec, const char *value)
{
	return strcmp(value, "vif") ? -EINVAL : 0;
}

/* An emulated NIC's model means nothing for a paravirtual one; xl takes it and so does this. */
static int set_model(struct vifspec *spec, const char *value)
{
	return *value ? 0 : -EINVAL;
}

static uint64_t rate_multiplier(const char **at)
{
	switch (**at) {
	case 'G':
		++*at;
		return 1000000000;
	case 'M':
		++*at;
		return 1000000;
	case 'K':
		++*at;
		return 1000;
	default:
		return 1;
	}
}

/* "@20ms" and the like; nothing at all is the default. */
static int parse_interval(const char *at, uint64_t *usec)
{
	uint64_t scale = 1000000;

	*usec = RATE_USEC_DEFAULT;
	if (!*at)
		return 0;
	if (*at != '@' || parse_number(at + 1, &at, UINT32_MAX, usec))
		return -EINVAL;
	if (*at == 'm' || *at == 'u')
		scale = *at++ == 'm' ? 1000 : 1;
	if (strcmp(at, "s"))
		return -EINVAL;
	*usec *= scale;
	return *usec && *usec <= UINT32_MAX ? 0 : -EINVAL;
}

/* RATE[@INTERVAL], RATE in bits (b) or bytes (B) a second: "10Mb/s", "250KB/s@20ms". */
static int set_rate(struct vifspec *spec, const char *value)
{
	uint64_t bytes_per_sec, usec, bytes;
	const char *at;
	bool bits;

	if (parse_number(value, &at, UINT32_MAX, &bytes_per_sec))
		return -EINVAL;
	bytes_per_sec *= rate_multiplier(&at);
	bits = at[0] == 'b';
	if ((!bits && at[0] != 'B') || strncmp(at + 1, "/s", 2))
		return -EINVAL;
	if (bits)
		bytes_per_sec /= 8;
	if (parse_interval(at + 3, &usec))
		return -EINVAL;
	/* Cannot overflow: the greatest rate times the longest interval needs 62 + 32 bits. */
	bytes = (uint64_t)((unsigned __int128)bytes_per_sec * usec / 1000000);
	if (!bytes || (unsigned __int128)bytes_per_sec * usec / 1000000 > UINT32_MAX)
		return -EINVAL;
	spec->rate_bytes = (uint32_t)bytes;
	spec->rate_usec = (uint32_t)usec;
	return 0;
}

static const struct vifspec_key keys[] = {
	{"mac", set_mac, "six hexadecimal bytes with colons, not a group address"},
	{"bridge", set_bridge, "the name of a bridge"},
	{"script", set_script, "the path of a hotplug script"},
	{"vifname", set_vifname, "a network device name of at most 15 characters"},
	{"ip", set_ip, "addresses separated by spaces"},
	{"gatewaydev", set_gatewaydev, "a network device name of at most 15 characters"},
	{"vlan", set_vlan, "VLAN ids"},
	{"backend", set_backend, "a domain's name or domid"},
	{"mtu", set_mtu, "a number from 68 to 65521"},
	{"rate", set_rate, "RATE[@INTERVAL] such as 10Mb/s or 250KB/s@20ms"},
	{"devid", set_devid, "a number from 0 to 65535"},
	{"trusted", set_trusted, "0 or 1"},
	{"type", set_type, "vif (an emulated machine has no device model for ioemu)"},
	{"model", set_model, "the name of a NIC model"},
};

static const struct vifspec_key *find_key(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strlen(keys[i].name) == len && !memcmp(keys[i].name, name, len))
			return &keys[i];
	}
	return NULL;
}

static int parse_setting(struct vifspec *spec, const char *setting, char *error, size_t size)
{
	const char *equals = strchr(setting, '=');
	char printable[4 * VIFSPEC_SETTING_BYTES];
	const struct vifspec_key *key;

	log_escape(printable, sizeof(printable), setting, strlen(setting));
	if (!equals) {
		snprintf(error, size, "\"%s\" is not of the form KEY=VALUE", printable);
		return -EINVAL;
	}
	key = find_key(setting, (size_t)(equals - setting));
	if (!key) {
		snprintf(error, size, "unknown key in \"%s\" (see xl-network-configuration(5))",
			 printable);
		return -EINVAL;
	}
	if (key->set(spec, equals + 1)) {
		snprintf(error, size, "\"%s\": %s must be %s", printable, key->name, key->expected);
		return -EINVAL;
	}
	return 0;
}

int vifspec_parse(struct vifspec *spec, const char *text, char *error, size_t size)
{
	char setting[VIFSPEC_SETTING_BYTES];

	while (*text) {
		size_t len;
		int err;

		text += strspn(text, ", \t");
		len = strcspn(text, ",");
		if (len >= sizeof(setting)) {
			snprintf(error, size, "a setting is longer than %zu characters",
				 sizeof(setting) - 1);
			return -EINVAL;
		}
		memcpy(setting, text, len);
		text += len;
		while (len && isspace((unsigned char)setting[len - 1]))
			len--;
		setting[len] = '\0';
		if (!len)
			continue;
		err = parse_setting(spec, setting, error, size);
		if (err)
			return err;
	}
	return 0;
}
