/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/rules.c - the rules by which tensors get their backends, written
 * down once more, tensor by tensor and with searches, as simply as possible.
 */
#include "tests/sched/rules.h"

#include "lib/op/op.h"

#include "ggml-impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int *
at(struct rules *r, struct ggml_tensor *tensor)
{
    for (int i = 0; i < r->n; i++)
        if (r->tensors[i] == tensor)
            return &r->backends[i];
    r->tensors[r->n] = tensor;
    r->backends[r->n] = rig_backend_of(r->rig, tensor);
    return &r->backends[r->n++];
}

static ggml_backend_buffer_type_t
home(const struct ggml_tensor *t)
{
    const ggml_backend_buffer_t buffer =
        t->view_src != NULL ? t->view_src->buffer : t->buffer;

    return buffer != NULL ? ggml_backend_buffer_get_type(buffer) : NULL;
}

static bool
runs(const struct rules *r, int backend, const struct ggml_tensor *op)
{
    return ggml_backend_supports_op(r->rig->backends[backend], op);
}

/* The same for copies of what lies in memory that the backend cannot use. */
static bool
runs_on_copies(
    const struct rules *r, int backend, const struct ggml_tensor *op)
{
    struct ggml_tensor sources[GGML_MAX_SRC], asked = *op;

    for (int s = 0; s < GGML_MAX_SRC; s++) {
        if (op->src[s] == NULL || home(op->src[s]) == NULL ||
            ggml_backend_supports_buft(r->rig->backends[backend],
                                       home(op->src[s])))
            continue;
        sources[s] = *op->src[s];
        sources[s].buffer = NULL;
        sources[s].view_src = NULL;
        asked.src[s] = &sources[s];
    }
    return runs(r, backend, &asked);
}

static bool
supported(struct rules *r, struct ggml_tensor *t, int backend)
{
    const ggml_backend_t b = r->rig->backends[backend];
    int owner = t->view_src != NULL ? *at(r, t->view_src) : -1;

    if (home(t) != NULL)
        return ggml_backend_supports_buft(b, home(t));
    if (owner < 0)
        owner = *at(r, t);
    return owner >= 0 &&
           ggml_backend_supports_buft(
               b, ggml_backend_get_default_buffer_type(
                      r->rig->backends[owner]));
}

static void
by_data_and_weights(struct rules *r, struct ggml_tensor *t)
{
    const int last = r->rig->n_backends - 1;
    int *backend = at(r, t);

    if (*backend >= 0)
        return;
    if (home(t) != NULL) {
        for (int b = last; b >= 0; b--)
            if (ggml_backend_supports_buft(r->rig->backends[b], home(t)) &&
                runs(r, b, t))
                *backend = b;
        return;
    }
    if ((t->flags & GGML_TENSOR_FLAG_INPUT) != 0) {
        *backend = last;
        return;
    }
    for (int s = 0; s < GGML_MAX_SRC; s++) {
        const struct ggml_tensor *src = t->src[s];

        if (src == NULL || src->buffer == NULL ||
            src->buffer->usage != GGML_BACKEND_BUFFER_USAGE_WEIGHTS)
            continue;
        for (int b = last; b >= 0; b--)
            if (ggml_backend_supports_buft(r->rig->backends[b], home(src)) &&
                runs(r, b, t))
                *backend = b;
        if (*backend == last && ggml_backend_buffer_is_host(src->buffer))
            for (int b = last - 1; b >= 0; b--)
                if (runs(r, b, t) &&
                    ggml_backend_offload_op(r->rig->backends[b], t))
                    *backend = b;
        return;
    }
}

static void
sweep(struct rules *r, bool down, bool with_last)
{
    const int n = r->rig->graph->n_nodes;
    int current = -1;

    for (int k = 0; k < n; k++) {
        struct ggml_tensor *t = r->rig->graph->nodes[down ? k : n - 1 - k];

        if (gb_op_is_view(t->op))
            continue;
        if (*at(r, t) < 0) {
            if (current >= 0 && runs(r, current, t))
                *at(r, t) = current;
        } else if (with_last || *at(r, t) != r->rig->n_backends - 1) {
            current = *at(r, t);
        } else {
            current = -1;
        }
    }
}

/* Only when nobody can do without copies of data, these are thought of. */
static void
by_sources(struct rules *r, struct ggml_tensor *t, bool on_copies)
{
    int best = -1, best_count = -1;

    for (int b = 0; b < r->rig->n_backends; b++) {
        int count = 0;

        for (int s = 0; s < GGML_MAX_SRC; s++) {
            struct ggml_tensor *src = t->src[s];

            if (src != NULL &&
                (*at(r, src) >= 0 ||
                 (src->view_src != NULL && *at(r, src->view_src) >= 0)))
                count += supported(r, src, b);
        }
        if ((on_copies ? runs_on_copies(r, b, t) : runs(r, b, t)) &&
            count > best_count) {
            best = b;
            best_count = count;
        }
    }
    *at(r, t) = best;
}

static void
complete(struct rules *r, struct ggml_tensor *t)
{
    if (t->view_src != NULL)
        *at(r, t) = *at(r, t->view_src);
    for (int s = 0; s < GGML_MAX_SRC; s++) {
        struct ggml_tensor *src = t->src[s];

        if (src == NULL)
            continue;
        /* Data that no backend can use has none. */
        if (src->view_src != NULL) {
            if (*at(r, src->view_src) < 0 && home(src) == NULL)
                *at(r, src->view_src) = *at(r, t);
            *at(r, src) = *at(r, src->view_src);
        } else if (*at(r, src) < 0 && home(src) == NULL) {
            *at(r, src) = *at(r, t);
        }
    }
}

void
rules_apply(struct rules *r, const struct rig *rig)
{
    const struct ggml_cgraph *g = rig->graph;

    r->rig = rig;
    r->n = 0;
    for (int i = 0; i < g->n_leafs; i++)
        by_data_and_weights(r, g->leafs[i]);
    for (int i = 0; i < g->n_nodes; i++)
        by_data_and_weights(r, g->nodes[i]);
    sweep(r, true, false);
    sweep(r, false, false);
    sweep(r, true, true);
    sweep(r, false, true);
    for (int i = 0; i < g->n_nodes; i++)
        for (int on_copies = 0; on_copies < 2; on_copies++)
            if (!gb_op_is_view(g->nodes[i]->op) && *at(r, g->nodes[i]) < 0)
                by_sources(r, g->nodes[i], on_copies != 0);
    for (int i = 0; i < g->n_nodes; i++)
        complete(r, g->nodes[i]);
}

void
rules_compare(const struct rules *r, uint64_t seed)
{
    for (int i = 0; i < r->n; i++)
        if (rig_backend_of(r->rig, r->tensors[i]) != r->backends[i])
            fail_msg("seed %d: %s is on %d, not on %d", (int)seed,
                     r->tensors[i]->name,
                     rig_backend_of(r->rig, r->tensors[i]), r->backends[i]);
}
