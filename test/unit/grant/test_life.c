/* SPDX-License-Identifier: MIT */
/* Machines, domains and handles: birth, death, limits, hostile clients, nothing left behind. */
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "grant/hypercall.h"
#include "test/unit/grant/fixture.h"

START_TEST(names_and_numbers)
{
	static const char *const bad[] = {
		"",    "1guest",
		"a/b", "a b",
		"a\n", "0123456789012345678901234567890123456789012345678901234567890123"};
	struct xenemu_domain_info info;
	domid_t domid;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_int_eq(xenemu_domain_create(control, bad[i], false, &domid), -EINVAL);
	ck_assert_int_eq(xenemu_domain_create(control, "guest", false, &domid), -EEXIST);
	ck_assert_int_eq(xenemu_domain_find(control, "other", &info), 0);
	ck_assert_uint_eq(info.domid, other);
	ck_assert_int_eq(xenemu_domain_find(control, "0", &info), 0);
	ck_assert_str_eq(info.name, "Domain-0");
	ck_assert_int_eq(xenemu_domain_find(control, "77", &info), -ESRCH);
	ck_assert_int_eq(xenemu_domain_destroy(control, 0), -EPERM);
	ck_assert_int_eq(xenemu_domain_destroy(control, 77), -ESRCH);
}
END_TEST

START_TEST(a_number_is_not_used_again_at_once)
{
	domid_t domid;

	ck_assert_int_eq(xenemu_domain_destroy(control, other), 0);
	ck_assert_int_eq(xenemu_domain_create(control, "other", false, &domid), 0);
	ck_assert_uint_eq(domid, other + 1U);
}
END_TEST

START_TEST(second_machine_in_the_directory)
{
	struct event_base *base = event_base_new();
	struct xenemu_machine *machine;

	ck_assert_int_eq(xenemu_machine_new(base, rundir, NULL, &machine), -EALREADY);
	ck_assert_int_eq(xenemu_machine_new(base, "/nonexistent/dir", NULL, &machine), -ENOENT);
	event_base_free(base);
	/* and the first one still answers */
	ck_assert_uint_eq(stat_of("domains"), 3);
}
END_TEST

/* A child makes a domain of its own; the machine reports its end. */
START_TEST(domain_dies_with_its_process)
{
	struct xenemu_domain_info info;
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct xenemu_control *own;
		domid_t domid;

		if (xenemu_control_open(rundir, &own) ||
		    xenemu_domain_create(own, "brief", true, &domid) ||
		    xenemu_domain_unpause(own, domid))
			_exit(1);
		pause();
	}
	while (xenemu_domain_find(control, "brief", &info))
		usleep(1000);
	ck_assert_int_eq(info.pid, pid);
	if (_i)
		kill(pid, SIGKILL);
	else
		ck_assert_int_eq(xenemu_domain_destroy(control, info.domid), 0);
	ck_assert_int_eq(xenemu_domain_wait(control, info.domid), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	ck_assert_int_eq(xenemu_domain_find(control, "brief", &info), -ESRCH);
}
END_TEST

static int raw_connect(domid_t domid)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/dom%u/hypervisor.sock", rundir, domid);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

START_TEST(guests_have_no_control)
{
	struct hv_msg msg = {.op = HV_OPEN, .u.open = {.kind = HV_KIND_CONTROL}};
	int fd = raw_connect(guest);

	ck_assert_int_gt(send(fd, &msg, HV_MSG_BYTES(0), 0), 0);
	ck_assert_int_gt(recv(fd, &msg, sizeof(msg), 0), 0);
	ck_assert_int_eq(msg.status, -EPERM);
	close(fd);
}
END_TEST

/* Each of these ends its own connection and nothing else. */
START_TEST(malformed_requests)
{
	static const struct {
		uint32_t op, kind, nr;
		size_t len;
	} rows[] = {
		{HV_OPEN, HV_KIND_GNTTAB, 0, 3},
		{HV_OPEN, HV_KIND_GNTTAB, 0, HV_MSG_BYTES(1)},
		{HV_OPEN, HV_KIND_GNTTAB, 1, HV_MSG_BYTES(0)},
		{HV_OPEN, HV_KIND_GNTTAB, UINT32_MAX, HV_MSG_BYTES(HV_MAX_PAIRS)},
		{HV_OPEN, HV_KIND_GNTTAB, HV_MAX_PAIRS, HV_MSG_BYTES(HV_MAX_PAIRS) + 8},
		{HV_NR_OPS, 0, 0, HV_MSG_BYTES(0)},
		{UINT32_MAX, 0, 0, HV_MSG_BYTES(0)},
		{HV_GNTTAB_MAP, 0, 0, HV_MSG_BYTES(0)}, /* before HV_OPEN */
	};
	static union {
		struct hv_msg msg;
		char bytes[sizeof(struct hv_msg) + 64];
	} buf;
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/dom%u/hypervisor.sock", rundir, guest);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

		ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
		memset(&buf, 0, sizeof(buf));
		buf.msg.op = rows[i].op;
		buf.msg.u.open.kind = rows[i].kind;
		buf.msg.nr = rows[i].nr;
		ck_assert_int_eq(send(fd, &buf, rows[i].len, 0), (ssize_t)rows[i].len);
		ck_assert_int_eq(recv(fd, &buf, sizeof(buf), 0), 0);
		close(fd);
	}
	ck_assert_uint_eq(stat_of("domains"), 3);
}
END_TEST

static uint32_t odd_number(void)
{
	static const uint32_t favourites[] = {0, 1, 2, 3, 8, 4095, 4096, 32768, 0x7ff0, UINT32_MAX};

	return rand() % 4 ? favourites[(unsigned)rand() % ARRAY_SIZE(favourites)]
			  : (uint32_t)rand();
}

static void odd_request(struct hv_msg *msg)
{
	uint32_t *words = (uint32_t *)(void *)&msg->u;

	msg->op = (uint32_t)rand() % (HV_NR_OPS + 1);
	for (size_t i = 0; i < sizeof(msg->u) / sizeof(*words); i++)
		words[i] = odd_number();
	msg->nr = (uint32_t)rand() % 4;
	for (uint32_t i = 0; i < msg->nr; i++)
		msg->pairs[i] = (struct hv_pair){odd_number(), odd_number()};
}

/* Requests that make no sense, of handles of every kind of a guest that means ill. */
START_TEST(random_requests)
{
	uint32_t kind = (uint32_t)_i;
	static struct hv_msg msg;
	unsigned nr_answered = 0;
	int fd = -1;

	srand((unsigned)_i);
	for (unsigned i = 0; i < 4000; i++) {
		if (fd < 0) {
			fd = raw_connect(guest);
			memset(&msg, 0, HV_MSG_BYTES(0));
			msg.op = HV_OPEN;
			msg.u.open.kind = kind;
		} else {
			odd_request(&msg);
		}
		if (send(fd, &msg, HV_MSG_BYTES(msg.nr), MSG_NOSIGNAL) < 0 ||
		    recv(fd, &msg, sizeof(msg), 0) <= 0) {
			close(fd);
			fd = -1;
			continue;
		}
		nr_answered++;
	}
	close(fd);
	ck_assert_uint_gt(nr_answered, 500);
	wait_stat("connections", 1);
	ck_assert_uint_eq(stat_of("domains"), 3);
	ck_assert_uint_eq(stat_of("ports") + stat_of("pins") + stat_of("shared_pages"), 0);
	wait_stat("quarantined_pages", 0);
}
END_TEST

START_TEST(memory_cannot_be_shrunk_by_its_guest)
{
	struct hv_msg msg = {.op = HV_OPEN, .u.open = {.kind = HV_KIND_GNTSHR}};
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	char cbuf[CMSG_SPACE(4 * sizeof(int))];
	struct iovec iov = {&msg, sizeof(msg)};
	struct msghdr hdr = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = cbuf,
			     .msg_controllen = sizeof(cbuf)};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), fds[2];

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/dom%u/hypervisor.sock", rundir, guest);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_int_gt(send(fd, &msg, HV_MSG_BYTES(0), 0), 0);
	ck_assert_int_gt(recvmsg(fd, &hdr, 0), 0);
	ck_assert_int_eq(msg.status, 0);
	ck_assert_uint_eq(CMSG_FIRSTHDR(&hdr)->cmsg_len, CMSG_LEN(sizeof(fds)));
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&hdr)), sizeof(fds));
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(ftruncate(fds[i], 0), -1);
		ck_assert_int_eq(errno, EPERM);
	}
	/* and nobody can write the machine's page */
	ck_assert_ptr_eq(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0),
			 MAP_FAILED);
	ck_assert_int_eq(pwrite(fds[0], "x", 1, 0), -1);
	close(fds[0]);
	close(fds[1]);
	close(fd);
}
END_TEST

START_TEST(handles_opened_and_closed_a_thousand_times)
{
	uint32_t ref, before = 0;
	unsigned fds = 0;

	for (unsigned i = 0; i < 1010; i++) {
		xengntshr_handle *shr = gntshr_of(guest);
		xengnttab_handle *tab = gnttab_of(0);
		xenevtchn_handle *front = evtchn_of(guest), *back = evtchn_of(0);
		int port = xenevtchn_bind_unbound_port(front, 0);
		char *page = xengntshr_share_pages(shr, 0, 1, &ref, 1), buf[8];

		ck_assert_int_gt(xenevtchn_bind_interdomain(back, guest, (evtchn_port_t)port), 0);
		ck_assert_ptr_nonnull(page);
		ck_assert_int_eq(copy_status(tab, guest, ref, 0, buf, 8, false), GNTST_okay);
		ck_assert_ptr_nonnull(xengnttab_map_grant_ref(tab, guest, ref, PROT_READ));
		/* the owner first, the user first */
		if (i % 2)
			xengntshr_close(shr);
		xengnttab_close(tab);
		if (!(i % 2))
			xengntshr_close(shr);
		xenevtchn_close(front);
		xenevtchn_close(back);
		if (i == 9) {
			fds = open_fds();
			before = stat_of("connections");
		}
	}
	ck_assert_uint_eq(open_fds(), fds);
	ck_assert_uint_eq(stat_of("connections"), before);
	ck_assert_uint_eq(stat_of("ports") + stat_of("pins") + stat_of("map_groups"), 0);
	ck_assert_uint_eq(stat_of("shared_pages"), 0);
	wait_stat("quarantined_pages", 0);
}
END_TEST

static long resident_pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long size, resident = -1;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%ld %ld", &size, &resident), 2);
	fclose(file);
	return resident;
}

START_TEST(domains_made_and_destroyed_a_thousand_times)
{
	unsigned fds = 0;
	long resident = 0;
	domid_t domid;

	for (unsigned i = 0; i < 1010; i++) {
		ck_assert_int_eq(xenemu_domain_create(control, "brief", false, &domid), 0);
		ck_assert_int_eq(xenemu_domain_destroy(control, domid), 0);
		if (i == 9) {
			fds = open_fds();
			resident = resident_pages();
		}
	}
	ck_assert_uint_eq(open_fds(), fds);
	ck_assert_uint_eq(stat_of("domains"), 3);
	ck_assert_uint_eq(stat_of("dying"), 0);
#ifndef __SANITIZE_ADDRESS__
	ck_assert_int_lt(resident_pages() - resident, 256);
#else
	(void)resident;
#endif
}
END_TEST

START_TEST(no_machine_and_no_domain)
{
	struct xenemu_control *none;

	ck_assert_int_eq(xenemu_control_open("/nonexistent", &none), -ENOENT);
	ck_assert_int_eq(xenemu_enter("/nonexistent", DOMID_SELF), -EINVAL);
}
END_TEST

TCase *tcase_life(void)
{
	TCase *tc = tcase_create("life");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, machine_setup, machine_teardown);
	tcase_add_test(tc, names_and_numbers);
	tcase_add_test(tc, a_number_is_not_used_again_at_once);
	tcase_add_test(tc, second_machine_in_the_directory);
	tcase_add_loop_test(tc, domain_dies_with_its_process, 0, 2);
	tcase_add_test(tc, guests_have_no_control);
	tcase_add_test(tc, malformed_requests);
	tcase_add_loop_test(tc, random_requests, HV_KIND_GNTTAB, HV_KIND_CONTROL);
	tcase_add_test(tc, memory_cannot_be_shrunk_by_its_guest);
	tcase_add_test(tc, handles_opened_and_closed_a_thousand_times);
	tcase_add_test(tc, domains_made_and_destroyed_a_thousand_times);
	tcase_add_test(tc, no_machine_and_no_domain);
	return tc;
}
