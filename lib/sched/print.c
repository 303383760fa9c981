/* SPDX-License-Identifier: MIT */
/*
 * sched/print.c - the splits for people, when GGML_SCHED_DEBUG asks for them.
 */
#include "config.h"

#include "lib/sched/sched.h"

#include "lib/base/attr.h"
#include "lib/base/log.h"

#include <stdarg.h>
#include <stdio.h>

/* A node, and as many sources as a node can have, with their names. */
#define LINE_SIZE 2048

void
gb_sched_names(const struct ggml_backend_sched *s, char *text, size_t size)
{
    size_t at = 0;

    text[0] = '\0';
    for (int i = 0; i < s->n_backends && at < size; i++) {
        const char *before =
            i == 0 ? "" : i == s->n_backends - 1 ? " and " : ", ";
        const int n = snprintf(text + at, size - at, "%s%s", before,
                               ggml_backend_name(s->backends[i].backend));

        at += n > 0 ? (size_t)n : 0;
    }
}

static const char *
backend_name(const struct ggml_backend_sched *s, int32_t tensor)
{
    return ggml_backend_name(
        gb_sched_backend(s, s->tensors[tensor].backend));
}

static void
print_input(const struct ggml_backend_sched *s, int32_t input)
{
    const int32_t source = s->copies[input].tensor;
    const struct ggml_tensor *tensor = gb_sched_tensor(s, source);

    gb_log(GGML_LOG_LEVEL_DEBUG, "sched:   input %s, %zu bytes, of %s",
           tensor->name, ggml_nbytes(tensor), backend_name(s, source));
}

/* Add text to LINE from AT on; where it ends, cut or not. */
GB_PRINTF(3, 4)
static size_t
append(char *line, size_t at, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(line + at, LINE_SIZE - at, fmt, args);
    va_end(args);
    if (n < 0)
        return at;
    return (size_t)n < LINE_SIZE - at ? at + (size_t)n : LINE_SIZE - 1;
}

static void
print_node(const struct ggml_backend_sched *s, const struct gb_sched_node *node)
{
    const struct ggml_tensor *tensor = gb_sched_tensor(s, node->number);
    char line[LINE_SIZE];
    size_t at = append(line, 0, "sched:   node %s, %s, %zu bytes, on %s",
                       tensor->name, ggml_op_desc(tensor), ggml_nbytes(tensor),
                       backend_name(s, node->number));

    for (int i = 0; i < node->n_links; i++) {
        const int32_t source = s->links[node->links + (size_t)i];

        if (source >= 0)
            at = append(line, at, "; %s, %zu bytes, of %s",
                        gb_sched_tensor(s, source)->name,
                        ggml_nbytes(gb_sched_tensor(s, source)),
                        backend_name(s, source));
    }
    gb_log(GGML_LOG_LEVEL_DEBUG, "%s", line);
}

void
gb_sched_print(const struct ggml_backend_sched *s)
{
    if (s->debug <= 0)
        return;
    for (size_t k = 0; k < s->n_splits; k++) {
        const struct gb_sched_split *split = &s->splits[k];

        gb_log(GGML_LOG_LEVEL_DEBUG,
               "sched: split %zu on %s, %d nodes, %d inputs", k,
               ggml_backend_name(gb_sched_backend(s, split->backend)),
               split->end - split->begin,
               split->inputs_end - split->inputs_begin);
        for (int32_t i = split->inputs_begin; i < split->inputs_end; i++)
            print_input(s, s->inputs[i]);
        for (int32_t i = split->begin; s->debug > 1 && i < split->end; i++)
            if (!s->nodes[i].is_view)
                print_node(s, &s->nodes[i]);
    }
}
