/* SPDX-License-Identifier: MIT */
/*
 * tap.c: the life of tap devices. The order of making one is what makes it safe to be killed in
 * between: made, marked, persistent. What is not persistent goes with the process, and so nothing
 * persistent is without a mark.
 */
#include "netback/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/log.h"
#include "netback/link.h"

#define TUN_PATH "/dev/net/tun"

#define MARK_BYTES (sizeof("netbackd/4294967295/") + IFNAMSIZ)

static void make_mark(char mark[MARK_BYTES], const struct tap_owner *owner)
{
	snprintf(mark, MARK_BYTES, "netbackd/%u/%s", owner->backend_domid, owner->vif);
}

static bool is_marked(const struct link_info *link, const struct tap_owner *owner)
{
	char mark[MARK_BYTES];

	make_mark(mark, owner);
	return link->tap && !strcmp(link->alias, mark);
}

static int open_tun(const char *name)
{
	int fd = open(TUN_PATH, O_RDWR | O_NONBLOCK | O_CLOEXEC), err = errno;

	if (fd >= 0)
		return fd;
	log_err("%s: cannot open " TUN_PATH ": %s (%s)", name, strerror(err),
		err == ENOENT || err == ENODEV || err == ENXIO
			? "load the module: modprobe tun"
			: "run as root, or give this user access to it");
	return -err;
}

static int log_no_iface(const char *name, int err)
{
	if (err == EBUSY)
		log_err("%s: a network device of this name exists already (delete it: ip link del %s)",
			name, name);
	else if (err == EPERM || err == EACCES)
		log_err("%s: cannot create the tap device: %s (CAP_NET_ADMIN is needed)", name,
			strerror(err));
	else
		log_err("%s: cannot create the tap device: %s", name, strerror(err));
	return -err;
}

/* A descriptor of a queue of the device called @name. Not logged, but for /dev/net/tun itself. */
static int open_queue(const char *name, bool multi_queue, int more_flags)
{
	int hdr_size = sizeof(struct virtio_net_hdr);
	struct ifreq ifr;
	int fd, err;

	memset(&ifr, 0, sizeof(ifr));
	ifr.ifr_flags = (short)(IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | more_flags |
				(multi_queue ? IFF_MULTI_QUEUE : 0));
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	fd = open_tun(name);
	if (fd < 0)
		return fd;
	if (ioctl(fd, TUNSETIFF, &ifr) || ioctl(fd, TUNSETVNETHDRSZ, &hdr_size)) {
		err = errno;
		close(fd);
		return -err;
	}
	return fd;
}

int tap_name(int fd, char name[IFNAMSIZ])
{
	struct ifreq ifr;

	memset(&ifr, 0, sizeof(ifr));
	if (ioctl(fd, TUNGETIFF, &ifr))
		return -errno;
	memcpy(name, ifr.ifr_name, IFNAMSIZ);
	name[IFNAMSIZ - 1] = '\0';
	return 0;
}

/*
 * Attaching goes by name. Whoever renamed the device since we looked has us make a new one, or
 * attach to another: see which one it is, after the fact.
 */
static int attach(const struct link_info *link)
{
	struct link_info got;
	char name[IFNAMSIZ];
	int fd = open_queue(link->name, link->multi_queue, 0), ret;

	if (fd < 0)
		return fd;
	ret = tap_name(fd, name);
	if (!ret)
		ret = link_get(name, &got);
	if (!ret && got.ifindex != link->ifindex)
		ret = -EAGAIN;
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

struct search {
	const struct tap_owner *owner;
	struct link_info *link;
};

static int match(const struct link_info *link, void *arg)
{
	const struct search *search = arg;

	if (!is_marked(link, search->owner))
		return 0;
	*search->link = *link;
	return 1;
}

/* Nearly always it still has its first name. 0; -ENODEV; other -errno. */
static int find(const struct tap_owner *owner, struct link_info *link)
{
	struct search search = {owner, link};
	int ret = link_get(owner->vif, link);

	if (!ret && is_marked(link, owner))
		return 0;
	ret = link_each(match, &search);
	if (ret < 0)
		return ret;
	return ret ? 0 : -ENODEV;
}

int tap_adopt(const struct tap_owner *owner, bool *multi_queue)
{
	struct link_info link;
	int ret = find(owner, &link);

	if (!ret)
		ret = attach(&link);
	if (ret >= 0)
		*multi_queue = link.multi_queue;
	else if (ret != -ENODEV && ret != -EBUSY)
		log_err("%s: cannot take over the tap device an earlier daemon left: %s",
			owner->vif, strerror(-ret));
	return ret;
}

void tap_remove(int fd)
{
	if (ioctl(fd, TUNSETPERSIST, 0))
		log_warn("cannot remove a tap device: %s", strerror(errno));
}

static int remove_left(const struct link_info *link)
{
	int fd = attach(link);

	if (fd < 0)
		return fd;
	tap_remove(fd);
	close(fd);
	log_info("%s: removed the tap device an earlier daemon left", link->name);
	return 0;
}

/* The name is taken: by a device of ours that nobody holds? Then it goes. */
static int make_room(const struct tap_owner *owner)
{
	struct link_info link;

	if (link_get(owner->vif, &link) || !is_marked(&link, owner) || remove_left(&link))
		return -EBUSY;
	return 0;
}

/* See the head of this file for why in this order. */
static int make_lasting(int fd, const struct tap_owner *owner)
{
	struct link_info link;
	char mark[MARK_BYTES];
	int ret = link_get(owner->vif, &link);

	make_mark(mark, owner);
	if (!ret)
		ret = link_set_alias(link.ifindex, mark);
	if (!ret && ioctl(fd, TUNSETPERSIST, 1))
		ret = -errno;
	return ret;
}

int tap_create(const struct tap_owner *owner, bool multi_queue)
{
	int fd = open_queue(owner->vif, multi_queue, IFF_TUN_EXCL), ret;

	if (fd == -EBUSY && !make_room(owner))
		fd = open_queue(owner->vif, multi_queue, IFF_TUN_EXCL);
	if (fd < 0)
		return log_no_iface(owner->vif, -fd);
	ret = make_lasting(fd, owner);
	if (!ret)
		return fd;
	log_err("%s: cannot make the tap device outlive this process: %s", owner->vif,
		strerror(-ret));
	close(fd);
	return ret;
}

int tap_join(int fd)
{
	char name[IFNAMSIZ];
	int ret = tap_name(fd, name);

	if (!ret)
		ret = open_queue(name, true, 0);
	if (ret < 0)
		log_err("cannot add a queue to a tap device: %s", strerror(-ret));
	return ret;
}

struct sweep {
	uint32_t backend_domid;
	bool (*wanted)(const char *vif, void *arg);
	void *arg;
	struct link_info *left; /* nr of them: removing while the kernel lists would disturb it */
	unsigned nr;
};

static int collect(const struct link_info *link, void *arg)
{
	struct sweep *sweep = arg;
	struct tap_owner owner = {.backend_domid = sweep->backend_domid};
	const char *slash = strrchr(link->alias, '/');
	struct link_info *more;

	if (!slash || strlen(slash + 1) >= sizeof(owner.vif))
		return 0;
	strcpy(owner.vif, slash + 1);
	if (!is_marked(link, &owner) || sweep->wanted(owner.vif, sweep->arg))
		return 0;
	more = reallocarray(sweep->left, sweep->nr + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	sweep->left = more;
	sweep->left[sweep->nr++] = *link;
	return 0;
}

int tap_sweep(uint32_t backend_domid, bool (*wanted)(const char *vif, void *arg), void *arg)
{
	struct sweep sweep = {.backend_domid = backend_domid, .wanted = wanted, .arg = arg};
	int ret = link_each(collect, &sweep), nr_removed = 0;

	for (unsigned i = 0; !ret && i < sweep.nr; i++) {
		/* Held by a daemon: it is in use. Anything else is as good a reason to leave it. */
		if (!remove_left(&sweep.left[i]))
			nr_removed++;
	}
	free(sweep.left);
	return ret ? ret : nr_removed;
}
