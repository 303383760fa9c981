/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/device/repack.c - the CPU's extra buffer type: bytes that come back
 * as they were set, how they lie meanwhile, products with the same bits as of
 * weights that lie as in a file, and all else refused.
 */
#include "config.h"

#include "backends/cpu/kernels/api/kernels.h"

#include "ggml-alloc.h"
#include "ggml-backend-impl.h"
#include "ggml-cpu.h"

#include "tests/util/fault.h"
#include "tests/util/random.h"
#include "tests/util/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Types that are repacked: bytes of a block of 32 values, and how many half
 * floats it begins with. */
static const struct {
    enum ggml_type type;
    size_t bytes, halves;
} types[] = {
    { GGML_TYPE_Q4_0, 18, 1 },
    { GGML_TYPE_Q4_1, 20, 2 },
    { GGML_TYPE_Q5_0, 22, 1 },
    { GGML_TYPE_Q5_1, 24, 2 },
    { GGML_TYPE_Q8_0, 34, 1 },
    { GGML_TYPE_IQ4_NL, 18, 1 },
};

#define N_TYPES (sizeof(types) / sizeof(types[0]))

/* Blocks: one; eight of a super-block and one; an even number and no multiple of
 * eight; two super-blocks. */
static const int64_t lengths[] = { 32, 288, 576, 512 };

#define N_LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

static struct gb_random random_state;

static ggml_backend_dev_t
cpu_device(void)
{
    return ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0);
}

static ggml_backend_buffer_type_t
repack_type(void)
{
    const ggml_backend_dev_get_extra_bufts_t get =
        (ggml_backend_dev_get_extra_bufts_t)ggml_backend_reg_get_proc_address(
            ggml_backend_cpu_reg(), "ggml_backend_dev_get_extra_bufts");
    ggml_backend_buffer_type_t *list = get(cpu_device());

    for (; *list != NULL; list++)
        if (strcmp(ggml_backend_buft_name(*list), "CPU_REPACK") == 0)
            return *list;
    fail_msg("no CPU_REPACK");
    return NULL;
}

static struct ggml_context *
new_context(void)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = (size_t)1 << 20,
        .no_alloc = true,
    });

    assert_non_null(ctx);
    return ctx;
}

/* Any codes, with scales that are numbers, for N blocks. */
static char *
random_blocks(size_t bytes, size_t halves, int64_t n)
{
    char *blocks = malloc((size_t)n * bytes);

    assert_non_null(blocks);
    for (size_t i = 0; i < (size_t)n * bytes; i++)
        blocks[i] = (char)gb_random_u64(&random_state);
    for (int64_t i = 0; i < n; i++)
        for (size_t h = 0; h < halves; h++) {
            const ggml_fp16_t half = ggml_fp32_to_fp16(
                gb_random_float(&random_state, -1.0f, 1.0f));
            const unsigned char le[] = { (unsigned char)half,
                                         (unsigned char)(half >> 8) };

            memcpy(blocks + (size_t)i * bytes + 2 * h, le, 2);
        }
    return blocks;
}

/* ---- bytes ---- */

/* Where byte AT of a block of row R of sixteen is, P blocks from the row's
 * beginning and BLOCKS in a row: the picture of kernels/api/repacked.h, counted
 * from scratch. */
static size_t
expected_place(size_t type, int64_t blocks, int64_t p, size_t r, size_t at)
{
    const int64_t pair = p / 2;
    const size_t n = blocks - pair * 2 < 2 ? 1 : 2;
    const size_t i = (size_t)(p % 2);
    const size_t head = 2 * types[type].halves;
    size_t place = (size_t)pair * 2 * 16 * types[type].bytes;

    if (at < head) /* a table of i, half and row */
        return place + i * 16 * head + at / 2 * 32 + r * 2 + at % 2;
    place += n * 16 * head; /* behind all of the tables */
    place += i * 16 * (types[type].bytes - head);
    at -= head;
    return place + at / 4 * 64 + r * 4 + at % 4;
}

static void
bytes_lie_as_documented_and_come_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_TYPES * N_LENGTHS; i++) {
        const size_t type = i / N_LENGTHS;
        const int64_t blocks = lengths[i % N_LENGTHS] / 32;
        const size_t bytes = types[type].bytes;
        struct ggml_context *ctx = new_context();
        struct ggml_tensor *t = ggml_new_tensor_3d(
            ctx, types[type].type, 32 * blocks, 32, 2);
        ggml_backend_buffer_t buffer =
            ggml_backend_alloc_ctx_tensors_from_buft(ctx, repack_type());
        char *set = random_blocks(bytes, types[type].halves, blocks * 64);
        char *got = malloc(ggml_nbytes(t));

        assert_non_null(buffer);
        assert_false(ggml_backend_buffer_is_host(buffer));
        assert_int_equal(ggml_nbytes(t), (size_t)blocks * 64 * bytes);
        ggml_backend_tensor_set(t, set, 0, ggml_nbytes(t));
        for (size_t row = 0; row < 64; row++)
            for (int64_t p = 0; p < blocks; p++)
                for (size_t at = 0; at < bytes; at++) {
                    size_t from = at;

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
                    if (at < 2 * types[type].halves)
                        from = at ^ 1;
#endif
                    assert_int_equal(
                        ((char *)t->data)[row / 16 * 16 * (size_t)blocks *
                                              bytes +
                                          expected_place(type, blocks, p,
                                                         row % 16, at)],
                        set[(row * (size_t)blocks + (size_t)p) * bytes + from]);
                }
        ggml_backend_tensor_get(t, got, 0, ggml_nbytes(t));
        assert_memory_equal(got, set, ggml_nbytes(t));
        free(got);
        free(set);
        ggml_backend_buffer_free(buffer);
        ggml_free(ctx);
    }
}

/* Ranges that begin and end anywhere, by themselves and through a view. */
static void
parts_of_tensors_are_set_and_read(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *t =
        ggml_new_tensor_2d(ctx, GGML_TYPE_Q4_0, 288, 64);
    struct ggml_tensor *view =
        ggml_view_2d(ctx, t, 288, 20, t->nb[1], 7 * t->nb[1]);
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors_from_buft(ctx, repack_type());
    const size_t n = ggml_nbytes(t);
    char *expected = random_blocks(18, 1, 9 * 64);
    char *more = random_blocks(18, 1, 9 * 64);
    char *got = malloc(n);

    (void)state;
    assert_non_null(buffer);
    ggml_backend_tensor_set(t, expected, 0, n);
    for (int i = 0; i < 60; i++) {
        struct ggml_tensor *to = i % 3 == 2 ? view : t;
        const size_t all = ggml_nbytes(to);
        const size_t begin = gb_random_u64(&random_state) % all;
        const size_t size = gb_random_u64(&random_state) % (all - begin) + 1;
        char *at = expected + (to == view ? 7 * t->nb[1] : 0) + begin;

        if (i % 4 == 3) {
            ggml_backend_tensor_memset(to, (uint8_t)i, begin, size);
            memset(at, i, size);
        } else {
            ggml_backend_tensor_set(to, more, begin, size);
            memcpy(at, more, size);
        }
        ggml_backend_tensor_get(to, got, begin, size);
        assert_memory_equal(got, at, size);
    }
    ggml_backend_tensor_get(t, got, 0, n);
    assert_memory_equal(got, expected, n);
    free(got);
    free(more);
    free(expected);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

/* Of a type without kernels, or with rows that are no whole groups. */
static void
what_cannot_be_repacked_is_kept_as_it_is(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *t[] = {
        ggml_new_tensor_2d(ctx, GGML_TYPE_Q6_K, 256, 16),
        ggml_new_tensor_2d(ctx, GGML_TYPE_Q4_0, 32, 17),
        ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 40),
    };
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors_from_buft(ctx, repack_type());
    char set[4096];
    char got[4096];

    (void)state;
    assert_non_null(buffer);
    for (size_t i = 0; i < sizeof(set); i++)
        set[i] = (char)gb_random_u64(&random_state);
    for (size_t i = 0; i < 3; i++) {
        const size_t n = ggml_nbytes(t[i]);

        assert_true(n <= sizeof(set));
        ggml_backend_tensor_set(t[i], set, 0, n);
        assert_memory_equal(t[i]->data, set, n);
        ggml_backend_tensor_get(t[i], got, 0, n);
        assert_memory_equal(got, set, n);
        ggml_backend_tensor_memset(t[i], 3, 0, n);
        assert_int_equal(*(char *)t[i]->data, 3);
    }
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

/* ---- products ---- */

/* A product of weights in a buffer of type BUFT, computed on N_THREADS;
 * IDS: each column of B chooses one of the weights' matrices. */
struct product {
    size_t type;
    int64_t k, rows, cols, experts;
    const char *weights;
    const float *columns;
};

static void
compute(const struct product *p, ggml_backend_buffer_type_t buft, int n_threads,
        float *result)
{
    struct ggml_context *of_weights = new_context();
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *a = ggml_new_tensor_3d(
        of_weights, types[p->type].type, p->k, p->rows, p->experts);
    struct ggml_tensor *b, *ids = NULL, *node;
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_t backend = ggml_backend_cpu_init();
    ggml_backend_buffer_t weights =
        ggml_backend_alloc_ctx_tensors_from_buft(of_weights, buft);
    ggml_backend_buffer_t buffer;

    if (p->experts == 1) {
        b = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, p->k, p->cols);
        node = ggml_mul_mat(ctx, a, b);
    } else {
        b = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, p->k, 1, p->cols);
        ids = ggml_new_tensor_2d(ctx, GGML_TYPE_I32, 1, p->cols);
        node = ggml_mul_mat_id(ctx, a, b, ids);
    }
    ggml_build_forward_expand(graph, node);
    buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        ctx, ggml_backend_cpu_buffer_type());
    assert_non_null(weights);
    assert_non_null(buffer);
    assert_non_null(backend);
    ggml_backend_tensor_set(a, p->weights, 0, ggml_nbytes(a));
    ggml_backend_tensor_set(b, p->columns, 0, ggml_nbytes(b));
    for (int64_t i = 0; ids != NULL && i < p->cols; i++)
        ((int32_t *)ids->data)[i] = (int32_t)(i * i % p->experts);
    ggml_backend_cpu_set_n_threads(backend, n_threads);
    assert_true(ggml_backend_supports_op(backend, node));
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_SUCCESS);
    memcpy(result, node->data, ggml_nbytes(node));
    ggml_backend_free(backend);
    ggml_backend_buffer_free(buffer);
    ggml_backend_buffer_free(weights);
    ggml_free(ctx);
    ggml_free(of_weights);
}

/* Columns with a few outliers. */
static float *
random_columns(int64_t n)
{
    float *columns = malloc((size_t)n * sizeof(*columns));

    assert_non_null(columns);
    for (int64_t i = 0; i < n; i++) {
        columns[i] = gb_random_float(&random_state, -1.0f, 1.0f);
        if (gb_random_u64(&random_state) % 200 == 0)
            columns[i] *= 40.0f;
    }
    return columns;
}

static void
compare(size_t type, int64_t k, int64_t rows, int64_t cols, int64_t experts,
        int n_threads)
{
    char *weights = random_blocks(types[type].bytes, types[type].halves,
                                  k / 32 * rows * experts);
    float *columns = random_columns(k * cols);
    const struct product product = { type, k, rows, cols, experts, weights,
                                     columns };
    const size_t bytes = (size_t)(rows * cols) * sizeof(float);
    float *plain = malloc(bytes);
    float *repacked = malloc(bytes);

    assert_non_null(plain);
    assert_non_null(repacked);
    compute(&product, ggml_backend_cpu_buffer_type(), 1, plain);
    compute(&product, repack_type(), n_threads, repacked);
    assert_memory_equal(repacked, plain, bytes);
    free(repacked);
    free(plain);
    free(columns);
    free(weights);
}

/* For each variant; all paths and what is between them. */
static void
products_have_the_same_bits(void **state)
{
    static const int64_t cols[] = { 1, 2, 5, 16, 17, 40 };
    static const int threads[] = { 1, 2, 3, 7 };
    const struct gb_cpu_kernels *const *variants = gb_cpu_kernels_all();
    int turn = 0;

    (void)state;
    for (; *variants != NULL; variants++) {
        gb_cpu_kernels_use(*variants);
        for (size_t type = 0; type < N_TYPES; type++)
            for (size_t l = 0; l < N_LENGTHS; l++)
                for (size_t c = 0; c < sizeof(cols) / sizeof(cols[0]); c++)
                    compare(type, lengths[l], l % 2 == 0 ? 48 : 80, cols[c], 1,
                            threads[turn++ % 4]);
        compare((size_t)turn % N_TYPES, 288, 48, 512, 1, 2);
        compare(0, 96, 4000, 1, 1, 3);
    }
    gb_cpu_kernels_use(NULL);
}

static void
products_of_experts_have_the_same_bits(void **state)
{
    const struct gb_cpu_kernels *const *variants = gb_cpu_kernels_all();

    (void)state;
    for (; *variants != NULL; variants++) {
        gb_cpu_kernels_use(*variants);
        for (size_t type = 0; type < N_TYPES; type++) {
            compare(type, 288, 32, 3, 5, 2);
            compare(type, 288, 32, 12, 4, 2);
            compare(type, 64, 32, 150, 3, 2);
        }
    }
    gb_cpu_kernels_use(NULL);
}

/* ---- what else there is to ask ---- */

/* Clients ask with a buffer without memory. */
static bool
is_supported(struct ggml_tensor *weights, struct ggml_tensor *node)
{
    weights->buffer = ggml_backend_buft_alloc_buffer(repack_type(), 0);
    assert_non_null(weights->buffer);

    const bool answer = ggml_backend_dev_supports_op(cpu_device(), node);

    ggml_backend_buffer_free(weights->buffer);
    weights->buffer = NULL;
    return answer;
}

static void
products_alone_are_supported(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *b = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 256, 3);
    struct ggml_tensor *row = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 1);
    struct ggml_tensor *good = ggml_new_tensor_2d(ctx, GGML_TYPE_Q4_0, 256, 16);
    struct ggml_tensor *odd = ggml_new_tensor_2d(ctx, GGML_TYPE_Q4_0, 256, 24);
    struct ggml_tensor *f32 = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 256, 16);
    struct ggml_tensor *part =
        ggml_view_2d(ctx, good, 256, 16, good->nb[1], 0);

    (void)state;
    assert_true(ggml_backend_dev_supports_buft(cpu_device(), repack_type()));
    assert_true(is_supported(good, ggml_mul_mat(ctx, good, b)));
    assert_false(is_supported(odd, ggml_mul_mat(ctx, odd, b)));
    assert_false(is_supported(f32, ggml_mul_mat(ctx, f32, b)));
    assert_false(is_supported(good, ggml_get_rows(ctx, good, row)));
    assert_false(is_supported(b, ggml_mul_mat(ctx, good, b)));
    assert_false(is_supported(f32, ggml_add(ctx, f32, f32)));
    assert_false(is_supported(good, ggml_mul_mat(ctx, part, b)));
    ggml_free(ctx);
}

/* A graph that reads such weights in another way, or a view of them, fails and
 * computes nothing. */
static void
graphs_of_other_readers_fail(void **state)
{
    static struct gb_sink sink;
    struct ggml_context *of_weights = new_context();
    struct ggml_tensor *a =
        ggml_new_tensor_2d(of_weights, GGML_TYPE_Q8_0, 64, 32);
    ggml_backend_buffer_t weights =
        ggml_backend_alloc_ctx_tensors_from_buft(of_weights, repack_type());

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct ggml_context *ctx = new_context();
        struct ggml_tensor *b = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 64, 1);
        struct ggml_tensor *ids = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 1);
        struct ggml_tensor *view = ggml_view_2d(ctx, a, 64, 16, a->nb[1], 0);
        struct ggml_tensor *copy =
            ggml_new_tensor_2d(ctx, GGML_TYPE_Q8_0, 64, 32);
        struct ggml_tensor *node = i == 0   ? ggml_get_rows(ctx, a, ids)
                                   : i == 1 ? ggml_mul_mat(ctx, view, b)
                                            : ggml_cpy(ctx, a, copy);
        struct ggml_cgraph *graph = ggml_new_graph(ctx);
        ggml_backend_t backend = ggml_backend_cpu_init();
        ggml_backend_buffer_t buffer;

        ggml_build_forward_expand(graph, node);
        buffer = ggml_backend_alloc_ctx_tensors_from_buft(
            ctx, ggml_backend_cpu_buffer_type());
        assert_non_null(buffer);
        ggml_backend_buffer_clear(buffer, 0);
        gb_sink_begin(&sink);
        assert_int_equal(ggml_backend_graph_compute(backend, graph),
                         GGML_STATUS_FAILED);
        gb_sink_end();
        assert_non_null(strstr(sink.text, "cpu: "));
        ggml_backend_free(backend);
        ggml_backend_buffer_free(buffer);
        ggml_free(ctx);
    }
    ggml_backend_buffer_free(weights);
    ggml_free(of_weights);
}

/* ---- failures ---- */

static void
set_once(void *data)
{
    struct ggml_tensor *t = data;
    char *set = random_blocks(34, 1, 2 * 16);
    char *before = malloc(ggml_nbytes(t));

    memcpy(before, t->data, ggml_nbytes(t));
    ggml_backend_tensor_set(t, set, 0, ggml_nbytes(t));
    if (gb_fault_happened())
        assert_memory_equal(t->data, before, ggml_nbytes(t));
    else
        assert_memory_not_equal(t->data, before, ggml_nbytes(t));
    free(before);
    free(set);
}

static void
without_memory_nothing_is_set(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *t = ggml_new_tensor_2d(ctx, GGML_TYPE_Q8_0, 64, 16);
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors_from_buft(ctx, repack_type());

    (void)state;
    assert_non_null(buffer);
    assert_true(gb_fault_each(set_once, t) > 0);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
allocate_once(void *data)
{
    ggml_backend_buffer_t buffer =
        ggml_backend_buft_alloc_buffer(repack_type(), 1000);

    (void)data;
    assert_true((buffer == NULL) == gb_fault_happened());
    ggml_backend_buffer_free(buffer);
}

static void
without_memory_there_is_no_buffer(void **state)
{
    (void)state;
    assert_true(gb_fault_each(allocate_once, NULL) > 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_lie_as_documented_and_come_back),
        cmocka_unit_test(parts_of_tensors_are_set_and_read),
        cmocka_unit_test(what_cannot_be_repacked_is_kept_as_it_is),
        cmocka_unit_test(products_have_the_same_bits),
        cmocka_unit_test(products_of_experts_have_the_same_bits),
        cmocka_unit_test(products_alone_are_supported),
        cmocka_unit_test(graphs_of_other_readers_fail),
        cmocka_unit_test(without_memory_nothing_is_set),
        cmocka_unit_test(without_memory_there_is_no_buffer),
    };

    gb_random_init(&random_state, gb_test_seed(20));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
