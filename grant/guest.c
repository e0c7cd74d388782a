/* SPDX-License-Identifier: MIT */
/* guest.c: a guest's own memory as a whole, for tests and hostile frontends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "grant/client.h"
#include "grant/xenemu.h"

int xenemu_guest_open(struct xenemu_guest *guest)
{
	struct client *client = calloc(1, sizeof(*client));
	struct client_fds fds;
	struct hv_msg msg;
	void *memory;
	int err;

	if (!client)
		return -ENOMEM;
	memset(guest, 0, sizeof(*guest));
	err = client_open(client, HV_KIND_GNTSHR, NULL, client_restrict, &msg, &fds);
	if (err) {
		free(client);
		return err;
	}
	guest->nr_entries = msg.u.open.nr_entries;
	guest->nr_frames = msg.u.open.nr_frames;
	guest->domid = client->domid;
	memory = mmap(NULL, hv_memory_bytes(guest->nr_entries, guest->nr_frames),
		      PROT_READ | PROT_WRITE, MAP_SHARED, fds.fd[0], 0);
	client_close_fds(&fds);
	if (memory == MAP_FAILED) {
		client_close(client);
		free(client);
		return -ENOMEM;
	}
	guest->table = memory;
	guest->frames = (uint8_t *)memory + hv_table_bytes(guest->nr_entries);
	guest->handle = client;
	return 0;
}

void xenemu_guest_close(struct xenemu_guest *guest)
{
	if (!guest->handle)
		return;
	munmap(guest->table, hv_memory_bytes(guest->nr_entries, guest->nr_frames));
	client_close(guest->handle);
	free(guest->handle);
	memset(guest, 0, sizeof(*guest));
}
