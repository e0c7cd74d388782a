/* SPDX-License-Identifier: MIT */
/*
 * port_tap.c: the tap port: a kernel network device named as the vif, so that Xen's hotplug scripts
 * put it on a bridge as they would Linux's own vif.
 *
 * Every queue is one descriptor of a multiqueue tap; a vif that can only have one queue gets a tap
 * that is not multiqueue. The device exists from open() to close(). Frames carry a virtio_net_hdr
 * in both directions. Reads and writes never block; a write is one frame, in one call.
 */
#include "netback/port_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/log.h"
#include "netback/queue.h"

#define TUN_PATH "/dev/net/tun"

/* Reads that may fail in a row before the queue is taken for empty: the next frame is an event. */
#define READ_ERRORS_MAX 16
/* Frames a queue of the kernel can hold at most; its default is 1000. */
#define STALE_FRAMES_MAX 65536

struct port_tap {
	struct port port;
	unsigned nr_fds;      /* queues opened so far; they stay for the port's life */
	unsigned nr_attached; /* the first so many take part in the device's traffic */
	int fds[XENVIF_QUEUES_MAX];
};

static struct port_tap *to_tap(struct port *port)
{
	return (struct port_tap *)port;
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

/* The first queue makes the device, and must be the one to make it; the others join it. */
static int add_queue(struct port_tap *tap)
{
	const struct port_params *params = &tap->port.params;
	int hdr_size = sizeof(struct virtio_net_hdr);
	struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
	int fd, err;

	if (params->nr_queues_max > 1)
		ifr.ifr_flags |= IFF_MULTI_QUEUE;
	if (!tap->nr_fds)
		ifr.ifr_flags |= (short)IFF_TUN_EXCL;
	memcpy(ifr.ifr_name, params->name, IFNAMSIZ);
	fd = open_tun(params->name);
	if (fd < 0)
		return fd;
	if (ioctl(fd, TUNSETIFF, &ifr) || ioctl(fd, TUNSETVNETHDRSZ, &hdr_size)) {
		err = errno;
		close(fd);
		return log_no_iface(params->name, err);
	}
	tap->fds[tap->nr_fds++] = fd;
	tap->nr_attached++;
	return 0;
}

static int tap_open(struct port *port)
{
	struct port_tap *tap = to_tap(port);

	if (!port->params.name[0] || strnlen(port->params.name, IFNAMSIZ) == IFNAMSIZ)
		return -EINVAL;
	return add_queue(tap);
}

static void tap_close(struct port *port)
{
	struct port_tap *tap = to_tap(port);

	while (tap->nr_fds)
		close(tap->fds[--tap->nr_fds]);
}

static int attach(const struct port_tap *tap, unsigned queue, bool on)
{
	struct ifreq ifr = {.ifr_flags = on ? IFF_ATTACH_QUEUE : IFF_DETACH_QUEUE};

	if (!ioctl(tap->fds[queue], TUNSETQUEUE, &ifr))
		return 0;
	log_err("%s: cannot %s queue %u: %s", tap->port.params.name, on ? "attach" : "detach",
		queue, strerror(errno));
	return -errno;
}

/* What the kernel may leave for the reader to do: only what the guest takes as it is. */
static int set_offloads(const struct port_tap *tap, const struct xenvif_features *features)
{
	unsigned long offloads = features->csum_ipv4 || features->csum_ipv6 ? TUN_F_CSUM : 0;

	return ioctl(tap->fds[0], TUNSETOFFLOAD, offloads) ? -errno : 0;
}

/* What was sent to the guest while nobody was connected is stale: a new connection starts empty. */
static void drain(const struct port_tap *tap, unsigned queue)
{
	char byte;

	for (unsigned i = 0; i < STALE_FRAMES_MAX; i++) {
		if (read(tap->fds[queue], &byte, sizeof(byte)) < 0 && errno == EAGAIN)
			return;
	}
}

static int tap_set_queues(struct port *port, unsigned nr_queues,
			  const struct xenvif_features *features)
{
	struct port_tap *tap = to_tap(port);
	int err = 0;

	while (!err && tap->nr_attached > nr_queues) {
		err = attach(tap, tap->nr_attached - 1, false);
		if (!err)
			tap->nr_attached--;
	}
	while (!err && tap->nr_attached < nr_queues) {
		if (tap->nr_attached == tap->nr_fds) {
			err = add_queue(tap);
			continue;
		}
		err = attach(tap, tap->nr_attached, true);
		if (!err)
			tap->nr_attached++;
	}
	for (unsigned i = 0; !err && i < nr_queues; i++)
		drain(tap, i);
	return err ? err : set_offloads(tap, features);
}

static void tap_set_carrier(struct port *port, int up)
{
#ifdef TUNSETCARRIER
	/* A kernel without it keeps the carrier on, which is harmless. */
	if (ioctl(to_tap(port)->fds[0], TUNSETCARRIER, &up))
		log_debug("%s: TUNSETCARRIER: %s", port->params.name, strerror(errno));
#else
	(void)port;
	(void)up;
#endif
}

static int tap_queue_fd(const struct port *port, unsigned queue)
{
	return ((const struct port_tap *)port)->fds[queue];
}

/*
 * The device's send buffer is left unlimited: with a limit, one bridge member that does not read
 * would stop us from sending to all others. The kernel's queues behind it are bounded anyway.
 */
static void tap_send_batch(struct port *port, unsigned queue, struct port_frame *const frames[],
			   unsigned nr)
{
	int fd = to_tap(port)->fds[queue];

	for (unsigned i = 0; i < nr; i++) {
		ssize_t ret = writev(fd, frames[i]->iov, frames[i]->nr_iov);

		frames[i]->sent = ret >= 0;
	}
}

/* Is there nothing more to read for now? A frame the kernel could not hand over is just gone. */
static bool read_is_over(unsigned *nr_failed)
{
	if (errno == EINTR)
		return false;
	return errno == EAGAIN || ++*nr_failed == READ_ERRORS_MAX;
}

/* A frame longer than the buffer is cut by the kernel, which then reports a full buffer. */
static unsigned tap_recv_batch(struct port *port, unsigned queue, struct port_frame *const frames[],
			       unsigned nr)
{
	int fd = to_tap(port)->fds[queue];
	unsigned got = 0, nr_failed = 0;

	while (got < nr) {
		struct port_frame *frame = frames[got];
		ssize_t ret = readv(fd, frame->iov, frame->nr_iov);

		if (ret >= (ssize_t)sizeof(frame->hdr)) {
			frame->len = (uint32_t)((size_t)ret - sizeof(frame->hdr));
			got++;
		} else if (ret >= 0 || read_is_over(&nr_failed)) {
			break;
		}
	}
	return got;
}

const struct port_ops port_tap_ops = {
	.name = "tap",
	.size = sizeof(struct port_tap),
	.open = tap_open,
	.close = tap_close,
	.set_queues = tap_set_queues,
	.set_carrier = tap_set_carrier,
	.queue_fd = tap_queue_fd,
	.send_batch = tap_send_batch,
	.recv_batch = tap_recv_batch,
};
