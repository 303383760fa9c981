/* SPDX-License-Identifier: MIT */
/*
 * graph/dot.c - a graph as a drawing for Graphviz.
 *
 * A box a tensor, an arrow from each source to its node.  The language is that
 * of "The DOT Language" (graphviz.org).
 */
#include "config.h"

#include "lib/graph/graph.h"

#include "lib/base/status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Yellow: parameters; green and light blue: with gradient, in GF and not. */
static const char *
node_colour(const struct ggml_cgraph *gb, const struct ggml_cgraph *gf,
            const struct ggml_tensor *node)
{
    if ((node->flags & GGML_TENSOR_FLAG_PARAM) != 0)
        return "yellow";
    if (ggml_graph_get_grad(gb, node) == NULL)
        return "white";
    return gf != NULL && ggml_hash_contains(&gf->visited_hash_set, node)
        ? "green" : "lightblue";
}

/* Between quotes in DOT: those and backslashes are escaped. */
static void
write_quoted(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', file);
        fputc(*text, file);
    }
}

static void
write_tensor(FILE *file, const struct ggml_tensor *t, const char *colour)
{
    fprintf(file, "  \"%p\" [fillcolor=%s, label=\"", (const void *)t, colour);
    write_quoted(file, t->name);
    fprintf(file,
            "\\n%s [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]",
            ggml_type_name(t->type), t->ne[0], t->ne[1], t->ne[2], t->ne[3]);
    if (t->op != GGML_OP_NONE) {
        fputs("\\n", file);
        write_quoted(file, t->op == GGML_OP_UNARY ? ggml_op_desc(t)
                                                  : ggml_op_symbol(t->op));
    }
    fputs("\"];\n", file);
}

static void
write_arrows(FILE *file, const struct ggml_tensor *t)
{
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if (t->src[i] != NULL)
            fprintf(file, "  \"%p\" -> \"%p\" [label=\"src %d\"];\n",
                    (const void *)t->src[i], (const void *)t, i);
    }
}

static void
write_graph(FILE *file, const struct ggml_cgraph *gb,
            const struct ggml_cgraph *gf)
{
    fputs("digraph ggml {\n  rankdir=TB;\n"
          "  node [shape=box, style=filled];\n", file);
    for (int i = 0; i < gb->n_leafs; i++)
        write_tensor(file, gb->leafs[i], "pink");
    for (int i = 0; i < gb->n_nodes; i++)
        write_tensor(file, gb->nodes[i], node_colour(gb, gf, gb->nodes[i]));
    for (int i = 0; i < gb->n_nodes; i++)
        write_arrows(file, gb->nodes[i]);
    fputs("}\n", file);
}

void
ggml_graph_dump_dot(const struct ggml_cgraph *gb, const struct ggml_cgraph *gf,
                    const char *filename)
{
    FILE *file;
    bool is_written;

    GB_NEED_VOID(gb != NULL && filename != NULL,
                 "graph_dump_dot: the graph or the file's name is NULL");
    file = ggml_fopen(filename, "w");
    if (file == NULL) {
        gb_fail(GGML_STATUS_FAILED, "%s: cannot be written: %s", filename,
                strerror(errno));
        return;
    }
    write_graph(file, gb, gf);
    is_written = ferror(file) == 0;
    /* What is left in the buffer may not fit either. */
    if (fclose(file) != 0 || !is_written)
        gb_fail(GGML_STATUS_FAILED, "%s: was not written completely",
                filename);
}
