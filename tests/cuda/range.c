/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/range.c - products of values that f16 cannot hold, of infinities
 * and of NaN, by every kernel variant.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { K = 512, ROWS = 70, MOST_COLS = 70 };

/* One product: ROWS rows of A by N_COLS columns of B. */
static struct {
    enum ggml_type type;
    int n_cols;
    float a[ROWS * K]; /* weights, as their type holds them once multiplied */
    float b[MOST_COLS * K];
    float d[MOST_COLS * ROWS]; /* by the card */
} p;

static ggml_backend_t backend;
static bool has_tensor_cores;

/* ---- on the card ---- */

/* The weights in blocks of their type, and what those hold. */
static void
quantize(void *blocks)
{
    static float importance[K];

    if (p.type == GGML_TYPE_F32) {
        memcpy(blocks, p.a, sizeof(p.a));
        return;
    }
    for (int i = 0; i < K; i++)
        importance[i] = 1.0f;
    ggml_quantize_chunk(p.type, p.a, blocks, 0, ROWS, K, importance);
    ggml_get_type_traits(p.type)->to_float(blocks, p.a, ROWS * K);
}

static void
multiply(void)
{
    static char blocks[sizeof(p.a)];
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, p.type, K, ROWS);
    struct ggml_tensor *b =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F32, K, p.n_cols);
    struct ggml_tensor *d = ggml_mul_mat(ctx, a, b);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors(ctx, backend);

    CHECK(buffer != NULL);
    ggml_build_forward_expand(graph, d);
    quantize(blocks);
    ggml_backend_tensor_set(a, blocks, 0, ggml_nbytes(a));
    ggml_backend_tensor_set(b, p.b, 0, ggml_nbytes(b));
    CHECK(ggml_backend_graph_compute(backend, graph) == GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(d, p.d, 0, ggml_nbytes(d));
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

/* ---- what it has to be ---- */

/*
 * How far a product of two values may be off, of the largest one: activations
 * are rounded to 1/127 of the largest of 32, or to halves (as weights are), and
 * F32 sums are rounded each time.
 */
static double
relative_error(void)
{
    const double sums = K * 0x1p-24;

    if (has_tensor_cores && p.n_cols > 8 && p.type != GGML_TYPE_F32)
        return sums + (p.type == GGML_TYPE_BF16 ? 0x1p-9 : 0x1p-10);
    return sums + (ggml_is_quantized(p.type) ? 0.5 / 127 * 1.001 : 0.0);
}

static void
check_value(int row, int col)
{
    const float *a = p.a + (size_t)row * K, *b = p.b + (size_t)col * K;
    const double is = (double)p.d[(size_t)col * ROWS + (size_t)row];
    double sum = 0.0, sum_a = 0.0, largest = 0.0;

    for (int k = 0; k < K; k++) {
        CHECK(isfinite(a[k]));
        sum += (double)a[k] * (double)b[k];
        sum_a += fabs((double)a[k]);
        largest = fmax(largest, fabs((double)b[k]));
    }
    if (fabs(is - sum) <= relative_error() * sum_a * largest)
        return;
    fprintf(stderr, "%s, %d columns: row %d, column %d: %g, not %g\n",
            ggml_type_name(p.type), p.n_cols, row, col, is, sum);
    exit(1);
}

/* ---- values ---- */

/* The largest weight of a row: types differ in what they hold. */
static float
largest_weight(int row)
{
    static const float others[] = { 1.0f, 1e-4f };

    if (row % 3 > 0)
        return others[row % 3 - 1];
    switch ((int)p.type) {
    case GGML_TYPE_F32:
    case GGML_TYPE_BF16:
        return 1e28f;
    case GGML_TYPE_F16:
    case GGML_TYPE_Q4_1: /* has its least value as a half */
    case GGML_TYPE_Q5_1:
    case GGML_TYPE_TQ1_0:
    case GGML_TYPE_TQ2_0:
        return 6e4f;
    }
    return 2e5f;
}

static void
make_values(void)
{
    static const float sizes[] = { 1.0f, 1e6f, 3e4f, 1e-7f };

    for (int i = 0; i < ROWS * K; i++)
        p.a[i] = largest_weight(i / K) * sinf((float)i * 1.7f + 1.0f);
    for (int i = 0; i < p.n_cols * K; i++)
        p.b[i] = sizes[i / K % 4] * cosf((float)i * 0.37f + 2.0f);
}

/* ---- tests ---- */

/* EACH for all types of weights, by GEMV and by GEMM. */
static void
for_products(void (*each)(void))
{
    static const int n_cols[] = { 1, 8, MOST_COLS };
    const char *variant = getenv("GGMLBACKEND_GPU_VARIANT");

    has_tensor_cores = variant != NULL && strstr(variant, "mma") != NULL;
    CHECK(cuda_load() != NULL);
    backend = ggml_backend_dev_init(cuda_device("CUDA0"), NULL);
    CHECK(backend != NULL);
    for (int type = 0; type < GGML_TYPE_COUNT; type++) {
        for (size_t i = 0; i < sizeof(n_cols) / sizeof(n_cols[0]) &&
                           cuda_is_weight((enum ggml_type)type); i++) {
            p.type = (enum ggml_type)type;
            p.n_cols = n_cols[i];
            make_values();
            each();
        }
    }
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
check_all_values(void)
{
    multiply();
    for (int i = 0; i < ROWS * p.n_cols; i++)
        check_value(i % ROWS, i / ROWS);
}

static void
multiply_values_of_any_size(void)
{
    for_products(check_all_values);
}

/* Neither is a NaN hidden, nor goes it, or an infinity, to other columns. */
static void
check_others(void)
{
    const int with_nan = p.n_cols / 2, with_inf = p.n_cols - 1;

    p.b[(size_t)with_inf * K + 77] = INFINITY;
    p.b[(size_t)with_nan * K + 37] = NAN;
    multiply();
    for (int i = 0; i < ROWS * p.n_cols; i++) {
        if (i / ROWS == with_nan)
            CHECK(isnan(p.d[i]));
        else if (i / ROWS == with_inf)
            CHECK(!isfinite(p.d[i]));
        else
            check_value(i % ROWS, i / ROWS);
    }
}

static void
multiply_what_is_no_number(void)
{
    for_products(check_others);
}

static void
with_each_variant(void (*run)(void))
{
    cuda_case(run, "EMU_ARCH=80 GGMLBACKEND_GPU_VARIANT=plain", NULL);
    cuda_case(run, "EMU_ARCH=80 GGMLBACKEND_GPU_VARIANT=mma", NULL);
    cuda_case(run, "EMU_ARCH=80 GGMLBACKEND_GPU_VARIANT=mma8", NULL);
    cuda_case(run, "EMU_ARCH=90 GGMLBACKEND_GPU_VARIANT=wgmma", NULL);
}

static void
values_of_any_size_are_multiplied(void **state)
{
    (void)state;
    with_each_variant(multiply_values_of_any_size);
}

static void
what_is_no_number_stays_in_its_column(void **state)
{
    (void)state;
    with_each_variant(multiply_what_is_no_number);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_any_size_are_multiplied),
        cmocka_unit_test(what_is_no_number_stays_in_its_column),
    };

    return cmocka_run_group_tests_name("range", tests, NULL, NULL);
}
