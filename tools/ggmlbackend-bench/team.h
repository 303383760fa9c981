/* SPDX-License-Identifier: MIT */
/*
 * bench/team.h - threads that do the same at the same time, for measuring the
 * machine without the library.
 */
#ifndef TOOLS_BENCH_TEAM_H
#define TOOLS_BENCH_TEAM_H

#include <stdbool.h>

/* What thread ITH does; all begin together. */
typedef void (*team_fn)(void *arg, int ith);

struct team;

/* N threads that sleep until there is work; NULL after a message. */
struct team *team_new(int n);
void team_free(struct team *team);

/* Seconds from the first one's begin to the last one's end. */
double team_run(struct team *team, team_fn fn, void *arg);

#endif
