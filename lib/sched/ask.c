/* SPDX-License-Identifier: MIT */
/*
 * sched/ask.c - what backends are asked about a node, and what it means when
 * none of them can run it.
 */
#include "config.h"

#include "lib/sched/sched.h"

#include "lib/backend/transfer.h"
#include "lib/base/log.h"
#include "lib/base/status.h"
#include "lib/tensor/tensor.h"

/* Long enough for the names of a dozen backends. */
#define NAMES_SIZE 256

/* Does the tensor lie where BACKEND cannot use it? */
static bool
is_out_of_reach(
    const struct ggml_backend_sched *s, int32_t backend,
    const struct ggml_tensor *tensor)
{
    const ggml_backend_buffer_t home = gb_transfer_home(tensor);

    return home != NULL && !gb_sched_can_use(s, backend, home->buft);
}

/*
 * A copy is described as it will be before it has its place: like any result
 * that a scheduler asks about.
 */
bool
gb_sched_can_run_on_copies(
    const struct ggml_backend_sched *s, int32_t backend,
    const struct ggml_tensor *op)
{
    struct ggml_tensor asked = *op, copies[GGML_MAX_SRC];
    bool has_copies = false;

    if (gb_sched_can_run(s, backend, op))
        return true;
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if (op->src[i] == NULL || !is_out_of_reach(s, backend, op->src[i]))
            continue;
        gb_tensor_describe(&copies[i], op->src[i]->type, op->src[i]->ne,
                           op->src[i]->nb);
        asked.src[i] = &copies[i];
        has_copies = true;
    }
    return has_copies && gb_sched_can_run(s, backend, &asked);
}

enum ggml_status
gb_sched_fail_for_all(
    const struct ggml_backend_sched *s, const struct ggml_tensor *tensor)
{
    const ggml_backend_buffer_t home = gb_transfer_home(tensor);
    char names[NAMES_SIZE];

    gb_sched_names(s, names, sizeof(names));
    if (home == NULL)
        return gb_fail(GGML_STATUS_FAILED,
                       "sched: %s of tensor %s is supported by none of %s",
                       ggml_op_desc(tensor), tensor->name, names);
    return gb_fail(GGML_STATUS_FAILED,
                   "sched: %s of tensor %s, which lies in memory of %s, is "
                   "supported there by none of %s",
                   ggml_op_desc(tensor), tensor->name,
                   ggml_backend_buffer_name(home), names);
}

void
gb_sched_count_fallback(struct ggml_backend_sched *s, int32_t number)
{
    if (s->n_fallback_copies++ == 0)
        s->first_fallback = number;
}

void
gb_sched_say_fallback(struct ggml_backend_sched *s)
{
    const struct ggml_tensor *tensor;

    if (s->n_fallback_copies == 0 || s->has_said_fallback)
        return;
    s->has_said_fallback = true;
    tensor = gb_sched_tensor(s, s->first_fallback);
    gb_log(GGML_LOG_LEVEL_DEBUG,
           "sched: data that nobody can compute with where it lies is copied in "
           "each compute, as for %s of tensor %s (said once; a timeline counts "
           "such tensors)", ggml_op_desc(tensor), tensor->name);
}
