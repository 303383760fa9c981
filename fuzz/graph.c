/* SPDX-License-Identifier: MIT */
/*
 * fuzz/graph.c - graphs of any operations on any shapes, on two backends.
 *
 * The input is a program: four bytes an instruction, which makes a leaf, a view or a
 * node from what is there already, right or wrong.  A node that does not fit makes
 * the graph fail; a graph that does not fail gives the same bits with one thread and
 * with three.
 */
#include "fuzz/fuzz.h"

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TENSORS = 24, POOL = 256 * 1024, MAX_BYTES = 1 << 15 };

struct program {
    struct ggml_context *ctx;
    struct ggml_tensor *tensors[MAX_TENSORS];
    int n;
};

typedef struct ggml_tensor *(*unary_fn)(
    struct ggml_context *ctx, struct ggml_tensor *a);
typedef struct ggml_tensor *(*binary_fn)(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);

static const unary_fn unary[] = {
    ggml_dup,     ggml_sqr,      ggml_sqrt,     ggml_log,        ggml_sin,
    ggml_cos,     ggml_sum,      ggml_sum_rows, ggml_mean,       ggml_argmax,
    ggml_abs,     ggml_sgn,      ggml_neg,      ggml_step,       ggml_tanh,
    ggml_elu,     ggml_relu,     ggml_sigmoid,  ggml_gelu,       ggml_gelu_quick,
    ggml_silu,    ggml_hardswish, ggml_hardsigmoid, ggml_exp,    ggml_cont,
    ggml_transpose, ggml_diag,   ggml_soft_max, ggml_relu_inplace,
    ggml_sqr_inplace, ggml_neg_inplace, ggml_view_tensor,
};

static const binary_fn binary[] = {
    ggml_add,      ggml_sub,       ggml_mul,       ggml_div,
    ggml_add1,     ggml_mul_mat,   ggml_out_prod,  ggml_repeat,
    ggml_repeat_back, ggml_cpy,    ggml_reshape,   ggml_get_rows,
    ggml_count_equal, ggml_silu_back, ggml_add_inplace, ggml_mul_inplace,
    ggml_ssm_conv, ggml_cross_entropy_loss, ggml_conv_2d_sk_p0,
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static struct ggml_tensor *
leaf(struct program *p, const uint8_t *code)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_F32,  GGML_TYPE_F32,  GGML_TYPE_F16,
        GGML_TYPE_I32, GGML_TYPE_Q4_0, GGML_TYPE_Q8_0, GGML_TYPE_BF16,
        GGML_TYPE_Q4_K, GGML_TYPE_IQ2_XXS,
    };
    static const int64_t sizes[] = { 1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 64,
                                     0, 256, 9, 6 };
    const enum ggml_type type = types[code[1] % LENGTH(types)];

    return ggml_new_tensor_4d(p->ctx, type, sizes[code[2] & 15],
                              sizes[code[2] >> 4] % 40, 1 + (code[3] & 3),
                              1 + (code[3] >> 6));
}

static struct ggml_tensor *
view(struct program *p, struct ggml_tensor *a, const uint8_t *code)
{
    switch (code[2] % 4) {
    case 0:
        return ggml_permute(p->ctx, a, code[3] & 3, code[3] >> 2 & 3,
                            code[3] >> 4 & 3, code[3] >> 6);
    case 1:
        return ggml_view_1d(p->ctx, a, code[3] & 31, (code[3] >> 5) * 4u);
    case 2:
        return ggml_view_2d(p->ctx, a, code[3] & 7, code[3] >> 3 & 7, a->nb[1],
                            (code[3] >> 6) * 4u);
    default:
        return ggml_reshape_2d(p->ctx, a, code[3] & 15, code[3] >> 4);
    }
}

/* Operations with numbers of their own. */
static struct ggml_tensor *
with_numbers(struct program *p, struct ggml_tensor *a, struct ggml_tensor *b,
             const uint8_t *code)
{
    const int n = code[3] & 15;

    switch (code[2] >> 4) {
    case 0:
        return ggml_scale(p->ctx, a, (float)n - 4.0f);
    case 1:
        return ggml_clamp(p->ctx, a, -(float)n, 1.0f);
    case 2:
        return ggml_norm(p->ctx, a, 1e-5f);
    case 3:
        return ggml_rms_norm(p->ctx, a, (float)n);
    case 4:
        return ggml_group_norm(p->ctx, a, n, 1e-6f);
    case 5:
        return ggml_concat(p->ctx, a, b, n & 3);
    case 6:
        return ggml_soft_max_ext(p->ctx, a, (n & 1) != 0 ? b : NULL, 0.5f,
                                 (n & 2) != 0 ? 8.0f : 0.0f);
    case 7:
        return ggml_rope(p->ctx, a, b, n, code[3] >> 6 << 1);
    case 8:
        return ggml_pad(p->ctx, a, n & 1, n >> 1 & 1, n >> 2 & 1, n >> 3);
    case 9:
        return ggml_argsort(p->ctx, a, (enum ggml_sort_order)(n & 1));
    case 10:
        return ggml_im2col(p->ctx, a, b, 1 + (n & 1), 1, n >> 1 & 1, n >> 2 & 1,
                           1, 1, n >> 3 != 0, GGML_TYPE_F32);
    case 11:
        return ggml_pool_2d(p->ctx, a, (enum ggml_op_pool)(n & 1), 1 + (n >> 1),
                            2, 1 + (n >> 2), 1, (float)(n & 1), 0.0f);
    case 12:
        return ggml_upscale(p->ctx, a, n & 3);
    case 13:
        return ggml_cast(p->ctx, a, (enum ggml_type)(code[3] % 40));
    case 14:
        return ggml_pad_reflect_1d(p->ctx, a, n & 3, n >> 2);
    default:
        return ggml_diag_mask_inf(p->ctx, a, n);
    }
}

static struct ggml_tensor *
step(struct program *p, const uint8_t *code)
{
    struct ggml_tensor *a, *b;

    if (p->n == 0 || code[0] % 5 == 0)
        return leaf(p, code);
    a = p->tensors[code[1] % p->n];
    b = p->tensors[(code[1] >> 4) % p->n];
    switch (code[0] % 5) {
    case 1:
        return unary[code[2] % LENGTH(unary)](p->ctx, a);
    case 2:
        return binary[code[2] % LENGTH(binary)](p->ctx, a, b);
    case 3:
        return view(p, a, code);
    default:
        return with_numbers(p, a, b, code);
    }
}

/* What leafs are filled with; indices stay small. */
static uint8_t bytes_of_numbers[MAX_BYTES];
static uint8_t bytes_of_indices[MAX_BYTES];

static void
make_bytes(void)
{
    for (size_t i = 0; i < MAX_BYTES; i++) {
        bytes_of_numbers[i] = (uint8_t)((i * 37 + 11) & 0x3F);
        bytes_of_indices[i] = (uint8_t)(i % 4 == 0 ? i / 4 % 3 : 0);
    }
}

static void
fill(struct ggml_context *ctx)
{
    for (struct ggml_tensor *t = ggml_get_first_tensor(ctx); t != NULL;
         t = ggml_get_next_tensor(ctx, t)) {
        if (t->op != GGML_OP_NONE || t->view_src != NULL || t->data == NULL)
            continue;
        memcpy(t->data,
               t->type == GGML_TYPE_I32 ? bytes_of_indices : bytes_of_numbers,
               ggml_nbytes(t));
    }
}

static bool
compute(ggml_backend_t backend, struct ggml_context *ctx,
        struct ggml_cgraph *graph)
{
    fill(ctx);
    return ggml_backend_graph_compute(backend, graph) == GGML_STATUS_SUCCESS;
}

static bool
all_supported(ggml_backend_t backend, struct ggml_cgraph *graph)
{
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        if (!ggml_backend_supports_op(backend, ggml_graph_node(graph, i)))
            return false;
    }
    return true;
}

static void
run(struct program *p, ggml_backend_t one, ggml_backend_t three)
{
    struct ggml_cgraph *graph = ggml_new_graph_custom(p->ctx, 64, false);
    ggml_backend_buffer_t buffer;
    size_t bytes = 0, size;
    uint8_t *before;

    for (int i = 0; i < p->n; i++) {
        bytes += ggml_nbytes(p->tensors[i]);
        ggml_build_forward_expand(graph, p->tensors[i]);
    }
    /* Nodes that refer to data they never get, and large ones, are for other
     * fuzzers. */
    if (bytes > MAX_BYTES)
        return;
    buffer = ggml_backend_alloc_ctx_tensors(p->ctx, one);
    if (buffer == NULL) {
        ggml_backend_graph_compute(one, graph);
        return;
    }
    size = ggml_backend_buffer_get_size(buffer);
    before = malloc(size);
    if (before == NULL)
        fuzz_stop("no memory");
    ggml_backend_buffer_clear(buffer, 0);
    if (all_supported(one, graph) && compute(one, p->ctx, graph)) {
        memcpy(before, ggml_backend_buffer_get_base(buffer), size);
        ggml_backend_buffer_clear(buffer, 0);
        if (!compute(three, p->ctx, graph))
            fuzz_stop("three threads fail where one does not");
        if (memcmp(before, ggml_backend_buffer_get_base(buffer), size) != 0)
            fuzz_stop("three threads give other bits than one");
    } else {
        /* What is not supported is refused by a status. */
        compute(one, p->ctx, graph);
    }
    free(before);
    ggml_backend_buffer_free(buffer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ggml_backend_t one, three;
    static uint64_t pool[POOL / sizeof(uint64_t) + 8];
    const struct ggml_init_params params = {
        POOL, (void *)(((uintptr_t)pool + 15) / 16 * 16), true
    };
    struct program p = { ggml_init(params), { NULL }, 0 };

    if (one == NULL) {
        fuzz_silence();
        make_bytes();
        one = ggml_backend_cpu_init();
        three = ggml_backend_cpu_init();
        if (one == NULL || three == NULL || p.ctx == NULL)
            fuzz_stop("no backend");
        ggml_backend_cpu_set_n_threads(one, 1);
        ggml_backend_cpu_set_n_threads(three, 3);
    }
    for (size_t i = 0; i + 4 <= size && p.n < MAX_TENSORS; i += 4) {
        struct ggml_tensor *t = step(&p, data + i);

        if (t == NULL)
            fuzz_stop("a builder gave NULL");
        p.tensors[p.n++] = t;
    }
    if (p.n > 0)
        run(&p, one, three);
    ggml_free(p.ctx);
    return 0;
}
