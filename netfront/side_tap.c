/* SPDX-License-Identifier: MIT */
/*
 * side_tap.c: the guest's own network interface. Frames are read from the tap straight into
 * transmit buffers and written to it straight from receive buffers; the kernel makes the one copy.
 * Runs in the thread of netfront_run(); never touches xenstore.
 */
#include "netfront/side.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/log.h"

/* Ethernet header and one VLAN tag. */
#define FRAME_OVERHEAD_BYTES 18u
/* More than any tap's transmit queue holds; a stack that keeps sending does not hold us up. */
#define DISCARD_MAX 4096u

struct side_tap {
	struct netfront_side side;
	char name[IFNAMSIZ];
	int fd;
	bool set_up;
	bool readable; /* until a read said otherwise: the event is edge-triggered */
	size_t frame_bytes;
	struct event *event;
};

static struct side_tap *tap_of(struct netfront_side *side)
{
	return container_of(side, struct side_tap, side);
}

static int open_tap(struct side_tap *tap)
{
	struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	int err;

	tap->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (tap->fd < 0) {
		err = -errno;
		log_err("cannot open /dev/net/tun: %s (load the module tun, or make the device "
			"accessible here)",
			strerror(-err));
		return err;
	}
	strcpy(ifr.ifr_name, tap->name);
	if (ioctl(tap->fd, TUNSETIFF, &ifr) < 0) {
		err = -errno;
		log_err("cannot create tap %s: %s (it takes CAP_NET_ADMIN in this network "
			"namespace, and nobody else attached to it)",
			tap->name, strerror(-err));
		return err;
	}
	strcpy(tap->name, ifr.ifr_name); /* "vnet%d" was filled in */
	return 0;
}

static void set_carrier(struct side_tap *tap, bool up)
{
	int carrier = up;

	/* Linux before 4.20 has none: then the interface shows no link state, nothing more. */
	(void)ioctl(tap->fd, TUNSETCARRIER, &carrier);
}

static int interface_ioctl(int sock, unsigned long request, struct ifreq *ifr, const char *what)
{
	int err;

	if (!ioctl(sock, request, ifr))
		return 0;
	err = -errno;
	log_err("cannot set the %s of tap %s: %s", what, ifr->ifr_name, strerror(-err));
	return err;
}

static int set_mac(int sock, struct ifreq *ifr, const uint8_t mac[NETFRONT_MAC_BYTES])
{
	memset(&ifr->ifr_hwaddr, 0, sizeof(ifr->ifr_hwaddr));
	if (!ioctl(sock, SIOCGIFHWADDR, ifr) &&
	    !memcmp(ifr->ifr_hwaddr.sa_data, mac, NETFRONT_MAC_BYTES))
		return 0; /* as it is after a reconnect: some drivers refuse it while up */
	ifr->ifr_hwaddr.sa_family = ARPHRD_ETHER;
	memcpy(ifr->ifr_hwaddr.sa_data, mac, NETFRONT_MAC_BYTES);
	return interface_ioctl(sock, SIOCSIFHWADDR, ifr, "MAC address");
}

static int set_interface(struct side_tap *tap, int sock, const uint8_t mac[NETFRONT_MAC_BYTES],
			 unsigned mtu_bytes)
{
	struct ifreq ifr = {.ifr_name = ""};
	int err;

	strcpy(ifr.ifr_name, tap->name);
	err = set_mac(sock, &ifr, mac);
	if (err)
		return err;
	ifr.ifr_mtu = (int)mtu_bytes;
	err = interface_ioctl(sock, SIOCSIFMTU, &ifr, "MTU");
	if (err || !tap->set_up)
		return err;
	err = interface_ioctl(sock, SIOCGIFFLAGS, &ifr, "flags");
	if (err)
		return err;
	ifr.ifr_flags |= IFF_UP;
	return interface_ioctl(sock, SIOCSIFFLAGS, &ifr, "flag UP");
}

static void tap_readable(evutil_socket_t fd, short what, void *arg)
{
	struct side_tap *tap = arg;

	tap->readable = true;
	netfront_schedule(tap->side.nf);
}

static int watch_tap(struct side_tap *tap)
{
	if (tap->event)
		return 0;
	tap->event = event_new(netfront_event_base(tap->side.nf), tap->fd,
			       EV_READ | EV_PERSIST | EV_ET, tap_readable, tap);
	return tap->event && !event_add(tap->event, NULL) ? 0 : -ENOMEM;
}

static int tap_configure(struct netfront_side *side, const uint8_t mac[NETFRONT_MAC_BYTES],
			 unsigned mtu_bytes)
{
	struct side_tap *tap = tap_of(side);
	int sock, err;

	sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -errno;
	err = set_interface(tap, sock, mac, mtu_bytes);
	close(sock);
	if (err)
		return err;
	tap->frame_bytes = MIN(mtu_bytes + FRAME_OVERHEAD_BYTES, NETFRONT_FRAME_MAX_BYTES);
	return watch_tap(tap);
}

/* What the stack sent while there was no backend is old: it must not arrive late. */
static void discard_queued(struct side_tap *tap)
{
	uint8_t scratch[64];

	for (unsigned i = 0; i < DISCARD_MAX && read(tap->fd, scratch, sizeof(scratch)) > 0; i++)
		;
}

static void tap_link(struct netfront_side *side, bool up)
{
	struct side_tap *tap = tap_of(side);

	if (up)
		discard_queued(tap);
	set_carrier(tap, up);
	tap->readable = up;
}

static bool tap_deliver(struct netfront_side *side, struct netfront_queue *queue,
			const struct netfront_frame *frame)
{
	struct side_tap *tap = tap_of(side);

	/* A tap that is down or full loses frames, as any interface does. */
	if (writev(tap->fd, frame->iov, (int)frame->nr_iov) < 0)
		queue->rx_counters.dropped++;
	return true;
}

/* Return: true if there may be more to read. */
static bool read_one(struct side_tap *tap, struct netfront_queue *queue)
{
	struct iovec iov[NETFRONT_SLOTS_MAX + 1];
	uint8_t excess;
	ssize_t len;
	int nr;

	nr = netfront_tx_begin(&queue->tx, tap->frame_bytes, iov);
	if (nr < 0)
		return false; /* full: the answers start us again, the tap queues meanwhile */
	/* One byte more than fits, to tell a frame that was cut from one that fits exactly. */
	iov[nr].iov_base = &excess;
	iov[nr].iov_len = 1;
	len = readv(tap->fd, iov, nr + 1);
	if (len < 0) {
		tap->readable = errno == EINTR;
		return tap->readable;
	}
	if ((size_t)len > tap->frame_bytes)
		netfront_tx_drop(&queue->tx);
	else
		netfront_tx_commit(&queue->tx, (size_t)len);
	return true;
}

static bool tap_fill(struct netfront_side *side, struct netfront_queue *queue, unsigned budget)
{
	struct side_tap *tap = tap_of(side);

	while (tap->readable && budget--) {
		if (!read_one(tap, queue))
			return false;
	}
	return tap->readable;
}

static void tap_free(struct netfront_side *side)
{
	struct side_tap *tap = tap_of(side);

	if (tap->event)
		event_free(tap->event);
	if (tap->fd >= 0)
		close(tap->fd);
	free(tap);
}

static const struct netfront_side_ops tap_ops = {
	.name = "tap",
	.configure = tap_configure,
	.link = tap_link,
	.deliver = tap_deliver,
	.fill = tap_fill,
	.free = tap_free,
};

int side_tap_new(const char *name, bool up, struct netfront_side **side)
{
	struct side_tap *tap;
	int err;

	if (!*name || strlen(name) >= IFNAMSIZ) {
		log_err("'%s' is no interface name: 1 to %d characters", name, IFNAMSIZ - 1);
		return -EINVAL;
	}
	tap = calloc(1, sizeof(*tap));
	if (!tap)
		return -ENOMEM;
	tap->side.ops = &tap_ops;
	tap->fd = -1;
	tap->set_up = up;
	strcpy(tap->name, name);
	err = open_tap(tap);
	if (err) {
		tap_free(&tap->side);
		return err;
	}
	set_carrier(tap, false);
	*side = &tap->side;
	return 0;
}
