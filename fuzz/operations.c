/* SPDX-License-Identifier: MIT */
/*
 * fuzz/operations.c - any operation on operands of any shape, type, layout and
 * contents, with nodes that were edited after they were built.
 *
 * The input is read as a row of choices: one to three nodes, their sources,
 * edits.  Every tensor's data lie between pages that nobody may touch.  The
 * backend is asked whether it can compute the nodes, and told to; whatever it
 * answers, it changes nothing but the nodes' data.
 */
#include "fuzz/bytes.h"
#include "fuzz/edit.h"
#include "fuzz/fuzz.h"
#include "fuzz/guard.h"

#include "ggml-backend.h"
#include "ggml-cpu.h"

#include <stdbool.h>
#include <string.h>

/* The deprecated builders are part of the interface. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum {
    MAX_TENSORS = 32, /* operands and results */
    MAX_NODES = 32,
    MAX_SOURCES = 6,
    MAX_ELEMENTS = 4096, /* of a tensor that is computed */
    POOL = 1 << 16,
    N_FIRST = 130, /* builders when the corpus was made: it keeps its meaning */
};

struct choices {
    struct fuzz_bytes bytes;
    struct ggml_context *ctx;
    struct ggml_tensor *failed; /* what builders give that refuse */
    struct ggml_tensor *tensors[MAX_TENSORS];
    int n;
    int64_t dims[8]; /* what letters a to h of a shape mean */
    int ints[7];
    float floats[3];
};

static int
choose_int(struct fuzz_bytes *bytes)
{
    static const int often[] = { 1, 1, 2, 3, 0, 2, 1, 4 };
    static const int rare[] = {
        -1, 5, 8, 16, 33, 1000, 1 << 20, INT32_MAX, INT32_MIN, 6, 7, 12,
    };
    const unsigned which = fuzz_byte(bytes);

    return which < 224 ? often[which % FUZZ_LENGTH(often)]
                       : rare[which % FUZZ_LENGTH(rare)];
}

static int64_t
choose_dimension(struct fuzz_bytes *bytes, bool is_inner)
{
    static const int64_t inner[] = { 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33,
                                     11, 13, 6, 64 };
    static const int64_t outer[] = { 1, 1, 1, 2, 2, 3, 1, 4 };
    static const int64_t rare[] = {
        0, 0, 0, 100, 257, (int64_t)1 << 20, (int64_t)1 << 31,
        (int64_t)1 << 41, 128, 32, INT64_MAX, 0, 256, 512, 65,
    };
    const unsigned which = fuzz_byte(bytes);

    if (which >= 240)
        return rare[which % FUZZ_LENGTH(rare)];
    return is_inner ? inner[which % FUZZ_LENGTH(inner)]
                    : outer[which % FUZZ_LENGTH(outer)];
}

/* A product, at most INT32_MAX where a factor is positive. */
static int64_t
times(int64_t a, int64_t b)
{
    return a > 0 && b > INT32_MAX / a ? INT32_MAX : a * b;
}

/* What LETTER of a source's shape stands for. */
static int64_t
dimension(const int64_t *dims, char letter)
{
    const int64_t a = dims[0], b = dims[1], c = dims[2], g = dims[6];
    const int64_t h = dims[7];

    switch (letter) {
    case 'B':
        return b < INT32_MAX ? b + 3 : b;
    case 'D':
        return times(b, 2) - 1;
    case 'E':
    case 'U':
        return times(a, 2);
    case 'F':
        return times(c, 4);
    case 'G':
        return times(g, g);
    case 'H':
        return times(b, c);
    case 'K':
        return times(times(g, g), h);
    case 'M':
        return 64;
    case 'S':
        return times(a, 1) + times(b, 1) - 1;
    case 'V':
        return times(c, 2);
    default:
        return letter >= 'a' ? dims[letter - 'a'] : letter - '0';
    }
}

static const struct {
    char letter;
    uint8_t n;
    uint8_t types[32];
} source_types[] = {
    { 'f', 1, { GGML_TYPE_F32 } },
    { 'h', 3, { GGML_TYPE_F16, GGML_TYPE_F16, GGML_TYPE_F32 } },
    { 'i', 1, { GGML_TYPE_I32 } },
    { 'r', 4, { GGML_TYPE_F32, GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16 } },
    { 'x', 10, { GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_I32, GGML_TYPE_BF16,
                 GGML_TYPE_I8, GGML_TYPE_I16, GGML_TYPE_I64, GGML_TYPE_F64,
                 GGML_TYPE_Q4_0, GGML_TYPE_Q8_0 } },
    { 'q', 28, { GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_F32,
                 GGML_TYPE_F16, GGML_TYPE_F32, GGML_TYPE_Q4_0, GGML_TYPE_Q4_1,
                 GGML_TYPE_Q5_0, GGML_TYPE_Q5_1, GGML_TYPE_Q8_0,
                 GGML_TYPE_Q2_K, GGML_TYPE_Q3_K, GGML_TYPE_Q4_K,
                 GGML_TYPE_Q5_K, GGML_TYPE_Q6_K, GGML_TYPE_IQ2_XXS,
                 GGML_TYPE_IQ2_XS, GGML_TYPE_IQ3_XXS, GGML_TYPE_IQ1_S,
                 GGML_TYPE_IQ4_NL, GGML_TYPE_IQ3_S, GGML_TYPE_IQ2_S,
                 GGML_TYPE_IQ4_XS, GGML_TYPE_IQ1_M, GGML_TYPE_TQ1_0,
                 GGML_TYPE_TQ2_0, GGML_TYPE_Q8_1 } },
};

static enum ggml_type
choose_type(struct fuzz_bytes *bytes, char letter)
{
    const unsigned which = fuzz_byte(bytes);
    size_t i = 0;

    if (which >= 248)
        return (enum ggml_type)(fuzz_byte(bytes) % GGML_TYPE_COUNT);
    while (source_types[i].letter != letter)
        i++;
    return (enum ggml_type)source_types[i].types[which % source_types[i].n];
}

/* A tensor of TYPE with the shape NE, itself or a view of another one. */
static struct ggml_tensor *
lay_out(struct choices *x, enum ggml_type type, const int64_t *ne)
{
    static const uint8_t orders[][4] = {
        { 0, 2, 1, 3 }, { 0, 3, 1, 2 }, { 1, 2, 0, 3 }, { 3, 2, 1, 0 },
        { 2, 0, 1, 3 }, { 0, 1, 3, 2 },
    };
    const unsigned how = fuzz_byte(&x->bytes);
    const int64_t pad = ggml_blck_size(type);
    const uint8_t *o = orders[how % FUZZ_LENGTH(orders)];
    struct ggml_context *ctx = x->ctx;
    struct ggml_tensor *t;

    if (how < 160 || ne[0] > 1000 || ne[1] > 1000)
        return ggml_new_tensor(ctx, type, 4, ne);
    switch (how % 7) {
    case 0:
        return ggml_transpose(
            ctx, ggml_new_tensor_4d(ctx, type, ne[1], ne[0], ne[2], ne[3]));
    case 1:
    case 2:
        t = ggml_new_tensor_4d(ctx, type, ne[o[0]], ne[o[1]], ne[o[2]],
                               ne[o[3]]);
        return ggml_permute(ctx, t, o[0], o[1], o[2], o[3]);
    case 3: /* rows with something between them */
        t = ggml_new_tensor_4d(ctx, type, ne[0] + 2 * pad, ne[1] + 1, ne[2],
                               ne[3]);
        return ggml_view_4d(ctx, t, ne[0], ne[1], ne[2], ne[3], t->nb[1],
                            t->nb[2], t->nb[3], t->nb[0] * (how & 1));
    case 4: /* the same row again */
        t = ggml_new_tensor(ctx, type, 4, ne);
        return ggml_view_4d(ctx, t, ne[0], ne[1], ne[2], ne[3], 0, t->nb[2],
                            0, 0);
    case 5: /* rows over one another */
        t = ggml_new_tensor(ctx, type, 4, ne);
        return ggml_view_4d(ctx, t, ne[0], ne[1], ne[2], ne[3], t->nb[0],
                            t->nb[1], t->nb[2], 0);
    default: /* one element of each row */
        t = ggml_new_tensor_4d(ctx, type, 2, ne[0], ne[1], ne[2]);
        t = ggml_permute(ctx, t, 3, 0, 1, 2);
        return ggml_view_4d(ctx, t, ne[0], ne[1], ne[2], ne[3], t->nb[1],
                            t->nb[2], t->nb[3], 0);
    }
}

/* A source as PATTERN, five letters, wants it, or not quite. */
static struct ggml_tensor *
choose_source(struct choices *x, const char *pattern)
{
    const enum ggml_type type = choose_type(&x->bytes, pattern[0]);
    const int64_t block = ggml_blck_size(type);
    const unsigned how = fuzz_byte(&x->bytes);
    int64_t ne[4];

    if (how >= 240 && x->n > 0)
        return x->tensors[how % (unsigned)x->n];
    /* All sources get as many elements a row as whole blocks have. */
    if (block > 1 && pattern[1] >= 'a' && x->dims[pattern[1] - 'a'] < 1000)
        x->dims[pattern[1] - 'a'] =
            (x->dims[pattern[1] - 'a'] + block - 1) / block * block;
    for (int i = 0; i < 4; i++)
        ne[i] = dimension(x->dims, pattern[1 + i]);
    if (how < 24)
        ne[how % 4] = choose_dimension(&x->bytes, how < 12);
    return lay_out(x, type, ne);
}

static void
add_tensor(struct choices *x, struct ggml_tensor *t)
{
    if (t == NULL)
        fuzz_stop("a builder gave NULL");
    if (t != x->failed && x->n < MAX_TENSORS)
        x->tensors[x->n++] = t;
}

/* What the custom operations do. */
static void
map_unary(const int n, float *y, const float *a)
{
    for (int i = 0; i < n; i++)
        y[i] = -a[i];
}

static void
map_binary(const int n, float *y, const float *a, const float *b)
{
    for (int i = 0; i < n; i++)
        y[i] = a[i] - b[i];
}

static void
map_f32_1(struct ggml_tensor *y, const struct ggml_tensor *a)
{
    (void)y;
    (void)a;
}

static void
map_f32_2(struct ggml_tensor *y, const struct ggml_tensor *a,
          const struct ggml_tensor *b)
{
    (void)b;
    map_f32_1(y, a);
}

static void
map_f32_3(struct ggml_tensor *y, const struct ggml_tensor *a,
          const struct ggml_tensor *b, const struct ggml_tensor *d)
{
    (void)d;
    map_f32_2(y, a, b);
}

static void
map_1(struct ggml_tensor *y, const struct ggml_tensor *a, int ith, int nth,
      void *data)
{
    (void)data;
    if (ith < 0 || ith >= nth)
        fuzz_stop("a thread has a number that none has");
    map_f32_1(y, a);
}

static void
map_2(struct ggml_tensor *y, const struct ggml_tensor *a,
      const struct ggml_tensor *b, int ith, int nth, void *data)
{
    (void)b;
    map_1(y, a, ith, nth, data);
}

static void
map_3(struct ggml_tensor *y, const struct ggml_tensor *a,
      const struct ggml_tensor *b, const struct ggml_tensor *d, int ith,
      int nth, void *data)
{
    (void)d;
    map_2(y, a, b, ith, nth, data);
}

/* Builders that need more than an expression. */
static int *
sections(struct choices *x)
{
    return &x->ints[3];
}

static struct ggml_tensor *
parameter(struct choices *x, struct ggml_tensor *t)
{
    ggml_set_param(x->ctx, t);
    return t;
}

/* A leaf like T, the operand of the inverse of what made T. */
static struct ggml_tensor *
result_like(struct choices *x, const struct ggml_tensor *t)
{
    return lay_out(x, GGML_TYPE_F32, t->ne);
}

static struct ggml_tensor *
pool_2d_back(struct choices *x, struct ggml_tensor *t)
{
    const int *i = x->ints;
    const enum ggml_op_pool op = (enum ggml_op_pool)(i[0] & 1);
    const struct ggml_tensor *pooled = ggml_pool_2d(
        x->ctx, t, op, i[1], i[2], i[3], i[4], (float)i[5], (float)i[6]);

    return ggml_pool_2d_back(x->ctx, result_like(x, pooled), t, op, i[1], i[2],
                             i[3], i[4], (float)i[5], (float)i[6]);
}

static struct ggml_tensor *
im2col_back(struct choices *x, struct ggml_tensor *kernel,
            struct ggml_tensor *image)
{
    const int *i = x->ints;
    const bool is_2d = (i[6] & 1) == 0;
    const struct ggml_tensor *columns =
        ggml_im2col(x->ctx, kernel, image, i[0], i[1], i[2], i[3], i[4], i[5],
                    is_2d, GGML_TYPE_F32);

    return ggml_im2col_back(x->ctx, result_like(x, columns), kernel, image->ne,
                            i[0], i[1], i[2], i[3], i[4], i[5], is_2d);
}

/* make_<tag>: the builder's call. */
#define I(n) x->ints[n]
#define EVEN(n) (int)((unsigned)x->ints[n] * 2)
#define F(n) x->floats[n]
#define FUZZ(tag, sources, call)                                          \
    static struct ggml_tensor *make_##tag(struct choices *x,              \
                                          struct ggml_tensor **s)         \
    {                                                                     \
        struct ggml_context *c = x->ctx;                                  \
                                                                          \
        (void)c;                                                          \
        (void)s;                                                          \
        return call;                                                      \
    }
#include "tests/op/operations.def"

static const struct {
    const char *sources;
    struct ggml_tensor *(*make)(struct choices *x, struct ggml_tensor **s);
} builders[] = {
#define FUZZ(tag, sources, call) { sources, make_##tag },
#include "tests/op/operations.def"
};

/* Build one node, with all that it stands on; the node is the last tensor. */
static void
build(struct choices *x)
{
    static const float floats[] = { 1.0f, 0.0f, 0.5f, 1e-5f, -1.0f, 8.0f,
                                    1.0f, 0.0f };
    const unsigned byte = fuzz_byte(&x->bytes);
    const unsigned which = byte < FUZZ_LENGTH(builders) ? byte : byte % N_FIRST;
    const char *pattern = builders[which].sources;
    struct ggml_tensor *s[MAX_SOURCES] = { NULL };

    for (int i = 0; i < 8; i++)
        x->dims[i] = choose_dimension(&x->bytes, i < 2);
    for (int i = 0; i < 7; i++)
        x->ints[i] = choose_int(&x->bytes);
    for (int i = 0; i < 3; i++)
        x->floats[i] = FUZZ_PICK(&x->bytes, floats);
    for (int i = 0; *pattern != '\0'; i++) {
        s[i] = choose_source(x, pattern);
        add_tensor(x, s[i]);
        pattern += pattern[5] == ' ' ? 6 : 5;
    }
    add_tensor(x, builders[which].make(x, s));
}

/* Give every tensor its data. */
static void
place(struct choices *x)
{
    const unsigned fill = fuzz_byte(&x->bytes);
    struct ggml_tensor *t = ggml_get_first_tensor(x->ctx);

    guard_reset();
    for (; t != NULL; t = ggml_get_next_tensor(x->ctx, t)) {
        const unsigned how = fuzz_byte(&x->bytes);
        const bool is_index = t->type == GGML_TYPE_I32 && how < 200;

        if (t->view_src == NULL)
            guard_place(t, how % 8 == 0,
                        is_index ? 7 : how < 100 ? 11 : how < 160 ? fill : how);
        else if (t->view_src->data != NULL && t->buffer == NULL)
            ggml_backend_view_init(t);
    }
}

/* Few enough elements to be computed within a moment? */
static bool
is_small(const struct ggml_tensor *t)
{
    double n = 1;

    for (int i = 0; t != NULL && i < GGML_MAX_DIMS; i++)
        n *= (double)t->ne[i];
    return n >= -MAX_ELEMENTS && n <= MAX_ELEMENTS;
}

/* Can GRAPH be computed within a moment?  One with a large node that has no
 * data fails, when memory for it was counted. */
static bool
ends_soon(struct ggml_cgraph *graph)
{
    bool all_small = true;

    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        const struct ggml_tensor *node = ggml_graph_nodes(graph)[i];

        if (node == NULL)
            continue;
        if (node->data == NULL && ggml_nelements(node) > MAX_ELEMENTS &&
            node->op > GGML_OP_NONE && node->op < GGML_OP_COUNT &&
            (node->op < GGML_OP_RESHAPE || node->op > GGML_OP_TRANSPOSE))
            return true;
        all_small = all_small && is_small(node);
        for (int j = 0; j < GGML_MAX_SRC; j++)
            all_small = all_small && is_small(node->src[j]);
    }
    return all_small;
}

static struct guard_part
bytes_of(const struct ggml_tensor *t)
{
    const uintptr_t begin = t != NULL ? (uintptr_t)t->data : 0;
    const size_t size = t != NULL ? ggml_nbytes(t) : 0;

    /* An edited shape may reach around the end of all memory: no part. */
    return (struct guard_part){
        (const char *)begin,
        (const char *)(begin + size >= begin ? begin + size : begin),
    };
}

/* What the nodes write to. */
static int
find_parts(struct ggml_cgraph *graph, struct guard_part *parts)
{
    int n = 0;

    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        const struct ggml_tensor *node = ggml_graph_nodes(graph)[i];

        if (node == NULL)
            continue;
        parts[n++] = bytes_of(node);
        if (node->op == GGML_OP_OPT_STEP_ADAMW) {
            parts[n++] = bytes_of(node->src[2]);
            parts[n++] = bytes_of(node->src[3]);
        }
    }
    return n;
}

static void
compute(struct choices *x, struct ggml_cgraph *graph, ggml_backend_t backend,
        const void *pool)
{
    static char kept[POOL];
    struct guard_part parts[3 * MAX_NODES];
    const size_t used = ggml_used_mem(x->ctx);

    memcpy(kept, pool, used);
    guard_keep();
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++)
        ggml_backend_supports_op(backend, ggml_graph_nodes(graph)[i]);
    guard_compare(NULL, 0);
    if (ends_soon(graph)) {
        const int n = find_parts(graph, parts);

        ggml_backend_graph_compute(backend, graph);
        guard_compare(parts, n);
    }
    if (memcmp(kept, pool, used) != 0)
        fuzz_stop("a node is not what it was");
}

static void
run(struct choices *x, ggml_backend_t one, ggml_backend_t three,
    const void *pool)
{
    const unsigned what = fuzz_byte(&x->bytes);
    const int n_early = (what & 3) == 1, n_late = (int)(what >> 2 & 3);
    struct ggml_cgraph *graph =
        ggml_new_graph_custom(x->ctx, MAX_NODES, false);

    for (int i = 0; i < x->n; i++)
        ggml_build_forward_expand(graph, x->tensors[i]);
    if (ggml_graph_n_nodes(graph) == 0)
        return;
    for (int i = 0; i < n_early; i++)
        edit_something(&x->bytes, x->tensors, x->n, graph);
    place(x);
    for (int i = 0; i < n_late; i++)
        edit_something(&x->bytes, x->tensors, x->n, graph);
    compute(x, graph, what >> 4 == 0 ? three : one, pool);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ggml_backend_t one, three;
    static uint64_t pool[POOL / sizeof(uint64_t)];
    const struct ggml_init_params params = { POOL, pool, true };
    struct choices x = { .bytes = { data, size }, .ctx = ggml_init(params) };
    int n;

    if (one == NULL) {
        fuzz_silence();
        guard_open();
        one = ggml_backend_cpu_init();
        three = ggml_backend_cpu_init();
        if (one == NULL || three == NULL || x.ctx == NULL)
            fuzz_stop("no backend");
        ggml_backend_cpu_set_n_threads(one, 1);
        ggml_backend_cpu_set_n_threads(three, 3);
    }
    x.failed = ggml_dup(x.ctx, NULL);
    n = fuzz_byte(&x.bytes) % 8;
    build(&x);
    for (int i = 6; i <= n; i++)
        build(&x);
    run(&x, one, three, pool);
    ggml_free(x.ctx);
    return 0;
}
