/* SPDX-License-Identifier: MIT */
/*
 * bench/options.h - the command line.
 */
#ifndef TOOLS_BENCH_OPTIONS_H
#define TOOLS_BENCH_OPTIONS_H

#include "tools/model/repack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_PATTERNS 32
#define MAX_NUMBERS  16

/* What an option with commas has. */
struct numbers {
    int64_t at[MAX_NUMBERS];
    int n;
};

struct options {
    const char *model;
    struct numbers prompts, answers, depths, batches;
    const char *patterns[MAX_PATTERNS];
    int n_patterns;
    struct numbers size; /* of weights: a row, and rows */
    int64_t n_threads;   /* never 0 */
    double seconds;      /* for each case */
    int64_t beyond;      /* MiB that a product's weights have at least */
    const char *device;  /* NULL for the best */
    bool may_map;        /* a device may compute on the model's file */
    enum repack_mode repack;
    const char *against; /* NULL without */
    const char *plot;    /* NULL without */
    const char *report;  /* likewise */
    const char *files[2];
    int n_files;
    bool is_json;
    bool is_list;
    bool is_by_op; /* a profile of the model's cases */
    bool is_compare;
    bool is_serve;
};

/*
 * Read the command line; false when there is nothing left to do, and *STATUS is
 * to be returned.
 */
bool options_read(struct options *options, int argc, char **argv, int *status);

#endif
