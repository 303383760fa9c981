/* SPDX-License-Identifier: MIT */
/*
 * levels/backends/node-2023.c - what sources of 2023 used besides the tables of
 * backends: a function for one node that the CPU's threads called, rows of a
 * tensor that several devices share, and everything that ggml.h had in it.
 */
#include "kernels.h"
#include "old.h"

#include "ggml.h"

#include <stdlib.h>
#include <string.h>

static float extras[GGML_MAX_NODES];

/* As the function that was asked before each node; true: it is done. */
static bool
compute_forward(struct ggml_compute_params *params, struct ggml_tensor *node)
{
    if (node->op == GGML_OP_MUL_MAT_SPARSE || node->op == GGML_OP_AXPY ||
        node->op == GGML_OP_ALIBI || !can_run_node(node))
        return false;
    if (params->ith != 0)
        return true;
    if (params->type == GGML_TASK_INIT || params->type == GGML_TASK_FINALIZE)
        return true;
    run_node(node);
    return true;
}

bool
old_2023_compute_forward(int pass, int ith, struct ggml_tensor *node)
{
    static const enum ggml_task_type passes[] = {
        GGML_TASK_INIT, GGML_TASK_COMPUTE, GGML_TASK_FINALIZE
    };
    struct ggml_compute_params params = {
        GGML_TASK_INIT, 0, 0, sizeof(extras), extras
    };

    params.type = passes[pass];
    params.ith = ith;
    params.nth = 2;
    return compute_forward(&params, node);
}

size_t
old_2023_split_bytes(const struct ggml_tensor *tensor, int n_rows)
{
    return ggml_nbytes_split(tensor, n_rows);
}

int
old_2023_add(float x, float y, float *sum)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_tensor *result =
        ggml_add(ctx, ggml_new_f32(ctx, x), ggml_new_f32(ctx, y));
    struct ggml_cplan plan;
    int status;

    ggml_build_forward_expand(graph, result);
    plan = ggml_graph_plan(graph, 1);
    plan.work_data = plan.work_size > 0 ? malloc(plan.work_size) : NULL;
    status = ggml_graph_compute(graph, &plan);
    *sum = ggml_get_f32_1d(graph->nodes[0], 0);
    free(plan.work_data);
    ggml_free(ctx);
    return status;
}

bool
old_2023_round(int type, const float *from, float *to, int n)
{
    ggml_type_traits_t traits =
        ggml_internal_get_type_traits((enum ggml_type)type);
    char blocks[1024];

    if (!traits.is_quantized || n % traits.blck_size != 0 ||
        traits.type_size * (size_t)(n / traits.blck_size) > sizeof(blocks) ||
        strcmp(traits.type_name, ggml_type_name((enum ggml_type)type)) != 0 ||
        traits.vec_dot == NULL || traits.vec_dot_type == GGML_TYPE_F32)
        return false;
    traits.from_float(from, blocks, n);
    traits.to_float(blocks, to, n);
    return traits.from_float_reference != NULL;
}

int
old_2023_key(int value)
{
    struct gguf_context *gguf = gguf_init_empty();
    int id;

    gguf_set_val_i32(gguf, "answer", value);
    id = (int)gguf_find_key(gguf, "answer");
    value = gguf_get_val_i32(gguf, id);
    gguf_free(gguf);
    return value;
}
