/* SPDX-License-Identifier: MIT */
/*
 * test-connect.c: the frontend's handshake on an emulated machine, against a backend that is played
 * step by step.
 */
#include "test/unit/netfront/fake_backend.h"
#include "test/unit/netfront/tests.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define QUIET_USEC 100000 /* long enough for what must not happen */

static const struct netfront_params defaults = {
	.features = {.sg_tx = true, .sg_rx = true, .rx_notify = true, .split_evtchn = true},
	.close_msec = 300,
};
static struct fake_connection conn;
static unsigned pages_before, ports_before;

static void setup(void)
{
	machine_up();
	pages_before = machine_stat("shared_pages");
	ports_before = machine_stat("ports");
}

static void nothing_left(void)
{
	ck_assert_uint_eq(machine_stat("shared_pages"), pages_before);
	ck_assert_uint_eq(machine_stat("ports"), ports_before);
}

/* A frontend that is connected, with the rings mapped. */
static void connected(void)
{
	device_create(0, XenbusStateInitialising, XenbusStateInitWait);
	front_start(&defaults);
	front_wait(XenbusStateConnected);
	back_connect(&conn);
	back_state(0, XenbusStateConnected);
	ck_assert(back_event(&conn)); /* it kicks once it is live */
}

static void close_down(void)
{
	front_leave();
	front_wait(XenbusStateClosing);
	back_disconnect(&conn);
	back_state(0, XenbusStateClosing);
	front_wait(XenbusStateClosed);
	back_state(0, XenbusStateClosed);
	ck_assert_int_eq(front_end(), 0);
	nothing_left();
}

START_TEST(waits_for_the_device_and_for_init_wait)
{
	front_start(&defaults);
	usleep(QUIET_USEC);
	ck_assert(!front_has("state"));
	device_create(0, XenbusStateInitialising, XenbusStateInitialising);
	usleep(QUIET_USEC);
	ck_assert_int_eq(front_state(), XenbusStateInitialising);
	ck_assert(!front_has("tx-ring-ref"));
	back_state(0, XenbusStateInitWait);
	front_wait(XenbusStateConnected);
	front_leave();
	ck_assert_int_eq(front_end(), 0);
}
END_TEST

START_TEST(publishes_the_flat_layout_with_two_channels)
{
	connected();
	ck_assert(front_has("tx-ring-ref") && front_has("rx-ring-ref"));
	ck_assert_uint_ne(front_key("event-channel-tx"), front_key("event-channel-rx"));
	ck_assert(!front_has("event-channel") && !front_has("multi-queue-num-queues"));
	ck_assert_uint_eq(front_key("request-rx-copy"), 1);
	ck_assert_uint_eq(front_key("feature-rx-notify"), 1);
	ck_assert_uint_eq(front_key("feature-sg"), 1);
	ck_assert_uint_eq(front_key("feature-no-csum-offload"), 1);
	close_down();
}
END_TEST

START_TEST(plain_frontend_removes_what_an_earlier_one_left)
{
	struct netfront_params plain = {.close_msec = 300};

	device_create(0, XenbusStateInitialising, XenbusStateInitWait);
	ck_assert_int_eq(xenbus_printf(dom0, XBT_NULL, front_dir, "event-channel-tx", "3"), 0);
	ck_assert_int_eq(xenbus_printf(dom0, XBT_NULL, front_dir, "feature-sg", "1"), 0);
	ck_assert_int_eq(xenbus_printf(dom0, XBT_NULL, front_dir, "multi-queue-num-queues", "4"),
			 0);
	front_start(&plain);
	front_wait(XenbusStateConnected);
	ck_assert(front_has("event-channel"));
	ck_assert(!front_has("event-channel-tx") && !front_has("feature-sg"));
	ck_assert(!front_has("feature-rx-notify") && !front_has("multi-queue-num-queues"));
	front_leave();
	ck_assert_int_eq(front_end(), 0);
	nothing_left();
}
END_TEST

START_TEST(one_channel_unless_the_backend_offers_two)
{
	device_create(0, XenbusStateInitialising, XenbusStateInitialising);
	back_key(0, "feature-split-event-channels", "0");
	back_state(0, XenbusStateInitWait);
	front_start(&defaults);
	front_wait(XenbusStateConnected);
	ck_assert(front_has("event-channel") && !front_has("event-channel-tx"));
	front_leave();
	ck_assert_int_eq(front_end(), 0);
}
END_TEST

START_TEST(all_buffers_are_there_before_state_4)
{
	connected();
	ck_assert_uint_eq(conn.rx.sring->req_prod, NETFRONT_RING_SLOTS);
	ck_assert_uint_eq(conn.tx.sring->req_prod, 0);
	ck_assert_uint_eq(nr_link_up, 1);
	close_down();
	ck_assert_uint_eq(nr_link_down, 1);
}
END_TEST

START_TEST(follows_a_closing_backend_and_its_return)
{
	connected();
	back_disconnect(&conn);
	back_state(0, XenbusStateClosing);
	front_wait(XenbusStateClosed);
	nothing_left();
	back_state(0, XenbusStateClosed);
	usleep(QUIET_USEC);
	ck_assert_int_eq(front_state(), XenbusStateClosed);
	back_state(0, XenbusStateInitWait);
	front_wait(XenbusStateConnected);
	back_connect(&conn);
	back_state(0, XenbusStateConnected);
	ck_assert(back_event(&conn));
	close_down();
}
END_TEST

START_TEST(starts_over_when_the_backend_is_back_in_init_wait)
{
	char path[XENBUS_PATH_BYTES];

	connected();
	back_disconnect(&conn);
	/* A key that is there again says that all were written anew. */
	xenbus_path(path, "%s/request-rx-copy", front_dir);
	ck_assert(xs_rm(dom0, XBT_NULL, path));
	back_state(0, XenbusStateInitWait);
	for (int i = 0; i < 1000 && !front_has("request-rx-copy"); i++)
		usleep(5000);
	front_wait(XenbusStateConnected);
	ck_assert_uint_eq(nr_link_down, 1);
	back_connect(&conn);
	ck_assert_uint_eq(conn.rx.sring->req_prod, NETFRONT_RING_SLOTS);
	back_state(0, XenbusStateConnected);
	ck_assert(back_event(&conn));
	close_down();
}
END_TEST

START_TEST(writes_nothing_into_a_device_that_was_removed)
{
	connected();
	back_disconnect(&conn);
	device_remove();
	usleep(QUIET_USEC);
	ck_assert(!xenbus_exists(dom0, XBT_NULL, front_dir, NULL));
	nothing_left();
	device_create(0, XenbusStateInitialising, XenbusStateInitWait);
	front_wait(XenbusStateConnected);
	back_connect(&conn);
	back_state(0, XenbusStateConnected);
	ck_assert(back_event(&conn));
	close_down();
}
END_TEST

START_TEST(backend_directory_removed_closes_and_its_return_reconnects)
{
	connected();
	back_disconnect(&conn);
	ck_assert(xs_rm(dom0, XBT_NULL, back_dir[0]));
	front_wait(XenbusStateClosed);
	nothing_left();
	device_create(0, XenbusStateClosed, XenbusStateInitWait);
	front_wait(XenbusStateConnected);
	back_connect(&conn);
	back_state(0, XenbusStateConnected);
	close_down();
}
END_TEST

START_TEST(changes_over_to_another_backend)
{
	connected();
	back_disconnect(&conn);
	device_create(1, XenbusStateInitialising, XenbusStateInitWait);
	front_wait(XenbusStateConnected);
	back_connect(&conn);
	back_state(1, XenbusStateConnected);
	ck_assert(back_event(&conn));
	back_disconnect(&conn);
	front_leave();
	front_wait(XenbusStateClosing);
	back_state(1, XenbusStateClosed);
	ck_assert_int_eq(front_end(), 0);
	nothing_left();
}
END_TEST

START_TEST(brings_back_a_backend_that_an_earlier_frontend_left)
{
	device_create(0, XenbusStateConnected, XenbusStateConnected);
	front_start(&defaults);
	front_wait(XenbusStateClosing);
	back_state(0, XenbusStateClosing);
	front_wait(XenbusStateClosed);
	back_state(0, XenbusStateClosed);
	front_wait(XenbusStateInitialising);
	back_state(0, XenbusStateInitWait);
	front_wait(XenbusStateConnected);
	back_connect(&conn);
	back_state(0, XenbusStateConnected);
	close_down();
}
END_TEST

START_TEST(frames_are_delivered_and_events_taken)
{
	netif_rx_response_t *rsp;

	connected();
	for (uint16_t i = 0; i < 10; i++) {
		rsp = RING_GET_RESPONSE(&conn.rx, conn.rx.rsp_prod_pvt);
		*rsp = (netif_rx_response_t){.id = i, .status = 60};
		conn.rx.rsp_prod_pvt++;
	}
	RING_PUSH_RESPONSES(&conn.rx);
	xenevtchn_notify(conn.evtchn, (evtchn_port_t)conn.rx_port);
	for (int i = 0; i < 1000 && nr_delivered < 10; i++)
		usleep(5000);
	ck_assert_uint_eq(nr_delivered, 10);
	ck_assert_uint_eq(READ_ONCE(conn.rx.sring->req_prod), NETFRONT_RING_SLOTS + 10);
	close_down();
}
END_TEST

START_TEST(hostile_backend_loses_the_connection)
{
	connected();
	conn.tx.sring->rsp_prod = 77;
	xenevtchn_notify(conn.evtchn, (evtchn_port_t)conn.tx_port);
	front_wait(XenbusStateClosing);
	back_disconnect(&conn);
	back_state(0, XenbusStateClosing);
	front_wait(XenbusStateClosed);
	nothing_left();
	back_state(0, XenbusStateClosed);
	front_leave();
	ck_assert_int_eq(front_end(), 0);
}
END_TEST

START_TEST(leaves_although_the_backend_does_not_follow)
{
	connected();
	front_leave();
	ck_assert_int_eq(front_end(), 0);
	ck_assert_int_eq(front_state(), XenbusStateClosed);
	back_disconnect(&conn);
}
END_TEST

START_TEST(leaves_at_once_without_a_device)
{
	front_start(&defaults);
	usleep(QUIET_USEC);
	front_leave();
	ck_assert_int_eq(front_end(), 0);
}
END_TEST

START_TEST(gives_up_on_a_backend_that_never_comes)
{
	struct netfront_params params = defaults;

	params.wait_sec = 1;
	device_create(0, XenbusStateInitialising, XenbusStateInitialising);
	front_start(&params);
	ck_assert_int_eq(front_end(), -ETIMEDOUT);
	ck_assert_int_eq(front_state(), XenbusStateClosed);
	nothing_left();
}
END_TEST

START_TEST(bad_mac_is_an_error)
{
	device_create(0, XenbusStateInitialising, XenbusStateInitialising);
	ck_assert_int_eq(xenbus_printf(dom0, XBT_NULL, front_dir, "mac", "junk"), 0);
	back_state(0, XenbusStateInitWait);
	front_start(&defaults);
	ck_assert_int_eq(front_end(), -EINVAL);
	nothing_left();
}
END_TEST

TCase *case_connect(void)
{
	TCase *tc = tcase_create("connect");

	tcase_set_timeout(tc, 30);
	tcase_add_checked_fixture(tc, setup, machine_down);
	tcase_add_test(tc, waits_for_the_device_and_for_init_wait);
	tcase_add_test(tc, publishes_the_flat_layout_with_two_channels);
	tcase_add_test(tc, plain_frontend_removes_what_an_earlier_one_left);
	tcase_add_test(tc, one_channel_unless_the_backend_offers_two);
	tcase_add_test(tc, all_buffers_are_there_before_state_4);
	tcase_add_test(tc, follows_a_closing_backend_and_its_return);
	tcase_add_test(tc, starts_over_when_the_backend_is_back_in_init_wait);
	tcase_add_test(tc, writes_nothing_into_a_device_that_was_removed);
	tcase_add_test(tc, backend_directory_removed_closes_and_its_return_reconnects);
	tcase_add_test(tc, changes_over_to_another_backend);
	tcase_add_test(tc, brings_back_a_backend_that_an_earlier_frontend_left);
	tcase_add_test(tc, frames_are_delivered_and_events_taken);
	tcase_add_test(tc, hostile_backend_loses_the_connection);
	tcase_add_test(tc, leaves_although_the_backend_does_not_follow);
	tcase_add_test(tc, leaves_at_once_without_a_device);
	tcase_add_test(tc, gives_up_on_a_backend_that_never_comes);
	tcase_add_test(tc, bad_mac_is_an_error);
	return tc;
}
