/* SPDX-License-Identifier: MIT */
/*
 * bench/team.c - threads that do the same at the same time.
 */
#include "tools/ggmlbackend-bench/team.h"

#include "tools/ggmlbackend-bench/clock.h"

#include "tools/common/tool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct member {
    struct team *team;
    pthread_t thread;
    int ith;
    double began, ended;
};

struct team {
    pthread_barrier_t gate;
    team_fn fn; /* NULL ends the threads */
    void *arg;
    int n;
    struct member members[];
};

/* The gate is passed twice a run: before the work, and after it. */
static void *
serve(void *arg)
{
    struct member *m = arg;
    struct team *team = m->team;

    for (;;) {
        pthread_barrier_wait(&team->gate);
        if (team->fn == NULL)
            return NULL;
        m->began = seconds_now();
        team->fn(team->arg, m->ith);
        m->ended = seconds_now();
        pthread_barrier_wait(&team->gate);
    }
}

/* Threads of which some cannot be started are left waiting: the program ends. */
struct team *
team_new(int n)
{
    struct team *team = calloc(1, sizeof(*team) +
                                      (size_t)n * sizeof(team->members[0]));

    if (team == NULL ||
        pthread_barrier_init(&team->gate, NULL, (unsigned)n + 1) != 0) {
        free(team);
        tool_error("no memory for %d threads", n);
        return NULL;
    }
    team->n = n;
    for (int i = 0; i < n; i++) {
        struct member *m = &team->members[i];

        m->team = team;
        m->ith = i;
        if (pthread_create(&m->thread, NULL, serve, m) != 0) {
            tool_error("%d threads cannot be started", n);
            return NULL;
        }
    }
    return team;
}

void
team_free(struct team *team)
{
    if (team == NULL)
        return;
    team->fn = NULL;
    pthread_barrier_wait(&team->gate);
    for (int i = 0; i < team->n; i++)
        pthread_join(team->members[i].thread, NULL);
    pthread_barrier_destroy(&team->gate);
    free(team);
}

double
team_run(struct team *team, team_fn fn, void *arg)
{
    double began, ended;

    team->fn = fn;
    team->arg = arg;
    pthread_barrier_wait(&team->gate);
    pthread_barrier_wait(&team->gate);
    began = team->members[0].began;
    ended = team->members[0].ended;
    for (int i = 1; i < team->n; i++) {
        const struct member *m = &team->members[i];

        began = m->began < began ? m->began : began;
        ended = m->ended > ended ? m->ended : ended;
    }
    return ended - began;
}
