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
#include "netfront/offload.h"

/* Ethernet header and one VLAN tag. */
#define FRAME_OVERHEAD_BYTES 18u
/* More than any tap's transmit queue holds; a stack that keeps sending does not hold us up. */
#define DISCARD_MAX 4096u

struct side_tap {
	struct netfront_side side;
	char name[IFNAMSIZ];
	int fd;
	bool set_up;
	bool readable;	    /* until a read said otherwise: the event is edge-triggered */
	size_t frame_bytes; /* the largest the interface sends, GSO packets included */
	struct event *event;
};

static struct side_tap *tap_of(struct netfront_side *side)
{
	return container_of(side, struct side_tap, side);
}

static int open_tap(struct side_tap *tap)
{
	struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
	int hdr_size = sizeof(struct virtio_net_hdr), err;

	tap->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (tap->fd < 0) {
		err = -errno;
		log_err("cannot open /dev/net/tun: %s (load the module tun, or make the device "
			"accessible here)",
			strerror(-err));
		return err;
	}
	strcpy(ifr.ifr_name, tap->name);
	if (ioctl(tap->fd, TUNSETIFF, &ifr) < 0 || ioctl(tap->fd, TUNSETVNETHDRSZ, &hdr_size) < 0) {
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

/*
 * What the interface may leave to the backend: only what that takes. The kernel's one switch for
 * checksums means both IPv4 and IPv6.
 */
static int set_offloads(struct side_tap *tap)
{
	const struct netfront_features *agreed = netfront_agreed(tap->side.nf);
	unsigned long offloads = 0;
	int err;

	if (agreed->csum_ipv4_tx && agreed->csum_ipv6_tx) {
		offloads = TUN_F_CSUM;
		offloads |= agreed->gso_tcpv4_tx ? TUN_F_TSO4 : 0;
		offloads |= agreed->gso_tcpv6_tx ? TUN_F_TSO6 : 0;
	}
	if (offloads & (TUN_F_TSO4 | TUN_F_TSO6))
		tap->frame_bytes = NETFRONT_FRAME_MAX_BYTES;
	if (!ioctl(tap->fd, TUNSETOFFLOAD, offloads))
		return 0;
	err = -errno;
	log_err("cannot set the offloads of tap %s: %s", tap->name, strerror(-err));
	return err;
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
	err = set_offloads(tap);
	return err ? err : watch_tap(tap);
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

/* The pieces but for the first @skip bytes. Return: how many. */
static unsigned pieces_after(const struct netfront_frame *frame, size_t skip, struct iovec *out)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < frame->nr_iov; i++) {
		size_t cut = MIN(skip, frame->iov[i].iov_len);

		skip -= cut;
		if (cut == frame->iov[i].iov_len)
			continue;
		out[nr].iov_base = (uint8_t *)frame->iov[i].iov_base + cut;
		out[nr++].iov_len = frame->iov[i].iov_len - cut;
	}
	return nr;
}

/* The backend could still change them while we look: so a copy. Return: how many bytes. */
static size_t copy_head(const struct netfront_frame *frame, uint8_t head[OFFLOAD_HEAD_BYTES])
{
	size_t len = 0;

	for (unsigned i = 0; i < frame->nr_iov && len < OFFLOAD_HEAD_BYTES; i++) {
		size_t part = MIN(frame->iov[i].iov_len, OFFLOAD_HEAD_BYTES - len);

		memcpy(head + len, frame->iov[i].iov_base, part);
		len += part;
	}
	return len;
}

static bool tap_deliver(struct netfront_side *side, struct netfront_queue *queue,
			const struct netfront_frame *frame)
{
	const struct netfront_offload *offload = &frame->offload;
	struct side_tap *tap = tap_of(side);
	struct iovec iov[2 + NETFRONT_SLOTS_MAX];
	uint8_t head[OFFLOAD_HEAD_BYTES];
	struct virtio_net_hdr hdr;
	size_t len = 0;
	int nr;

	if (offload->csum_blank || offload->gso_type != XEN_NETIF_GSO_TYPE_NONE)
		len = copy_head(frame, head);
	if (offload_to_kernel(offload, head, len, frame->len_bytes, &hdr)) {
		queue->rx_counters.errors++;
		return true;
	}
	iov[0] = (struct iovec){&hdr, sizeof(hdr)};
	iov[1] = (struct iovec){head, len};
	nr = 2 + (int)pieces_after(frame, len, iov + 2);
	/* A tap that is down or full loses frames, as any interface does. */
	if (writev(tap->fd, iov, nr) < 0)
		queue->rx_counters.dropped++;
	return true;
}

/* Return: true if there may be more to read. */
static bool read_one(struct side_tap *tap, struct netfront_queue *queue)
{
	struct iovec iov[NETFRONT_SLOTS_MAX + 2];
	struct netfront_offload offload;
	struct virtio_net_hdr hdr;
	uint8_t excess;
	ssize_t len;
	int nr;

	nr = netfront_tx_begin(&queue->tx, tap->frame_bytes, iov + 1);
	if (nr < 0)
		return false; /* full: the answers start us again, the tap queues meanwhile */
	iov[0] = (struct iovec){&hdr, sizeof(hdr)};
	/* One byte more than fits, to tell a frame that was cut from one that fits exactly. */
	iov[nr + 1] = (struct iovec){&excess, 1};
	len = readv(tap->fd, iov, nr + 2);
	if (len < 0) {
		tap->readable = errno == EINTR;
		return tap->readable;
	}
	len -= (ssize_t)sizeof(hdr);
	if (len < 0 || (size_t)len > tap->frame_bytes ||
	    offload_to_ring(&hdr, iov + 1, (size_t)len, &offload))
		netfront_tx_drop(&queue->tx);
	else
		netfront_tx_commit(&queue->tx, (size_t)len, &offload);
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
	.offloads = true,
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
