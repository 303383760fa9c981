/* SPDX-License-Identifier: MIT */
/*
 * level-2023/ggml.h - ggml.h for backends of 2023, which had the graph struct,
 * the CPU's functions and GGUF in it too.
 *
 * What a backend's own functions took besides tensors is here: a backend was
 * called for one node by the CPU's threads before it had tables.  Nothing in
 * the library makes or reads these structs.  Functions are today's, but for
 * the ones at the end: counts of values are int64_t, numbers in GGUF too.
 */
#ifndef GGML_LEVEL_2023_H
#define GGML_LEVEL_2023_H

#ifndef GGML_API_LEVEL
#define GGML_API_LEVEL 202311
#endif
#if GGML_API_LEVEL != 202311
#error "a header of another level was included before"
#endif

#include "../ggml.h"

#include "../gguf.h"

#include "../ggml-cpu.h"

/* Limits that there were; graphs and contexts have none today. */
#define GGML_MAX_NODES    16384
#define GGML_MAX_CONTEXTS 64

#ifdef __cplusplus
extern "C" {
#endif

/* The pass in which a node's function is called, once a thread in COMPUTE. */
enum ggml_task_type {
    GGML_TASK_INIT     = 0,
    GGML_TASK_COMPUTE  = 1,
    GGML_TASK_FINALIZE = 2
};

struct ggml_compute_params {
    enum ggml_task_type type;
    int ith, nth;  /* this thread, and how many there are */
    size_t wsize;  /* bytes of the scratch that all share */
    void *wdata;
};

/* Bytes of NROWS_SPLIT whole rows of TENSOR without gaps. */
static inline size_t
ggml_nbytes_split(const struct ggml_tensor *tensor, int nrows_split)
{
    return ggml_row_size(tensor->type, tensor->ne[0]) * (size_t)nrows_split;
}

/* All about a type at once; vec_dot has today's parameters. */
typedef struct {
    const char *type_name;
    int blck_size;
    size_t type_size;
    bool is_quantized;
    ggml_to_float_t to_float;
    ggml_from_float_t from_float;
    ggml_from_float_t from_float_reference;
    ggml_vec_dot_t vec_dot;
    enum ggml_type vec_dot_type;
} ggml_type_traits_t;

static inline ggml_type_traits_t
ggml_internal_get_type_traits(enum ggml_type type)
{
    const struct ggml_type_traits *type_traits = ggml_get_type_traits(type);
    const struct ggml_type_traits_cpu *cpu = ggml_get_type_traits_cpu(type);
    ggml_type_traits_t traits;

    traits.type_name = type_traits->type_name;
    traits.blck_size = (int)type_traits->blck_size;
    traits.type_size = type_traits->type_size;
    traits.is_quantized = type_traits->is_quantized;
    traits.to_float = type_traits->to_float;
    traits.from_float = cpu->from_float;
    traits.from_float_reference = type_traits->from_float_ref;
    traits.vec_dot = cpu->vec_dot;
    traits.vec_dot_type = cpu->vec_dot_type;
    return traits;
}

/* Without a pool of threads. */
static inline struct ggml_cplan
ggmlbackend_l202311_graph_plan(const struct ggml_cgraph *cgraph, int n_threads)
{
    return ggml_graph_plan(cgraph, n_threads, NULL);
}
#undef ggml_graph_plan
#define ggml_graph_plan ggmlbackend_l202311_graph_plan

#ifdef __cplusplus
}
#endif

#endif
