/* SPDX-License-Identifier: MIT */
/*
 * cmd_network.h: the network sub-commands of xenemu, named and used like xl's. Each takes its own
 * name as argv[0] and returns the exit status: 0, 1, or 2 for wrong usage.
 */
#ifndef GRANT_CMD_NETWORK_H
#define GRANT_CMD_NETWORK_H

/** cmd_network_attach() - network-attach [--rundir DIR] DOMAIN [KEY=VALUE[,KEY=VALUE...]]... */
int cmd_network_attach(int argc, char **argv);

/** cmd_network_detach() - network-detach [--rundir DIR] [--force] DOMAIN HANDLE|MAC */
int cmd_network_detach(int argc, char **argv);

/** cmd_network_list() - network-list [--rundir DIR] [--json] [DOMAIN...] */
int cmd_network_list(int argc, char **argv);

#endif
