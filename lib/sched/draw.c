/* SPDX-License-Identifier: MIT */
/*
 * sched/draw.c - the splits as a drawing for Graphviz.
 *
 * A box a split, from the first to the last, in the colour of its backend; an
 * arrow a copy, from the split that computes the tensor, or from the leaf, to
 * the split before which it is copied.
 */
#include "config.h"

#include "lib/sched/sched.h"

#include "lib/base/env.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/graph/dot.h"

#include <string.h>

/* Nodes that a box has at its beginning, and at its end, when not all fit. */
#define SHOWN_NODES 4

/* Colours of Graphviz's scheme; that many backends look different. */
#define N_COLOURS 12

struct drawing {
    const struct ggml_backend_sched *sched;
    int32_t *splits; /* of each tensor; -1 for what no split computes */
};

static void
put_colour(FILE *file, int32_t backend)
{
    fprintf(file, "fillcolor=\"/set312/%d\"", (int)backend % N_COLOURS + 1);
}

static void
put_backend(FILE *file, const struct ggml_backend_sched *s, int32_t backend)
{
    gb_dot_put_text(file, ggml_backend_name(gb_sched_backend(s, backend)));
}

static void
draw_backends(FILE *file, const struct ggml_backend_sched *s)
{
    fputs("  subgraph cluster_backends {\n    label=\"backends\";\n", file);
    for (int32_t i = 0; i < s->n_backends; i++) {
        fprintf(file, "    b%d [", (int)i);
        put_colour(file, i);
        fputs(", label=\"", file);
        put_backend(file, s, i);
        fputs("\"];\n", file);
    }
    /* Beside each other, in their order. */
    fputs("    { rank=same; b0", file);
    for (int i = 1; i < s->n_backends; i++)
        fprintf(file, " -> b%d", i);
    fputs(" [style=invis]; }\n  }\n", file);
}

static void
draw_nodes(FILE *file, const struct ggml_backend_sched *s, int32_t begin,
           int32_t end)
{
    for (int32_t i = begin; i < end; i++) {
        const struct ggml_tensor *node = s->graph.nodes[i];

        gb_dot_put_text(file, ggml_op_desc(node));
        fputs(" ", file);
        gb_dot_put_tensor(file, node);
        fputs("\\l", file);
    }
}

static size_t
bytes_of_results(const struct ggml_backend_sched *s,
                 const struct gb_sched_split *split)
{
    size_t bytes = 0;

    for (int32_t i = split->begin; i < split->end; i++) {
        if (!s->nodes[i].is_view)
            bytes += ggml_nbytes(s->graph.nodes[i]);
    }
    return bytes;
}

static void
draw_split(FILE *file, const struct ggml_backend_sched *s, size_t k)
{
    const struct gb_sched_split *split = &s->splits[k];
    const int32_t n = split->end - split->begin;
    const int32_t n_hidden = n > 2 * SHOWN_NODES ? n - 2 * SHOWN_NODES : 0;
    const int32_t middle = n_hidden > 0 ? split->begin + SHOWN_NODES
                                        : split->end;

    fprintf(file, "  s%zu [", k);
    put_colour(file, split->backend);
    fprintf(file, ", label=\"split %zu on ", k);
    put_backend(file, s, split->backend);
    fprintf(file, "\\n%d node%s, %zu bytes\\n", (int)n, n == 1 ? "" : "s",
            bytes_of_results(s, split));
    draw_nodes(file, s, split->begin, middle);
    if (n_hidden > 0) {
        fprintf(file, "%d more\\l", (int)n_hidden);
        draw_nodes(file, s, split->end - SHOWN_NODES, split->end);
    }
    fputs("\"];\n", file);
    if (k > 0)
        fprintf(file, "  s%zu -> s%zu [style=invis];\n", k - 1, k);
}

static void
draw_leaf(FILE *file, const struct ggml_backend_sched *s, int32_t tensor)
{
    fprintf(file, "  t%d [shape=ellipse, style=filled, ", (int)tensor);
    put_colour(file, s->tensors[tensor].backend);
    fputs(", label=\"", file);
    gb_dot_put_tensor(file, gb_sched_tensor(s, tensor));
    fputs("\"];\n", file);
}

static void
draw_copy(FILE *file, const struct drawing *drawing, size_t k, int32_t copy)
{
    const struct ggml_backend_sched *s = drawing->sched;
    const int32_t number = s->copies[copy].tensor;
    const struct ggml_tensor *tensor = gb_sched_tensor(s, number);

    if (drawing->splits[number] < 0) {
        draw_leaf(file, s, number);
        fprintf(file, "  t%d", (int)number);
    } else {
        fprintf(file, "  s%d", (int)drawing->splits[number]);
    }
    fprintf(file, " -> s%zu [label=\"", k);
    gb_dot_put_tensor(file, tensor);
    fprintf(file, "\\n%zu bytes\"];\n", ggml_nbytes(tensor));
}

static void
draw(FILE *file, const void *data)
{
    const struct drawing *drawing = data;
    const struct ggml_backend_sched *s = drawing->sched;

    draw_backends(file, s);
    for (size_t k = 0; k < s->n_splits; k++)
        draw_split(file, s, k);
    for (size_t k = 0; k < s->n_splits; k++) {
        const struct gb_sched_split *split = &s->splits[k];

        for (int32_t i = split->inputs_begin; i < split->inputs_end; i++)
            draw_copy(file, drawing, k, s->inputs[i]);
    }
}

static void
find_splits(const struct ggml_backend_sched *s, int32_t *splits)
{
    for (int32_t i = 0; i < s->index.n_tensors; i++)
        splits[i] = -1;
    for (size_t k = 0; k < s->n_splits; k++) {
        for (int32_t i = s->splits[k].begin; i < s->splits[k].end; i++)
            splits[s->nodes[i].number] = (int32_t)k;
    }
}

/* A drawing that cannot be made keeps no graph from being computed. */
void
gb_sched_draw(const struct ggml_backend_sched *s)
{
    const char *path = gb_env_string(GB_ENV_SCHED_DOT);
    struct drawing drawing = { s, NULL };
    int error;

    if (*path == '\0')
        return;
    drawing.splits = gb_mem_alloc(
        (size_t)s->index.n_tensors * sizeof(*drawing.splits));
    if (drawing.splits == NULL) {
        gb_log(GGML_LOG_LEVEL_WARN, "sched: no memory for a drawing");
        return;
    }
    find_splits(s, drawing.splits);
    error = gb_dot_write(path, draw, &drawing);
    if (error != 0)
        gb_log(GGML_LOG_LEVEL_WARN, "sched: %s was not written: %s", path,
               strerror(error));
    gb_mem_free(drawing.splits);
}
