/* SPDX-License-Identifier: MIT */
/*
 * graph/draw.c - a graph as a drawing for Graphviz.
 *
 * A box a tensor, an arrow from each source to its node.  Sources that the
 * graph does not list, as slices of a graph have them, are drawn too.
 */
#include "config.h"

#include "lib/graph/graph.h"

#include "lib/base/status.h"
#include "lib/graph/dot.h"
#include "lib/graph/index.h"

#include <string.h>

struct drawing {
    const struct ggml_cgraph *gb;
    const struct ggml_cgraph *gf;
    struct gb_index index;
    int32_t n_listed; /* tensors of the index that GB lists */
};

/* Yellow: parameters; green and light blue: with gradient, in GF and not. */
static const char *
node_colour(const struct drawing *drawing, const struct ggml_tensor *node)
{
    const struct ggml_cgraph *gf = drawing->gf;

    if (node == NULL)
        return "";
    if ((node->flags & GGML_TENSOR_FLAG_PARAM) != 0)
        return "yellow";
    if (ggml_graph_get_grad(drawing->gb, node) == NULL)
        return "white";
    return gf != NULL && ggml_hash_contains(&gf->visited_hash_set, node)
        ? "green" : "lightblue";
}

static void
write_tensor(FILE *file, int32_t number, const struct ggml_tensor *t,
             const char *colour)
{
    if (t == NULL)
        return;
    fprintf(file, "  t%d [fillcolor=%s, label=\"", (int)number, colour);
    if (t->op != GGML_OP_NONE) {
        gb_dot_put_text(file, ggml_op_desc(t));
        fputs("\\n", file);
    }
    gb_dot_put_tensor(file, t);
    fprintf(file, "\"%s];\n",
            t->view_src != NULL ? ", style=\"filled,rounded,dashed\"" : "");
}

/* Which source it is matters where there are several. */
static void
write_arrows(FILE *file, const struct gb_index *index,
             const struct ggml_tensor *t)
{
    const int node = (int)gb_index_find(index, t);

    for (int i = 0; t != NULL && i < GGML_MAX_SRC; i++) {
        if (t->src[i] == NULL)
            continue;
        fprintf(file, "  t%d -> t%d", (int)gb_index_find(index, t->src[i]),
                node);
        if (i > 0 || t->src[1] != NULL)
            fprintf(file, " [label=\"%d\"]", i);
        fputs(";\n", file);
    }
}

static void
write_graph(FILE *file, const void *data)
{
    const struct drawing *drawing = data;
    const struct ggml_cgraph *gb = drawing->gb;
    const struct gb_index *index = &drawing->index;

    for (int i = 0; i < gb->n_leafs; i++)
        write_tensor(file, gb_index_find(index, gb->leafs[i]), gb->leafs[i],
                     "pink");
    for (int i = 0; i < gb->n_nodes; i++)
        write_tensor(file, gb_index_find(index, gb->nodes[i]), gb->nodes[i],
                     node_colour(drawing, gb->nodes[i]));
    for (int32_t i = drawing->n_listed; i < index->n_tensors; i++)
        write_tensor(file, i, index->tensors[i], "lightgrey");
    for (int i = 0; i < gb->n_nodes; i++)
        write_arrows(file, index, gb->nodes[i]);
}

/* Where nothing is listed there is nothing to draw. */
static bool
number_tensor(struct gb_index *index, struct ggml_tensor *tensor)
{
    return tensor == NULL || gb_index_add(index, tensor) >= 0;
}

static bool
number_sources(const struct ggml_tensor *node, struct gb_index *index)
{
    for (int i = 0; node != NULL && i < GGML_MAX_SRC; i++) {
        if (!number_tensor(index, node->src[i]))
            return false;
    }
    return true;
}

/* Leafs and nodes first, then what else they read. */
static bool
number_tensors(struct drawing *drawing)
{
    const struct ggml_cgraph *graph = drawing->gb;
    struct gb_index *index = &drawing->index;
    bool has_room = gb_index_reset(index, graph->n_leafs + graph->n_nodes);

    for (int i = 0; i < graph->n_leafs && has_room; i++)
        has_room = number_tensor(index, graph->leafs[i]);
    for (int i = 0; i < graph->n_nodes && has_room; i++)
        has_room = number_tensor(index, graph->nodes[i]);
    drawing->n_listed = index->n_tensors;
    for (int i = 0; i < graph->n_nodes && has_room; i++)
        has_room = number_sources(graph->nodes[i], index);
    return has_room;
}

void
ggml_graph_dump_dot(const struct ggml_cgraph *gb, const struct ggml_cgraph *gf,
                    const char *filename)
{
    struct drawing drawing = { .gb = gb, .gf = gf };
    int error;

    GB_NEED_VOID(gb != NULL && filename != NULL,
                 "graph_dump_dot: the graph or the file's name is NULL");
    if (number_tensors(&drawing)) {
        error = gb_dot_write(filename, write_graph, &drawing);
        if (error != 0)
            gb_fail(GGML_STATUS_FAILED, "%s was not written: %s", filename,
                    strerror(error));
    } else {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "graph_dump_dot: no memory");
    }
    gb_index_clear(&drawing.index);
}
