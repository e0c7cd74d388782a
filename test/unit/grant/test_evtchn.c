/* SPDX-License-Identifier: MIT */
/* Event channels: the life cycle as a table of steps, masking, and who may do what. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xentoolcore.h>

#include "test/unit/grant/fixture.h"

static xenevtchn_handle *front, *back;

static void setup(void)
{
	machine_setup();
	front = evtchn_of(guest);
	back = evtchn_of(0);
}

static void teardown(void)
{
	xenevtchn_close(front);
	xenevtchn_close(back);
	machine_teardown();
}

/* The port of an event that is there, unmasked again; 0: none. */
static int take(xenevtchn_handle *xce)
{
	int port;

	if (!pending(xce, 0))
		return 0;
	port = xenevtchn_pending(xce);
	ck_assert_int_gt(port, 0);
	ck_assert_int_eq(xenevtchn_unmask(xce, (evtchn_port_t)port), 0);
	return port;
}

/*
 * Steps of the two ends. Alloc, bind, close; send; see (an event is there and is taken); none (no
 * event is there). A step that is to fail names its errno.
 */
enum step_kind {
	END,
	F_ALLOC,
	B_BIND,
	F_CLOSE,
	B_CLOSE,
	F_SEND,
	B_SEND,
	F_SEE,
	B_SEE,
	F_NONE,
	B_NONE
};

struct step {
	enum step_kind kind;
	int err;
};

static const struct {
	const char *name;
	struct step steps[16];
} cycles[] = {
	{"bind makes the binder's port pending, not the allocator's",
	 {{F_ALLOC, 0}, {B_BIND, 0}, {B_SEE, 0}, {B_NONE, 0}, {F_NONE, 0}}},
	{"each end wakes the other",
	 {{F_ALLOC, 0},
	  {B_BIND, 0},
	  {B_SEE, 0},
	  {F_SEND, 0},
	  {B_SEE, 0},
	  {F_NONE, 0},
	  {B_SEND, 0},
	  {F_SEE, 0},
	  {B_NONE, 0}}},
	{"many sends are one event",
	 {{F_ALLOC, 0},
	  {B_BIND, 0},
	  {B_SEE, 0},
	  {F_SEND, 0},
	  {F_SEND, 0},
	  {F_SEND, 0},
	  {B_SEE, 0},
	  {B_NONE, 0}}},
	{"sending to an unbound port is silently dropped",
	 {{F_ALLOC, 0}, {F_SEND, 0}, {F_NONE, 0}, {B_BIND, 0}, {B_SEE, 0}, {B_NONE, 0}}},
	{"a bound port cannot be bound again", {{F_ALLOC, 0}, {B_BIND, 0}, {B_BIND, EINVAL}}},
	{"a closed port cannot be bound", {{F_ALLOC, 0}, {F_CLOSE, 0}, {B_BIND, EINVAL}}},
	{"when the binder closes, the port can be bound again",
	 {{F_ALLOC, 0},
	  {B_BIND, 0},
	  {B_SEE, 0},
	  {B_CLOSE, 0},
	  {F_SEND, 0},
	  {F_NONE, 0},
	  {B_BIND, 0},
	  {B_SEE, 0},
	  {F_SEND, 0},
	  {B_SEE, 0},
	  {B_SEND, 0},
	  {F_SEE, 0}}},
	{"when the allocator closes, the binder's port stays and its sends are dropped",
	 {{F_ALLOC, 0},
	  {B_BIND, 0},
	  {B_SEE, 0},
	  {F_CLOSE, 0},
	  {B_SEND, 0},
	  {B_NONE, 0},
	  {B_CLOSE, 0}}},
	{"a closed port cannot be used",
	 {{F_ALLOC, 0}, {F_CLOSE, 0}, {F_SEND, ENOTCONN}, {F_CLOSE, ENOTCONN}}},
};

static int do_step(enum step_kind kind, int *fp, int *bp)
{
	switch (kind) {
	case F_ALLOC:
		return *fp = xenevtchn_bind_unbound_port(front, 0);
	case B_BIND: {
		int port = xenevtchn_bind_interdomain(back, guest, (evtchn_port_t)*fp);

		if (port > 0)
			*bp = port;
		return port;
	}
	case F_CLOSE:
		return xenevtchn_unbind(front, (evtchn_port_t)*fp);
	case B_CLOSE:
		return xenevtchn_unbind(back, (evtchn_port_t)*bp);
	case F_SEND:
		return xenevtchn_notify(front, (evtchn_port_t)*fp);
	case B_SEND:
		return xenevtchn_notify(back, (evtchn_port_t)*bp);
	case F_SEE:
		return take(front) == *fp ? 0 : -1;
	case B_SEE:
		return take(back) == *bp ? 0 : -1;
	case F_NONE:
		return take(front) ? -1 : 0;
	case B_NONE:
		return take(back) ? -1 : 0;
	case END:
		break;
	}
	return 0;
}

START_TEST(life_cycle)
{
	int fp = 0, bp = 0;

	for (unsigned i = 0; cycles[_i].steps[i].kind != END; i++) {
		const struct step *step = &cycles[_i].steps[i];
		int ret;

		errno = 0;
		ret = do_step(step->kind, &fp, &bp);
		ck_assert_msg(step->err ? ret < 0 && errno == step->err : ret >= 0,
			      "%s: step %u: returned %d, errno %d", cycles[_i].name, i, ret, errno);
	}
	xenevtchn_close(front);
	xenevtchn_close(back);
	ck_assert_uint_eq(stat_of("ports"), 0);
	front = evtchn_of(guest);
	back = evtchn_of(0);
}
END_TEST

static void connect_ends(int *fp, int *bp)
{
	*fp = xenevtchn_bind_unbound_port(front, 0);
	ck_assert_int_gt(*fp, 0);
	*bp = xenevtchn_bind_interdomain(back, guest, (evtchn_port_t)*fp);
	ck_assert_int_gt(*bp, 0);
	ck_assert_int_eq(take(back), *bp);
}

START_TEST(masked_until_unmasked)
{
	int fp, bp;

	connect_ends(&fp, &bp);
	xenevtchn_notify(front, (evtchn_port_t)fp);
	ck_assert_int_eq(xenevtchn_pending(back), bp);
	xenevtchn_notify(front, (evtchn_port_t)fp);
	ck_assert(!pending(back, 20));
	/* unmask raises what came meanwhile, once */
	ck_assert_int_eq(xenevtchn_unmask(back, (evtchn_port_t)bp), 0);
	ck_assert(pending(back, 1000));
	ck_assert_int_eq(xenevtchn_pending(back), bp);
	xenevtchn_unmask(back, (evtchn_port_t)bp);
	ck_assert(!pending(back, 20));
	ck_assert_int_eq(xenevtchn_unmask(back, 4000), 0);
	ck_assert_int_eq(xenevtchn_unmask(back, (evtchn_port_t)bp), 0);
	ck_assert(!pending(back, 0));
}
END_TEST

START_TEST(pending_blocks_unless_told_not_to)
{
	int fp, bp, flags = fcntl(xenevtchn_fd(back), F_GETFL);
	pid_t pid;

	connect_ends(&fp, &bp);
	ck_assert_int_eq(fcntl(xenevtchn_fd(back), F_SETFL, flags | O_NONBLOCK), 0);
	errno = 0;
	ck_assert_int_eq(xenevtchn_pending(back), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(fcntl(xenevtchn_fd(back), F_SETFL, flags), 0);
	pid = fork();
	if (!pid) {
		usleep(50000);
		xenevtchn_notify(front, (evtchn_port_t)fp);
		_exit(0);
	}
	ck_assert_int_eq(xenevtchn_pending(back), bp);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

/* Fill every descriptor from @first on that takes anything, and have writes to it block. */
static void spoil_descriptors(int first)
{
	const uint64_t most = UINT64_MAX - 1; /* of an eventfd; of a pipe, eight bytes */

	for (int fd = first; fd < first + 64; fd++) {
		int flags = fcntl(fd, F_GETFL);

		if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
			continue;
		while (write(fd, &most, sizeof(most)) > 0)
			;
		fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	}
}

/*
 * A guest does its worst to the descriptors it was given, once before and once after its channel is
 * bound. Neither the machine, which makes a new binder's port pending, nor the peer may wait.
 */
START_TEST(descriptors_of_one_end_cannot_stop_the_other)
{
	int go[2], port, first, bp;
	pid_t pid;

	ck_assert_int_eq(pipe(go), 0);
	pid = fork();
	if (!pid) {
		xenevtchn_handle *xce = evtchn_of(guest);

		first = dup(go[0]); /* what is opened later is above, or in a gap below */
		port = xenevtchn_bind_unbound_port(xce, 0);
		spoil_descriptors(first + 1);
		if (write(go[1], &port, sizeof(port)) == sizeof(port))
			pause();
		_exit(1);
	}
	ck_assert_int_eq(read(go[0], &port, sizeof(port)), sizeof(port));
	ck_assert_int_gt(port, 0);
	bp = xenevtchn_bind_interdomain(back, guest, (evtchn_port_t)port);
	ck_assert_int_gt(bp, 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(xenevtchn_notify(back, (evtchn_port_t)bp), 0);
		take(back);
	}
	ck_assert_uint_eq(stat_of("ports"), 2);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(go[0]);
	close(go[1]);
}
END_TEST

START_TEST(only_the_allowed_domain_may_bind)
{
	xenevtchn_handle *third = evtchn_of(other);
	int port = xenevtchn_bind_unbound_port(front, 0);

	ck_assert_int_eq(xenevtchn_bind_interdomain(third, guest, (evtchn_port_t)port), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(xenevtchn_bind_interdomain(back, 99, (evtchn_port_t)port), -1);
	ck_assert_int_eq(errno, ESRCH);
	ck_assert_int_eq(xenevtchn_bind_interdomain(back, guest, 0), -1);
	ck_assert_int_eq(xenevtchn_bind_interdomain(back, guest, UINT32_MAX), -1);
	ck_assert_int_eq(errno, EINVAL);
	xenevtchn_close(third);
}
END_TEST

START_TEST(port_belongs_to_its_handle)
{
	xenevtchn_handle *second = evtchn_of(guest);
	int fp, bp;

	connect_ends(&fp, &bp);
	ck_assert_int_eq(xenevtchn_notify(second, (evtchn_port_t)fp), -1);
	ck_assert_int_eq(errno, ENOTCONN);
	ck_assert_int_eq(xenevtchn_unbind(second, (evtchn_port_t)fp), -1);
	ck_assert_int_eq(errno, ENOTCONN);
	xenevtchn_close(second);
	ck_assert_int_eq(xenevtchn_notify(front, (evtchn_port_t)fp), 0);
	ck_assert_int_eq(take(back), bp);
}
END_TEST

START_TEST(loopback)
{
	int a = xenevtchn_bind_unbound_port(front, DOMID_SELF);
	int b = xenevtchn_bind_interdomain(front, DOMID_SELF, (evtchn_port_t)a);

	ck_assert_int_gt(a, 0);
	ck_assert_int_gt(b, 0);
	ck_assert_int_eq(take(front), b);
	xenevtchn_notify(front, (evtchn_port_t)b);
	ck_assert_int_eq(take(front), a);
	xenevtchn_notify(front, (evtchn_port_t)a);
	ck_assert_int_eq(take(front), b);
}
END_TEST

START_TEST(port_limit)
{
	int port, nr = 0;

	while ((port = xenevtchn_bind_unbound_port(front, 0)) > 0)
		nr++;
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_int_eq(nr, 4095);
	ck_assert_int_eq(xenevtchn_unbind(front, 17), 0);
	ck_assert_int_eq(xenevtchn_bind_unbound_port(front, 0), 17);
}
END_TEST

START_TEST(killed_end_can_be_bound_again)
{
	int port = xenevtchn_bind_unbound_port(front, 0), fd[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(fd), 0);
	pid = fork();
	if (!pid) {
		xenevtchn_handle *xce = evtchn_of(0);

		if (xenevtchn_bind_interdomain(xce, guest, (evtchn_port_t)port) > 0 &&
		    write(fd[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	ck_assert_int_eq(read(fd[0], &byte, 1), 1);
	ck_assert_int_eq(xenevtchn_bind_interdomain(back, guest, (evtchn_port_t)port), -1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	wait_stat("ports", 1);
	ck_assert_int_gt(xenevtchn_bind_interdomain(back, guest, (evtchn_port_t)port), 0);
	ck_assert(take(back) > 0);
	xenevtchn_notify(front, (evtchn_port_t)port);
	ck_assert(take(back) > 0);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

START_TEST(dead_domain_leaves_the_peer_unbound)
{
	int fp, bp;

	connect_ends(&fp, &bp);
	ck_assert_int_eq(xenemu_domain_destroy(control, guest), 0);
	ck_assert_int_eq(xenevtchn_notify(back, (evtchn_port_t)bp), 0);
	ck_assert_uint_eq(stat_of("ports"), 1);
	ck_assert_int_eq(xenevtchn_bind_interdomain(back, guest, (evtchn_port_t)fp), -1);
	ck_assert_int_eq(errno, ESRCH);
	ck_assert_int_eq(xenevtchn_bind_unbound_port(front, 0), -1);
	ck_assert_int_eq(xenevtchn_unbind(back, (evtchn_port_t)bp), 0);
}
END_TEST

START_TEST(restricted_handle)
{
	int port = xenevtchn_bind_unbound_port(front, 0);

	ck_assert_int_eq(xenevtchn_restrict(back, 0), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(xenevtchn_restrict(back, guest), 0);
	ck_assert_int_eq(xenevtchn_restrict(back, guest), -1);
	ck_assert_int_eq(errno, EACCES);
	ck_assert_int_eq(xenevtchn_bind_unbound_port(back, guest), -1);
	ck_assert_int_eq(errno, EACCES);
	ck_assert_int_eq(xenevtchn_bind_virq(back, VIRQ_DOM_EXC), -1);
	ck_assert_int_eq(xenevtchn_bind_interdomain(back, other, 1), -1);
	ck_assert_int_eq(errno, EACCES);
	ck_assert_int_gt(xenevtchn_bind_interdomain(back, guest, (evtchn_port_t)port), 0);
}
END_TEST

START_TEST(virq_of_a_domains_death)
{
	int port = xenevtchn_bind_virq(back, VIRQ_DOM_EXC);

	ck_assert_int_gt(port, 0);
	ck_assert_int_eq(xenevtchn_bind_virq(back, VIRQ_DOM_EXC), -1);
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_int_eq(xenevtchn_bind_virq(back, NR_VIRQS), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert(!pending(back, 0));
	ck_assert_int_eq(xenemu_domain_destroy(control, other), 0);
	ck_assert_int_eq(take(back), port);
}
END_TEST

START_TEST(what_is_not_supported)
{
	xengnttab_handle *tab = gnttab_of(0);
	uint32_t number = 0;

	errno = 0;
	ck_assert_ptr_null(xenevtchn_fdopen(NULL, 0, 0));
	ck_assert_int_eq(errno, ENOSYS);
	ck_assert_ptr_null(xenevtchn_open(NULL, 0x100));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(xengnttab_dmabuf_exp_from_refs(tab, guest, 0, 1, &number, &number), -1);
	ck_assert_int_eq(errno, ENOTTY);
	ck_assert_int_eq(xengnttab_dmabuf_imp_release(tab, 0), -1);
	xengnttab_close(tab);
}
END_TEST

START_TEST(all_handles_restricted)
{
	xengnttab_handle *tab = gnttab_of(0);

	ck_assert_int_eq(xentoolcore_restrict_all(guest), 0);
	ck_assert_ptr_null(xengnttab_map_grant_ref(tab, guest, 8, 1));
	ck_assert_int_eq(errno, EACCES);
	ck_assert_int_eq(xengnttab_grant_copy(tab, 0, NULL), -1);
	ck_assert_int_eq(errno, EACCES);
	ck_assert_int_eq(xenevtchn_bind_unbound_port(back, other), -1);
	ck_assert_int_eq(errno, EACCES);
	xengnttab_close(tab);
	/* those opened later are not */
	tab = gnttab_of(0);
	ck_assert_int_eq(xengnttab_grant_copy(tab, 0, NULL), 0);
	xengnttab_close(tab);
}
END_TEST

START_TEST(lost_and_spurious_events)
{
	unsigned seen = 0;
	int fp, bp;

	connect_ends(&fp, &bp);
	ck_assert_int_eq(xenemu_set_fault(control, "event-lost", 2), 0);
	for (unsigned i = 0; i < 10; i++) {
		ck_assert_int_eq(xenevtchn_notify(front, (evtchn_port_t)fp), 0);
		seen += take(back) == bp;
	}
	ck_assert_uint_eq(seen, 5);
	ck_assert_int_eq(xenemu_set_fault(control, "event-lost", 0), 0);
	ck_assert_int_eq(xenemu_set_fault(control, "event-spurious", 5), 0);
	ck_assert(pending(back, 1000));
	ck_assert(pending(front, 1000));
	ck_assert_int_eq(xenemu_set_fault(control, "event-spurious", 0), 0);
}
END_TEST

TCase *tcase_evtchn(void)
{
	TCase *tc = tcase_create("evtchn");

	tcase_set_timeout(tc, 30);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, life_cycle, 0, ARRAY_SIZE(cycles));
	tcase_add_test(tc, masked_until_unmasked);
	tcase_add_test(tc, pending_blocks_unless_told_not_to);
	tcase_add_test(tc, descriptors_of_one_end_cannot_stop_the_other);
	tcase_add_test(tc, only_the_allowed_domain_may_bind);
	tcase_add_test(tc, port_belongs_to_its_handle);
	tcase_add_test(tc, loopback);
	tcase_add_test(tc, port_limit);
	tcase_add_test(tc, killed_end_can_be_bound_again);
	tcase_add_test(tc, dead_domain_leaves_the_peer_unbound);
	tcase_add_test(tc, restricted_handle);
	tcase_add_test(tc, virq_of_a_domains_death);
	tcase_add_test(tc, what_is_not_supported);
	tcase_add_test(tc, all_handles_restricted);
	tcase_add_test(tc, lost_and_spurious_events);
	return tc;
}
