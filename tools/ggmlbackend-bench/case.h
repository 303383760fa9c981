/* SPDX-License-Identifier: MIT */
/*
 * bench/case.h - what there is to measure.
 *
 * A case has a name that says all about it, so results of the same name can be
 * compared; its kind knows how to make it run.
 */
#ifndef TOOLS_BENCH_CASE_H
#define TOOLS_BENCH_CASE_H

#include "tools/common/tool.h"
#include "tools/ggmlbackend-bench/card.h"
#include "tools/ggmlbackend-bench/job.h"
#include "tools/ggmlbackend-bench/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_case;

/* What cases run on. */
struct bench {
    const struct options *options;
    struct devices devices; /* of the model; one */
    const struct device *device;
    struct model model; /* where the options name one */
    struct card card;   /* the device, where it tells how it is */
};

struct case_kind {
    enum unit unit;

    /*
     * Fill JOB, which is zeroed, work and demand with it.  *IS_SUPPORTED was
     * set and may be cleared.  False after a message; JOB is ended then as at
     * all other times.
     */
    bool (*open)(struct job *job, const struct bench *bench,
                 const struct bench_case *c, bool *is_supported);

    /* Once; false after a message. */
    bool (*run)(struct job *job);
    /* The same, not done before somebody waits for the device; NULL: RUN. */
    bool (*queue)(struct job *job);
};

struct bench_case {
    char name[NAME_SIZE];
    const struct case_kind *kind;
    enum ggml_type type;
    size_t row;      /* of a table of the kind's */
    int64_t size[3]; /* what the kind wants to know */
};

struct case_list {
    struct bench_case *at;
    size_t n;
    size_t room;
    bool is_full; /* without memory something was left out */
};

/* Append C under the name that FMT and what follows say. */
TOOL_PRINTF(3, 4)
void case_add(struct case_list *list, struct bench_case c, const char *fmt,
              ...);

/* Each kind's cases. */
void cases_products(struct case_list *list, const struct options *options);
void cases_operations(struct case_list *list, const struct options *options);
void cases_tiny(struct case_list *list, const struct options *options);
void cases_copies(struct case_list *list, const struct options *options);
void cases_models(struct case_list *list, const struct options *options);

/*
 * The cases that the options ask for, in their order.  False after a message:
 * without memory, or when a pattern fits none.
 */
bool cases_select(struct case_list *list, const struct options *options);
void cases_clear(struct case_list *list);

#endif
