/* SPDX-License-Identifier: MIT */
/*
 * fuzz/common.c - stopping with a reason, and keeping the library quiet.
 */
#include "fuzz/fuzz.h"

#include "ggml.h"

#include <stdio.h>
#include <stdlib.h>

static void
drop(enum ggml_log_level level, const char *text, void *user_data)
{
    (void)level;
    (void)text;
    (void)user_data;
}

void
fuzz_silence(void)
{
    ggml_log_set(drop, NULL);
}

void
fuzz_stop(const char *what)
{
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}
