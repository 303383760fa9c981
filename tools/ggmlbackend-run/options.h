/* SPDX-License-Identifier: MIT */
/*
 * run/options.h - the command line.
 */
#ifndef TOOLS_RUN_OPTIONS_H
#define TOOLS_RUN_OPTIONS_H

#include "tools/model/repack.h"

#include <stdbool.h>
#include <stdint.h>

struct options {
    const char *model;
    const char *prompt;      /* NULL without -p */
    const char *prompt_file; /* NULL without -f */
    const char *system;      /* the system message, NULL without */
    const char *perplexity;  /* the text's file, NULL without */
    const char *devices;     /* NULL for the best */
    struct shares shares;    /* of them, none without --split */
    int64_t n_predict;       /* most tokens of an answer, -1: no limit */
    int64_t n_ctx;           /* 0: a default by what is done */
    int64_t n_threads;       /* 0: the device's default */
    int64_t n_chunks;        /* most windows, 0: all */
    double temperature;
    int64_t top_k;
    double top_p;
    int64_t seed;
    enum repack_mode repack;
    bool is_chat;
    bool is_conversation; /* on a terminal: a chat without a text */
    bool is_special;      /* control tokens in the text are understood */
    bool is_json;
    bool has_logits;
    bool may_map;
    bool may_fuse; /* attention into one operation */
};

/*
 * Read ARGV.  True when there is something to do; else *STATUS is what the
 * program exits with.
 */
bool options_read(struct options *options, int argc, char **argv, int *status);

#endif
