/* SPDX-License-Identifier: MIT */
/* netbk_port.c: the host sides by themselves. The tap's cases need a network namespace of our own.
 */
#include "netbk_suites.h"

#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/compiler.h"
#include "common/load_frame.h"
#include "netback/port_ops.h"
#include "netback/queue.h"

#define BUF_BYTES 4096

static const struct xenvif_features features = {.sg = true, .mtu = 1500};
static const uint8_t mac[6] = {0x00, 0x16, 0x3e, 1, 2, 3};

/* One frame and its buffer. */
struct buffer {
	struct port_frame frame;
	struct iovec iov[3];
	uint8_t bytes[BUF_BYTES];
};

static struct port_frame *make(struct buffer *buffer, size_t len)
{
	memset(buffer, 0, sizeof(*buffer));
	buffer->iov[0] = (struct iovec){&buffer->frame.hdr, sizeof(buffer->frame.hdr)};
	buffer->iov[1] = (struct iovec){buffer->bytes, len};
	buffer->frame.iov = buffer->iov;
	buffer->frame.nr_iov = 2;
	buffer->frame.len = (uint32_t)len;
	return &buffer->frame;
}

static struct port *open_port(enum port_kind kind, unsigned nr_queues)
{
	struct port_params params = {.kind = kind, .name = "vif7.0", .nr_queues_max = nr_queues};
	struct port *port;

	memcpy(params.mac, mac, sizeof(mac));
	ck_assert_int_eq(port_open(&params, &port), 0);
	ck_assert_int_eq(port_set_queues(port, nr_queues, &features), 0);
	return port;
}

static bool send_one(struct port *port, unsigned queue, struct port_frame *frame)
{
	port->ops->send_batch(port, queue, &frame, 1);
	return frame->sent;
}

static bool recv_one(struct port *port, unsigned queue, struct port_frame *frame)
{
	return port->ops->recv_batch(port, queue, &frame, 1) == 1;
}

START_TEST(kinds_have_names)
{
	static const char *const names[] = {"tap", "sink", "source", "echo"};
	enum port_kind kind;

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		ck_assert_int_eq(port_parse_kind(names[i], &kind), 0);
		ck_assert_str_eq(port_kind_name(kind), names[i]);
	}
	ck_assert_int_eq(port_parse_kind("bridge", &kind), -EINVAL);
	ck_assert_int_eq(port_parse_kind("", &kind), -EINVAL);
}
END_TEST

START_TEST(bad_parameters_are_refused)
{
	struct port_params params = {.kind = PORT_SINK};
	struct port *port;

	ck_assert_int_eq(port_open(&params, &port), -EINVAL);
	params.nr_queues_max = 257;
	ck_assert_int_eq(port_open(&params, &port), -EINVAL);
	params.nr_queues_max = 2;
	ck_assert_int_eq(port_open(&params, &port), 0);
	ck_assert_int_eq(port_set_queues(port, 0, &features), -EINVAL);
	ck_assert_int_eq(port_set_queues(port, 3, &features), -EINVAL);
	port_close(port);
	port_close(NULL);
	params.kind = PORT_SOURCE;
	params.source_bytes = 59;
	ck_assert_int_eq(port_open(&params, &port), -EINVAL);
	params.source_bytes = 65536;
	ck_assert_int_eq(port_open(&params, &port), -EINVAL);
}
END_TEST

START_TEST(a_sink_takes_everything_and_has_nothing)
{
	struct port *port = open_port(PORT_SINK, 1);
	struct buffer b;

	ck_assert(send_one(port, 0, make(&b, 60)));
	ck_assert(!recv_one(port, 0, make(&b, 60)));
	port_close(port);
}
END_TEST

START_TEST(a_source_has_frames_in_sequence_for_the_guest)
{
	struct port *port = open_port(PORT_SOURCE, 2);
	struct buffer b;

	for (uint64_t seq = 0; seq < 100; seq++) {
		ck_assert(recv_one(port, 0, make(&b, BUF_BYTES)));
		ck_assert_uint_eq(b.frame.len, 1514);
		ck_assert(load_frame_check(b.bytes, b.frame.len));
		ck_assert_uint_eq(load_frame_seq(b.bytes), seq);
		ck_assert_mem_eq(b.bytes, mac, 6);
		ck_assert_mem_ne(b.bytes + 6, mac, 6);
		ck_assert_uint_eq(b.bytes[6] & 1, 0);
	}
	ck_assert(recv_one(port, 1, make(&b, BUF_BYTES)));
	ck_assert_uint_eq(load_frame_seq(b.bytes), 0); /* queues count for themselves */
	port_close(port);
}
END_TEST

START_TEST(an_echo_exchanges_the_addresses_and_nothing_else)
{
	struct port *port = open_port(PORT_ECHO, 1);
	struct buffer out, in;

	make(&out, 1000);
	for (unsigned i = 0; i < 1000; i++)
		out.bytes[i] = (uint8_t)(i * 7);
	/* In two pieces. */
	out.iov[1].iov_len = 600;
	out.iov[2] = (struct iovec){out.bytes + 600, 400};
	out.frame.nr_iov = 3;
	out.frame.hdr.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	ck_assert(send_one(port, 0, &out.frame));
	ck_assert(port->ops->has_frames(port, 0));
	ck_assert(recv_one(port, 0, make(&in, BUF_BYTES)));
	ck_assert_uint_eq(in.frame.len, 1000);
	ck_assert_mem_eq(in.bytes, out.bytes + 6, 6);
	ck_assert_mem_eq(in.bytes + 6, out.bytes, 6);
	ck_assert_mem_eq(in.bytes + 12, out.bytes + 12, 988);
	ck_assert_uint_eq(in.frame.hdr.flags, VIRTIO_NET_HDR_F_NEEDS_CSUM);
	ck_assert(!recv_one(port, 0, make(&in, BUF_BYTES)));
	ck_assert(!port->ops->has_frames(port, 0));
	port_close(port);
}
END_TEST

START_TEST(an_echo_holds_a_bounded_number_of_bytes)
{
	struct port *port = open_port(PORT_ECHO, 1);
	unsigned held = 0;
	struct buffer b;

	while (send_one(port, 0, make(&b, 4000)))
		ck_assert_uint_lt(++held, 100);
	ck_assert_uint_ge(held, 60);
	for (; held; held--)
		ck_assert(recv_one(port, 0, make(&b, BUF_BYTES)));
	ck_assert(!recv_one(port, 0, make(&b, BUF_BYTES)));
	ck_assert(send_one(port, 0, make(&b, 4000)));
	port_close(port);
}
END_TEST

START_TEST(an_echo_keeps_order_and_bytes_over_many_turns_of_its_ring)
{
	struct port *port = open_port(PORT_ECHO, 1);
	uint64_t sent = 0, got = 0, state = 1;
	struct buffer b;

	while (got < 5000) {
		size_t len;

		state = state * 6364136223846793005ULL + 1;
		len = 60 + (state >> 33) % 4000;
		make(&b, len);
		load_frame_fill(b.bytes, len, sent);
		if (send_one(port, 0, &b.frame)) {
			sent++;
			if (state >> 63)
				continue;
		}
		ck_assert(recv_one(port, 0, make(&b, BUF_BYTES)));
		ck_assert(load_frame_check(b.bytes, b.frame.len));
		ck_assert_uint_eq(load_frame_seq(b.bytes), got);
		got++;
	}
	port_close(port);
}
END_TEST

/* ---- tap ---- */

static bool own_netns(void)
{
	if (!access("/dev/net/tun", R_OK | W_OK) &&
	    (!unshare(CLONE_NEWNET) || !unshare(CLONE_NEWUSER | CLONE_NEWNET)))
		return true;
	printf("skipped: no network namespace or no /dev/net/tun here\n");
	return false;
}

static void set_up(const char *name)
{
	struct ifreq ifr = {.ifr_flags = IFF_UP};
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	ck_assert_int_ge(s, 0);
	strcpy(ifr.ifr_name, name);
	ck_assert_int_eq(ioctl(s, SIOCSIFFLAGS, &ifr), 0);
	close(s);
}

static unsigned nr_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned nr = 0;

	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

START_TEST(a_tap_exists_from_open_to_close)
{
	struct port *port;
	unsigned before;

	if (!own_netns())
		return;
	before = nr_fds();
	port = open_port(PORT_TAP, (unsigned)_i);
	ck_assert_uint_ne(if_nametoindex("vif7.0"), 0);
	port_set_carrier(port, 1);
	port_close(port);
	ck_assert_uint_eq(if_nametoindex("vif7.0"), 0);
	ck_assert_uint_eq(nr_fds(), before);
}
END_TEST

START_TEST(a_taps_name_that_is_taken)
{
	struct port_params params = {.kind = PORT_TAP, .name = "lo", .nr_queues_max = 1};
	struct port *port, *other;

	if (!own_netns())
		return;
	ck_assert_int_lt(port_open(&params, &other), 0);
	port = open_port(PORT_TAP, 4);
	strcpy(params.name, "vif7.0");
	params.nr_queues_max = 4;
	ck_assert_int_eq(port_open(&params, &other), -EBUSY);
	port_close(port);
}
END_TEST

START_TEST(a_taps_queues_come_and_go)
{
	struct port *port;

	if (!own_netns())
		return;
	port = open_port(PORT_TAP, 256);
	ck_assert_int_eq(port_set_queues(port, 1, &features), 0);
	ck_assert_int_eq(port_set_queues(port, 8, &features), 0);
	ck_assert_int_eq(port_set_queues(port, 3, &features), 0);
	ck_assert_int_eq(port_set_queues(port, 256, &features), 0);
	ck_assert_int_ge(port->ops->queue_fd(port, 255), 0);
	port_close(port);
}
END_TEST

START_TEST(a_tap_never_blocks)
{
	struct port *port;
	struct buffer b;

	if (!own_netns())
		return;
	port = open_port(PORT_TAP, 1);
	ck_assert(!recv_one(port, 0, make(&b, BUF_BYTES)));
	ck_assert(!send_one(port, 0, make(&b, 60))); /* the device is down */
	set_up("vif7.0");
	ck_assert(send_one(port, 0, make(&b, 60)));
	while (recv_one(port, 0, make(&b, BUF_BYTES)))
		ck_assert_uint_ge(b.frame.len, 14);
	port_close(port);
}
END_TEST

/* Through the kernel and back: what goes to the wire of one tap comes from the wire of another. */
static void bridge_two(void)
{
	ck_assert_int_eq(system("ip link add br0 type bridge && ip link set br0 up &&"
				" ip link set vif7.0 master br0 up &&"
				" ip link set vif7.1 master br0 up"),
			 0);
}

/* The first frame of the load pattern; the kernel's own chatter (IPv6) is skipped. */
static bool recv_load(struct port *port, struct buffer *buffer)
{
	for (int tries = 0; tries < 2000; tries++) {
		if (recv_one(port, 0, make(buffer, BUF_BYTES)) &&
		    load_frame_check(buffer->bytes, buffer->frame.len))
			return true;
		usleep(1000);
	}
	return false;
}

START_TEST(frames_go_from_one_tap_to_another_over_a_bridge)
{
	struct port_params params = {.kind = PORT_TAP, .name = "vif7.1", .nr_queues_max = 1};
	struct port *one, *two;
	struct buffer out, in;

	if (!own_netns())
		return;
	one = open_port(PORT_TAP, 1);
	ck_assert_int_eq(port_open(&params, &two), 0);
	ck_assert_int_eq(port_set_queues(two, 1, &features), 0);
	bridge_two();
	for (unsigned i = 0; i < 200; i++) {
		make(&out, 600);
		memset(out.bytes, 0xff, 6);
		memcpy(out.bytes + 6, mac, 6);
		load_frame_fill(out.bytes, 600, i);
		if (!send_one(one, 0, &out.frame) || !recv_load(two, &in)) {
			usleep(10000); /* the bridge's port is not forwarding yet */
			continue;
		}
		ck_assert_uint_eq(load_frame_seq(in.bytes), i);
		ck_assert_uint_eq(in.frame.len, 600);
		break;
	}
	ck_assert_mem_eq(in.bytes + 6, mac, 6);

	/* A frame for the guest that waits while a new connection begins is not for that one. */
	load_frame_fill(out.bytes, 600, 1000);
	ck_assert(send_one(one, 0, &out.frame));
	usleep(20000);
	ck_assert_int_eq(port_set_queues(two, 1, &features), 0);
	load_frame_fill(out.bytes, 600, 1001);
	ck_assert(send_one(one, 0, &out.frame));
	ck_assert(recv_load(two, &in));
	ck_assert_uint_eq(load_frame_seq(in.bytes), 1001);
	port_close(one);
	port_close(two);
}
END_TEST

Suite *port_suite(void)
{
	Suite *suite = suite_create("ports");
	TCase *tcase = tcase_create("port");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, kinds_have_names);
	tcase_add_test(tcase, bad_parameters_are_refused);
	tcase_add_test(tcase, a_sink_takes_everything_and_has_nothing);
	tcase_add_test(tcase, a_source_has_frames_in_sequence_for_the_guest);
	tcase_add_test(tcase, an_echo_exchanges_the_addresses_and_nothing_else);
	tcase_add_test(tcase, an_echo_holds_a_bounded_number_of_bytes);
	tcase_add_test(tcase, an_echo_keeps_order_and_bytes_over_many_turns_of_its_ring);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("tap");
	tcase_set_timeout(tcase, 30);
	tcase_add_loop_test(tcase, a_tap_exists_from_open_to_close, 1, 3);
	tcase_add_test(tcase, a_taps_name_that_is_taken);
	tcase_add_test(tcase, a_taps_queues_come_and_go);
	tcase_add_test(tcase, a_tap_never_blocks);
	tcase_add_test(tcase, frames_go_from_one_tap_to_another_over_a_bridge);
	suite_add_tcase(suite, tcase);
	return suite;
}
