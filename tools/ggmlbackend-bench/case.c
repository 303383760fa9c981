/* SPDX-License-Identifier: MIT */
/*
 * bench/case.c - the list of cases, and which of them are wanted.
 */
#include "tools/ggmlbackend-bench/case.h"

#include "tools/common/tool.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is measured where nothing is asked for. */
static const char *const short_list[] = {
    "mul_mat/f32/*/n=1",    "mul_mat/f32/*/n=512",  "mul_mat/f16/*/n=1",
    "mul_mat/f16/*/n=512",  "mul_mat/q8_0/*/n=1",   "mul_mat/q8_0/*/n=512",
    "mul_mat/q4_0/*/n=1",   "mul_mat/q4_0/*/n=512", "mul_mat/q4_K/*/n=1",
    "mul_mat/q4_K/*/n=512",
};

#define N_SHORT (sizeof(short_list) / sizeof(short_list[0]))

void
case_add(struct case_list *list, struct bench_case c, const char *fmt, ...)
{
    va_list args;

    if (list->n == list->room) {
        const size_t room = list->room == 0 ? 64 : list->room * 2;
        struct bench_case *at = realloc(list->at, room * sizeof(*at));

        if (at == NULL) {
            list->is_full = true;
            return;
        }
        list->at = at;
        list->room = room;
    }
    va_start(args, fmt);
    vsnprintf(c.name, sizeof(c.name), fmt, args);
    va_end(args);
    list->at[list->n++] = c;
}

static bool
fits(const char *pattern, const char *name)
{
    return fnmatch(pattern, name, 0) == 0;
}

static bool
is_wanted(const struct options *o, const char *name)
{
    if (o->n_patterns == 0 && o->model != NULL)
        return fits("model/*", name);
    for (int i = 0; i < o->n_patterns; i++)
        if (fits(o->patterns[i], name))
            return true;
    for (size_t i = 0; o->n_patterns == 0 && i < N_SHORT; i++)
        if (fits(short_list[i], name))
            return true;
    return false;
}

/* Each pattern fits something, so that a slip is not an empty table. */
static bool
check_patterns(const struct case_list *list, const struct options *o)
{
    for (int i = 0; i < o->n_patterns; i++) {
        size_t n = 0;

        while (n < list->n && !fits(o->patterns[i], list->at[n].name))
            n++;
        if (n == list->n)
            return tool_error("there is no case '%s', see --list",
                              o->patterns[i]);
    }
    return true;
}

bool
cases_select(struct case_list *list, const struct options *o)
{
    size_t n = 0;

    cases_models(list, o);
    cases_products(list, o);
    cases_operations(list, o);
    cases_tiny(list, o);
    cases_copies(list, o);
    if (list->is_full)
        return tool_error("no memory for the list of cases");
    if (!check_patterns(list, o))
        return false;
    for (size_t i = 0; i < list->n; i++)
        if ((o->is_list && o->n_patterns == 0) ||
            is_wanted(o, list->at[i].name))
            list->at[n++] = list->at[i];
    list->n = n;
    return true;
}

void
cases_clear(struct case_list *list)
{
    free(list->at);
    memset(list, 0, sizeof(*list));
}
