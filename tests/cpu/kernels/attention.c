/* SPDX-License-Identifier: MIT */
/*
 * The scores of a few queries with keys, and their sums of values, on every
 * variant: every type that is read where it lies, every remainder of a row's
 * length and of the numbers of keys and queries.
 *
 * All numbers are small integers times a power of two, and so are all sums of
 * their products: nothing is rounded, in whatever order they are added, and the
 * results are those of integers.
 */
#include "backends/cpu/kernels/api/kernels.h"

#include "lib/base/byte-order.h"
#include "tests/cpu/kernels/guard.h"
#include "tests/util/random.h"

#include "ggml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_KEYS    9
#define MAX_QUERIES 9
#define MAX_D       192
#define UNTOUCHED   12345.0f

/* Codes are multiplied with this in the rows; a power of two. */
#define SCALE 0.125f

/* Rows of keys, or of values, and what meets them. */
struct work {
    enum ggml_type type;
    int64_t d;
    struct guarded rows;             /* MAX_KEYS of them */
    int codes[MAX_KEYS][MAX_D];      /* what they say, over SCALE */
    int queries[MAX_QUERIES][MAX_D]; /* also sums to which is added */
    int weights[MAX_QUERIES][MAX_KEYS];
    struct guarded vectors[MAX_QUERIES]; /* D floats */
    struct guarded scores[MAX_QUERIES];  /* MAX_KEYS floats */
};

static int
draw(struct gb_random *random, int lo, int hi)
{
    return lo + (int)((gb_random_u64(random) >> 33) % (uint64_t)(hi - lo + 1));
}

/* A block of 32 codes: the scale's half, then bytes, or nibbles over 8. */
static void
write_block(enum ggml_type type, const int *codes, char *to)
{
    const uint16_t scale = gb_le16(ggml_fp32_to_fp16(SCALE));

    memcpy(to, &scale, sizeof(scale));
    for (int i = 0; i < 32; i++)
        if (type == GGML_TYPE_Q8_0)
            to[2 + i] = (char)(int8_t)codes[i];
        else if (i < 16)
            to[2 + i] = (char)((codes[i] + 8) | (codes[16 + i] + 8) << 4);
}

static void
write_row(enum ggml_type type, int64_t d, const int *codes, char *to)
{
    const size_t bytes = ggml_type_size(type);

    for (int64_t i = 0; i < d; i += ggml_blck_size(type)) {
        const float value = (float)codes[i] * SCALE;
        char *at = to + (size_t)(i / ggml_blck_size(type)) * bytes;

        if (ggml_is_quantized(type)) {
            write_block(type, codes + i, at);
        } else if (type == GGML_TYPE_F32) {
            memcpy(at, &value, sizeof(value));
        } else {
            const uint16_t half = type == GGML_TYPE_F16
                                      ? ggml_fp32_to_fp16(value)
                                      : ggml_fp32_to_bf16(value).bits;

            memcpy(at, &half, sizeof(half));
        }
    }
}

static struct work *
work_new(struct gb_random *random, enum ggml_type type, int64_t d)
{
    const size_t pitch = ggml_row_size(type, d);
    struct work *w = calloc(1, sizeof(*w));

    assert_non_null(w);
    w->type = type;
    w->d = d;
    w->rows = guarded_new(pitch * MAX_KEYS);
    assert_non_null(w->rows.data);
    for (int j = 0; j < MAX_KEYS; j++) {
        for (int64_t i = 0; i < d; i++)
            w->codes[j][i] = type == GGML_TYPE_Q4_0 ? draw(random, -8, 7)
                                                    : draw(random, -100, 100);
        write_row(type, d, w->codes[j],
                  (char *)w->rows.data + (size_t)j * pitch);
    }
    for (int q = 0; q < MAX_QUERIES; q++) {
        w->vectors[q] = guarded_new((size_t)d * sizeof(float));
        w->scores[q] = guarded_new(MAX_KEYS * sizeof(float));
        assert_non_null(w->vectors[q].data);
        assert_non_null(w->scores[q].data);
        for (int64_t i = 0; i < d; i++)
            w->queries[q][i] = draw(random, -30, 30);
        for (int j = 0; j < MAX_KEYS; j++)
            w->weights[q][j] = draw(random, -30, 30);
    }
    return w;
}

static void
work_free(struct work *w)
{
    guarded_free(&w->rows);
    for (int q = 0; q < MAX_QUERIES; q++) {
        guarded_free(&w->vectors[q]);
        guarded_free(&w->scores[q]);
    }
    free(w);
}

/* N keys and QUERIES of what W has; what comes later is fetched or not. */
static void
check(const struct gb_cpu_kernels *k, const struct work *w, int n, int queries,
      bool is_fetched)
{
    const size_t pitch = ggml_row_size(w->type, w->d);
    const size_t unused = (size_t)(MAX_KEYS - n) * pitch;
    float *vectors[MAX_QUERIES];
    float *weights[MAX_QUERIES];
    const struct gb_decode a = {
        .type = w->type,
        .d = w->d,
        .n = n,
        .rows = (const char *)w->rows.data + unused,
        .pitch = pitch,
        .fetch = w->rows.data,
        .fetch_step = is_fetched ? ggml_row_size(GGML_TYPE_F32, 32) : 0,
        .n_vectors = queries,
        .vectors = vectors,
        .weights = weights,
    };

    for (int q = 0; q < queries; q++) {
        vectors[q] = w->vectors[q].data;
        weights[q] = (float *)w->scores[q].data + MAX_KEYS - n;
        for (int64_t i = 0; i < w->d; i++)
            vectors[q][i] = (float)w->queries[q][i];
        for (int j = 0; j < n; j++)
            weights[q][j] = UNTOUCHED;
    }
    k->decode_scores(&a);
    for (int q = 0; q < queries; q++)
        for (int j = 0; j < n; j++) {
            long sum = 0;

            for (int64_t i = 0; i < w->d; i++)
                sum += (long)w->queries[q][i] * w->codes[MAX_KEYS - n + j][i];
            if (weights[q][j] != (float)sum * SCALE)
                fail_msg("%s %s: %g, not %g: key %d of %d, query %d of %d, "
                         "rows of %d", k->variant, ggml_type_name(w->type),
                         weights[q][j], (float)sum * SCALE, j, n, q, queries,
                         (int)w->d);
        }
    for (int q = 0; q < queries; q++)
        for (int j = 0; j < n; j++)
            weights[q][j] = (float)w->weights[q][j];
    k->decode_values(&a);
    for (int q = 0; q < queries; q++)
        for (int64_t i = 0; i < w->d; i++) {
            long sum = 0;
            float want;

            for (int j = 0; j < n; j++)
                sum += (long)w->weights[q][j] * w->codes[MAX_KEYS - n + j][i];
            want = (float)w->queries[q][i] + (float)sum * SCALE;
            if (vectors[q][i] != want)
                fail_msg("%s %s: %g, not %g: element %d of %d, query %d of "
                         "%d, %d values", k->variant, ggml_type_name(w->type),
                         vectors[q][i], want, (int)i, (int)w->d, q, queries,
                         n);
        }
}

static void
check_all(const struct work *w)
{
    for (const struct gb_cpu_kernels *const *variant = gb_cpu_kernels_all();
         *variant != NULL; variant++)
        for (int queries = 1; queries <= MAX_QUERIES; queries++)
            for (int n = 1; n <= MAX_KEYS; n += n < 5 ? 1 : 2)
                check(*variant, w, n, queries, (n + queries) % 2 == 0);
}

/* With and without whole vectors and blocks before and behind. */
static void
floats_of_every_length(void **state)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16,
    };
    static const int64_t lengths[] = {
        1, 3, 4, 7, 8, 15, 16, 17, 21, 28, 31, 32, 37, 48, 50, 63, 64, 80, 100,
        128, 155, MAX_D,
    };
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(11));
    for (int t = 0; t < 3; t++)
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
            struct work *w = work_new(&random, types[t], lengths[i]);

            check_all(w);
            work_free(w);
        }
}

static void
blocks_of_every_number(void **state)
{
    static const enum ggml_type types[] = { GGML_TYPE_Q8_0, GGML_TYPE_Q4_0 };
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(12));
    for (int t = 0; t < 2; t++)
        for (int64_t d = 32; d <= MAX_D; d += 32) {
            struct work *w = work_new(&random, types[t], d);

            check_all(w);
            work_free(w);
        }
}

/* Nothing to look at: what is there stays. */
static void
no_keys_and_no_queries(void **state)
{
    struct gb_random random;
    struct work *w;

    (void)state;
    gb_random_init(&random, gb_test_seed(13));
    w = work_new(&random, GGML_TYPE_F16, 70);
    for (const struct gb_cpu_kernels *const *variant = gb_cpu_kernels_all();
         *variant != NULL; variant++) {
        check(*variant, w, 0, 3, true);
        check(*variant, w, 3, 0, true);
    }
    work_free(w);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_of_every_length),
        cmocka_unit_test(blocks_of_every_number),
        cmocka_unit_test(no_keys_and_no_queries),
    };

    return cmocka_run_group_tests_name("attention kernels", tests, NULL, NULL);
}
