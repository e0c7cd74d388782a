/* SPDX-License-Identifier: MIT */
/*
 * link.c: rtnetlink requests and the parsing of their answers. The kernel is believed as to the
 * form of what it says, but every length is checked all the same: it costs nothing.
 */
#include "netback/link.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/compiler.h"

/* A device with all its statistics is about 2 KiB; a dump comes in messages of up to 32 KiB. */
#define ANSWER_BYTES 32768

struct request {
	struct nlmsghdr header;
	struct ifinfomsg info;
	char attributes[NLMSG_ALIGN(NLA_HDRLEN + LINK_ALIAS_BYTES)];
};

static void request_init(struct request *request, uint16_t type, uint16_t flags)
{
	memset(request, 0, sizeof(*request));
	request->header.nlmsg_len = NLMSG_LENGTH(sizeof(request->info));
	request->header.nlmsg_type = type;
	request->header.nlmsg_flags = NLM_F_REQUEST | flags;
	request->info.ifi_family = AF_UNSPEC;
}

/* The request has room for one text, of less than LINK_ALIAS_BYTES. */
static void request_add_text(struct request *request, uint16_t type, const char *text)
{
	size_t len = strlen(text) + 1;
	struct rtattr *attribute = (struct rtattr *)request->attributes;

	attribute->rta_type = type;
	attribute->rta_len = (uint16_t)RTA_LENGTH(len);
	memcpy(RTA_DATA(attribute), text, len);
	request->header.nlmsg_len += (uint32_t)RTA_SPACE(len);
}

/* Return: a socket on which the answer will come; -errno. */
static int ask(const struct request *request)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		return -errno;
	if (send(fd, request, request->header.nlmsg_len, 0) < 0) {
		int err = errno;

		close(fd);
		return -err;
	}
	return fd;
}

static const struct rtattr *find(const struct rtattr *attribute, size_t len, unsigned type)
{
	for (; RTA_OK(attribute, len); attribute = RTA_NEXT(attribute, len)) {
		if ((attribute->rta_type & NLA_TYPE_MASK) == type)
			return attribute;
	}
	return NULL;
}

static const struct rtattr *find_in(const struct rtattr *nest, unsigned type)
{
	return nest ? find(RTA_DATA(nest), RTA_PAYLOAD(nest), type) : NULL;
}

static void take_text(char *dst, size_t size, const struct rtattr *attribute)
{
	size_t len = attribute ? strnlen(RTA_DATA(attribute), RTA_PAYLOAD(attribute)) : 0;

	len = MIN(len, size - 1);
	if (len)
		memcpy(dst, RTA_DATA(attribute), len);
	dst[len] = '\0';
}

static uint8_t take_byte(const struct rtattr *attribute)
{
	return attribute && RTA_PAYLOAD(attribute) ? *(const uint8_t *)RTA_DATA(attribute) : 0;
}

static bool parse(const struct nlmsghdr *message, struct link_info *link)
{
	const struct ifinfomsg *info = NLMSG_DATA(message);
	const struct rtattr *attributes, *linkinfo, *data;
	char kind[16];
	size_t len;

	memset(link, 0, sizeof(*link));
	if (message->nlmsg_type != RTM_NEWLINK || message->nlmsg_len < NLMSG_LENGTH(sizeof(*info)))
		return false;
	attributes = IFLA_RTA(info);
	len = IFLA_PAYLOAD(message);
	link->ifindex = info->ifi_index;
	take_text(link->name, sizeof(link->name), find(attributes, len, IFLA_IFNAME));
	take_text(link->alias, sizeof(link->alias), find(attributes, len, IFLA_IFALIAS));
	linkinfo = find(attributes, len, IFLA_LINKINFO);
	take_text(kind, sizeof(kind), find_in(linkinfo, IFLA_INFO_KIND));
	data = find_in(linkinfo, IFLA_INFO_DATA);
	link->tap = !strcmp(kind, "tun") && take_byte(find_in(data, IFLA_TUN_TYPE)) == IFF_TAP;
	link->multi_queue = take_byte(find_in(data, IFLA_TUN_MULTI_QUEUE));
	return true;
}

static int message_error(const struct nlmsghdr *message)
{
	const struct nlmsgerr *error = NLMSG_DATA(message);

	return message->nlmsg_len < NLMSG_LENGTH(sizeof(*error)) ? -EPROTO : error->error;
}

/* @more: is there more to come? Return: 0; -errno; what @each returned. */
static int take_message(const struct nlmsghdr *message, bool *more,
			int (*each)(const struct link_info *link, void *arg), void *arg)
{
	struct link_info link;

	*more = false;
	if (message->nlmsg_type == NLMSG_ERROR)
		return message_error(message);
	if (message->nlmsg_type == NLMSG_DONE)
		return 0;
	*more = message->nlmsg_flags & NLM_F_MULTI;
	return parse(message, &link) ? each(&link, arg) : 0;
}

static int take_answer(int fd, int (*each)(const struct link_info *link, void *arg), void *arg)
{
	char buffer[ANSWER_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	const struct nlmsghdr *message;
	bool more = true;
	int ret = 0;

	while (more && !ret) {
		ssize_t got = recv(fd, buffer, sizeof(buffer), 0);
		size_t left = (size_t)got;

		if (got < 0) {
			if (errno != EINTR)
				return -errno;
			continue;
		}
		for (message = (const struct nlmsghdr *)buffer;
		     more && !ret && NLMSG_OK(message, left); message = NLMSG_NEXT(message, left))
			ret = take_message(message, &more, each, arg);
	}
	return ret;
}

static int run(const struct request *request, int (*each)(const struct link_info *link, void *arg),
	       void *arg)
{
	int fd = ask(request), ret;

	if (fd < 0)
		return fd;
	ret = take_answer(fd, each, arg);
	close(fd);
	return ret;
}

static int keep(const struct link_info *link, void *arg)
{
	*(struct link_info *)arg = *link;
	return 0;
}

int link_get(const char *name, struct link_info *link)
{
	struct request request;

	request_init(&request, RTM_GETLINK, 0);
	request_add_text(&request, IFLA_IFNAME, name);
	return run(&request, keep, link);
}

int link_each(int (*each)(const struct link_info *link, void *arg), void *arg)
{
	struct request request;

	request_init(&request, RTM_GETLINK, NLM_F_DUMP);
	return run(&request, each, arg);
}

int link_set_alias(int ifindex, const char *alias)
{
	struct request request;

	if (strlen(alias) >= LINK_ALIAS_BYTES)
		return -ENAMETOOLONG;
	request_init(&request, RTM_SETLINK, NLM_F_ACK);
	request.info.ifi_index = ifindex;
	request_add_text(&request, IFLA_IFALIAS, alias);
	return run(&request, keep, NULL); /* nothing but an acknowledgement comes */
}
