/* SPDX-License-Identifier: MIT */
/*
 * bench/machine.h - the limits of this machine, measured without the library.
 *
 * They move: other machines share the memory and the cores.  So what is older
 * than some seconds is measured again where it is asked for; of the peaks of
 * computing the best that was seen counts, of reads the last median.
 */
#ifndef TOOLS_BENCH_MACHINE_H
#define TOOLS_BENCH_MACHINE_H

#include "tools/common/model-files.h"
#include "tools/ggmlbackend-bench/card.h"
#include "tools/ggmlbackend-bench/result.h"
#include "tools/ggmlbackend-bench/team.h"

#include <stdbool.h>
#include <stddef.h>

/* Sizes whose bandwidth is kept. */
#define N_READ_SIZES 16

struct limit {
    double seconds;     /* for one operation, or one byte; 0 before */
    double measured_at;
    size_t size;        /* of the array */
};

struct machine {
    int n_threads;
    struct team *team;
    struct limit peaks[N_PEAKS];
    struct limit reads[N_READ_SIZES]; /* used in turns */
    size_t next_read;
    struct limit file_read;
    void *array; /* what is read, of array_size bytes */
    size_t array_size;
    struct model_files files;
    struct input *file; /* the largest of these, mapped; NULL without a model */
    struct card card;  /* what computes, where it has limits of its own */
};

/* FILE is mapped, NULL for none.  False after a message. */
bool machine_open(struct machine *machine, int n_threads, const char *file);
void machine_close(struct machine *machine);

/*
 * The limits, as results with names that begin with "limit/": peaks, reads by
 * the size of the array, of the file where there is one, and from two threads
 * on the way of a cache line from one core to another; of a card that has limits
 * its own instead.  Each is handed to TAKE, whose false ends it.  False after a
 * message.
 */
bool machine_limits(struct machine *machine, take_result_fn take, void *arg);

/* Set the bound of RESULT by what it demands.  False after a message. */
bool machine_bound(struct machine *machine, struct result *result);

/* What the processor calls itself, "unknown processor" where it does not. */
const char *machine_cpu(void);

/* Where N_THREADS may run: processors, and cores that these belong to, of which
 * there are fewer where they are SMT siblings.  Static. */
const char *machine_placement(int n_threads);

#endif
