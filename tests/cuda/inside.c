/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/inside.c - products read the rows of their operands and nothing
 * beside these, of each type of weights by each kernel variant.
 *
 * Each operand has a buffer of its own, which ends with its last row: views of
 * tensors that are not completed to rows of 512 values, as the buffer type has
 * it.  Memory in front of the first row, between rows and of experts that
 * nobody asks for was never written, so that the emulated card reports who
 * reads there.
 */
#include "config.h"

#include "tests/cuda/emulated.h"
#include "tests/util/random.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum {
    MAX_K = 18688,
    MAX_VALUES = 5 * 18688, /* of an operand's rows */
    MAX_OUTPUT = 66 * 65,
    COMPLETED = 512, /* values of which the buffer type makes whole rows */
};

/* ---- operands ---- */

/* Rows of VIEW, and its values. */
struct operand {
    struct ggml_context *ctx;
    struct ggml_tensor *view;
    ggml_backend_buffer_t buffer;
    float *values; /* row by row, as the type holds them */
};

static struct ggml_context *
context(void)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });

    CHECK(ctx != NULL);
    return ctx;
}

/* A buffer that T fills. */
static ggml_backend_buffer_t
fill_buffer(ggml_backend_t backend, struct ggml_tensor *t)
{
    ggml_backend_buffer_type_t buft =
        ggml_backend_get_default_buffer_type(backend);
    ggml_backend_buffer_t buffer =
        ggml_backend_buft_alloc_buffer(buft, ggml_nbytes(t));

    CHECK(buffer != NULL);
    CHECK(ggml_backend_tensor_alloc(buffer, t,
                                    ggml_backend_buffer_get_base(buffer)) ==
          GGML_STATUS_SUCCESS);
    return buffer;
}

/*
 * NE[2] matrices of NE[1] rows of NE[0] values, GAP values between rows and at
 * least N_BEFORE in front of them.  Nothing is written.
 */
static struct operand
operand_new(ggml_backend_t backend, enum ggml_type type, const int64_t ne[3],
            int64_t gap, int64_t n_before)
{
    const int64_t span = ne[1] * ne[2] * (ne[0] + gap) - gap;
    const int64_t step = ggml_is_quantized(type) ? COMPLETED : 1;
    const int64_t n = (n_before + span + step - 1) / step * step;
    const size_t nb1 = ggml_row_size(type, ne[0] + gap);
    struct operand operand = { .ctx = context() };
    struct ggml_tensor *all = ggml_new_tensor_1d(operand.ctx, type, n);

    CHECK(ne[0] * ne[1] * ne[2] <= MAX_VALUES);
    operand.buffer = fill_buffer(backend, all);
    operand.values = malloc(MAX_VALUES * sizeof(float));
    CHECK(operand.values != NULL);
    operand.view = ggml_view_3d(operand.ctx, all, ne[0], ne[1], ne[2], nb1,
                                nb1 * (size_t)ne[1],
                                ggml_row_size(type, n - span));
    return operand;
}

static void
operand_free(struct operand *operand)
{
    ggml_backend_buffer_free(operand->buffer);
    ggml_free(operand->ctx);
    free(operand->values);
}

/* Values of ROW from -0.5 to 1.5, and what the type makes of them. */
static void
set_row(struct operand *operand, int64_t row)
{
    static char bytes[MAX_K * sizeof(float)];
    static float importance[MAX_K];
    struct ggml_tensor *view = operand->view;
    const int64_t k = view->ne[0];
    float *values = operand->values + row * k;

    for (int64_t i = 0; i < k; i++) {
        values[i] = (float)((i * 7919 + 977 * row + i / 13) % 401 - 100) /
                    201.0f;
        importance[i] = 1.0f;
    }
    CHECK(ggml_quantize_chunk(view->type, values, bytes, 0, 1, k,
                              importance) == ggml_row_size(view->type, k));
    if (view->type != GGML_TYPE_F32)
        ggml_get_type_traits(view->type)->to_float(bytes, values, k);
    ggml_backend_tensor_set(view->view_src, bytes,
                            view->view_offs + (size_t)row * view->nb[1],
                            ggml_row_size(view->type, k));
}

/* All rows of matrix I2. */
static void
set_matrix(struct operand *operand, int64_t i2)
{
    const int64_t n = operand->view->ne[1];

    for (int64_t i = 0; i < n; i++)
        set_row(operand, i2 * n + i);
}

/* ---- products ---- */

enum length {
    BLOCK,      /* a block of the type, or an odd number of values */
    SOME_PARTS, /* of what kernels copy at a time, and a rest */
    MANY_PARTS,
    LENGTHS
};

struct form {
    enum length length;
    int64_t rows, cols;
    bool has_gaps;    /* rows begin anywhere, with gaps between them */
    bool has_experts; /* three, of which columns choose the first and last */
};

/* More than 64 rows and columns: MFMA has a kernel for these. */
static const struct form forms[] = {
    { BLOCK, 5, 1, false, false },      { BLOCK, 5, 3, true, false },
    { BLOCK, 5, 8, true, false },       { BLOCK, 66, 65, true, false },
    { SOME_PARTS, 5, 1, false, false }, { SOME_PARTS, 5, 1, true, false },
    { SOME_PARTS, 5, 3, false, false }, { SOME_PARTS, 5, 4, true, false },
    { SOME_PARTS, 6, 7, true, false },  { SOME_PARTS, 7, 8, false, false },
    { SOME_PARTS, 5, 12, true, false }, { SOME_PARTS, 9, 12, false, false },
    { SOME_PARTS, 66, 65, false, false },
    { MANY_PARTS, 5, 1, false, false }, { MANY_PARTS, 3, 2, true, false },
    { SOME_PARTS, 5, 2, false, true },  { SOME_PARTS, 5, 9, true, true },
    { SOME_PARTS, 5, 33, false, true }, { BLOCK, 5, 40, true, true },
};

enum { N_EXPERTS = 3 };

static int64_t
length_of(enum ggml_type type, enum length length)
{
    /* Floats, blocks of 32 values, of 256; numbers of blocks are odd. */
    static const int64_t lengths[LENGTHS][3] = {
        [BLOCK] = { 37, 32, 256 },
        [SOME_PARTS] = { 1312, 1312, 1280 },
        [MANY_PARTS] = { 18688, 18688, 18688 },
    };
    const int64_t block = ggml_blck_size(type);

    return lengths[length][block == 1 ? 0 : block == 32 ? 1 : 2];
}

static int64_t
gap_of(enum ggml_type type, const struct form *form)
{
    const int64_t block = ggml_blck_size(type);

    if (!form->has_gaps)
        return 0;
    return block == 1 ? 19 : block == 32 ? 2 * block : block;
}

/* The expert of column COL. */
static int32_t
expert_of(int64_t col)
{
    return col % 3 == 1 ? 0 : N_EXPERTS - 1;
}

struct product {
    struct operand weights, columns, ids;
    struct ggml_context *ctx;
    struct ggml_tensor *node;
    ggml_backend_buffer_t buffer;
};

static struct operand
ids_new(ggml_backend_t backend, int64_t n)
{
    const int64_t ne[3] = { 1, n, 1 };
    struct operand ids = operand_new(backend, GGML_TYPE_I32, ne, 0, 0);

    for (int64_t i = 0; i < n; i++) {
        const int32_t expert = expert_of(i);

        ggml_backend_tensor_set(ids.view, &expert, (size_t)i * sizeof(expert),
                                sizeof(expert));
    }
    return ids;
}

static struct product
product_new(ggml_backend_t backend, enum ggml_type type,
            const struct form *form)
{
    const int64_t k = length_of(type, form->length);
    const int64_t experts = form->has_experts ? N_EXPERTS : 1;
    const int64_t a[3] = { k, form->rows, experts };
    const int64_t b[3] = { k, form->has_experts ? 1 : form->cols,
                           form->has_experts ? form->cols : 1 };
    struct product p = { .ctx = context() };

    p.weights =
        operand_new(backend, type, a, gap_of(type, form), form->has_gaps);
    p.columns = operand_new(backend, GGML_TYPE_F32, b,
                            form->has_gaps ? 3 : 0, form->has_gaps);
    for (int64_t i = 0; i < experts; i += N_EXPERTS - 1)
        set_matrix(&p.weights, i);
    for (int64_t i = 0; i < form->cols; i++)
        set_row(&p.columns, i);
    if (form->has_experts) {
        p.ids = ids_new(backend, form->cols);
        p.node = ggml_mul_mat_id(p.ctx, p.weights.view, p.columns.view,
                                 p.ids.view);
    } else {
        p.node = ggml_mul_mat(p.ctx, p.weights.view, p.columns.view);
    }
    p.buffer = fill_buffer(backend, p.node);
    return p;
}

static void
product_free(struct product *p)
{
    operand_free(&p->weights);
    operand_free(&p->columns);
    if (p->ids.ctx != NULL)
        operand_free(&p->ids);
    ggml_backend_buffer_free(p->buffer);
    ggml_free(p->ctx);
}

/* Is the result right, but for what activations in 8 bits may add? */
static bool
is_right(const struct product *p, const struct form *form)
{
    static float result[MAX_OUTPUT];
    const int64_t k = p->weights.view->ne[0];
    double error = 0.0, square = 0.0;

    CHECK(form->rows * form->cols <= MAX_OUTPUT);
    ggml_backend_tensor_get(p->node, result, 0, ggml_nbytes(p->node));
    for (int64_t i = 0; i < form->rows * form->cols; i++) {
        const int64_t col = i / form->rows;
        const int64_t expert = form->has_experts ? expert_of(col) : 0;
        const float *row =
            p->weights.values + (expert * form->rows + i % form->rows) * k;
        double sum = 0.0;

        for (int64_t j = 0; j < k; j++)
            sum += (double)row[j] * (double)p->columns.values[col * k + j];
        error += (sum - (double)result[i]) * (sum - (double)result[i]);
        square += sum * sum;
    }
    return square > 0.0 && error / square < 5e-4;
}

static void
multiply(ggml_backend_t backend, enum ggml_type type, const struct form *form)
{
    struct product p = product_new(backend, type, form);
    struct ggml_cgraph *graph = ggml_new_graph(p.ctx);
    enum ggml_status status;

    CHECK(ggml_backend_supports_op(backend, p.node));
    ggml_build_forward_expand(graph, p.node);
    status = ggml_backend_graph_compute(backend, graph);
    if (status != GGML_STATUS_SUCCESS || emulator.reports() != 0 ||
        !is_right(&p, form)) {
        fprintf(stderr, "%s, form %d\n", ggml_type_name(type),
                (int)(form - forms));
        exit(1);
    }
    product_free(&p);
}

/* ---- variants ---- */

struct variant {
    const char *name;
    int lanes;
    const char *variables;
    const char *gemm; /* what multiplies weights in blocks by many columns */
};

static const struct variant *variant;

#define LANES32 "tests/gpu-emulator/lanes32/.libs/" DRIVER
#define LANES64 "tests/gpu-emulator/lanes64/.libs/" DRIVER
#define VARIANT "GGMLBACKEND_GPU_VARIANT="

static const struct variant variants[] = {
#ifdef GB_USE_HIP
    { "dot4, 64 lanes", 64, "EMU_ARCH=gfx906 " VARIANT "dot4", "gemv_%s_8" },
    { "dot4, 32 lanes", 32, "EMU_ARCH=gfx1030 " VARIANT "dot4", "gemv_%s_8" },
    { "MFMA", 64, "EMU_ARCH=gfx942 " VARIANT "mfma", "matrix_gemm_%s" },
    /* A card of one unit is filled by large tiles at once. */
    { "MFMA, large tiles", 64, "EMU_ARCH=gfx942 EMU_SMS=1 " VARIANT "mfma",
      "mfma_gemm_%s" },
    { "WMMA", 32, "EMU_ARCH=gfx1100 " VARIANT "wmma", "matrix_gemm_%s" },
#else
    { "wgmma", 32, "EMU_ARCH=90 " VARIANT "wgmma", "wgmma_gemm_%s" },
    { "mma8", 32, "EMU_ARCH=80 " VARIANT "mma8", "mma8_gemm_%s" },
    { "mma", 32, "EMU_ARCH=80 " VARIANT "mma", "mma_gemm_%s" },
    { "dp4a", 32, "EMU_ARCH=80 " VARIANT "dp4a", "gemv_%s_8" },
    { "plain", 32, "EMU_ARCH=80 " VARIANT "plain", "gemv_%s_8" },
    { "dp4a, 64 lanes", 64, "EMU_ARCH=80 " VARIANT "dp4a", "gemv_%s_8" },
    { "plain, 64 lanes", 64, "EMU_ARCH=80 " VARIANT "plain", "gemv_%s_8" },
#endif
};

enum { N_VARIANTS = sizeof(variants) / sizeof(variants[0]) };

/* Did the kernel that FORMAT names for TYPE run? */
static bool
ran(const char *format, enum ggml_type type)
{
    char lower[32] = "", name[64] = "gb_";

    for (size_t i = 0; ggml_type_name(type)[i] != '\0'; i++)
        lower[i] = (char)tolower((unsigned char)ggml_type_name(type)[i]);
    snprintf(name + 3, sizeof(name) - 3, format, lower);
    return emulator.kernel_runs(name) > 0;
}

static void
multiply_all(void)
{
    ggml_backend_t backend;

    CHECK(cuda_load_on(gb_built(variant->lanes == 64 ? LANES64 : LANES32)) !=
          NULL);
    backend = cuda_backend("CUDA0");
    for (int i = 0; i < GGML_TYPE_COUNT; i++) {
        const enum ggml_type type = (enum ggml_type)i;

        if (!cuda_is_weight(type))
            continue;
        for (size_t j = 0; j < sizeof(forms) / sizeof(forms[0]); j++)
            multiply(backend, type, &forms[j]);
        CHECK(ran("gemv_%s_1", type) && ran("gemv_%s_4", type) &&
              ran("gemv_%s_8", type));
        CHECK(!ggml_is_quantized(type) || ran(variant->gemm, type));
    }
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
products_read_their_rows_alone(void **state)
{
    variant = *state;
    cuda_case(multiply_all, variant->variables, NULL);
}

/* A third of the variants, which the seed chooses, or all of them. */
int
main(void)
{
    const uint64_t seed = gb_test_seed(1);
    const int step = getenv("GGMLBACKEND_TEST_ALL") != NULL ? 1 : 3;
    struct variant states[N_VARIANTS];
    struct CMUnitTest tests[N_VARIANTS];
    size_t n = 0;

    memcpy(states, variants, sizeof(states));
    for (int i = (int)(seed % (uint64_t)step); i < N_VARIANTS; i += step)
        tests[n++] = (struct CMUnitTest){
            .name = states[i].name,
            .test_func = products_read_their_rows_alone,
            .initial_state = &states[i],
        };
    return _cmocka_run_group_tests("what products read", tests, n, NULL, NULL);
}
