/* SPDX-License-Identifier: MIT */
/*
 * Products of matrices, with chosen matrices, and sums of outer products.
 *
 * Bound: activations rounded to 8 bits, half a step of 1/127 of a block's
 * largest value, leave a squared error of about 2e-5; 5e-4 is what the
 * interface's own tests ask for.  With float weights only sums are rounded, but
 * that activations for BF16 may become BF16 too, 1/512 of each, 4e-6 squared.
 */
#include "tests/cpu/ops/driver.h"

#define QUANTISED_NMSE 5e-4
#define REAL_NMSE      1e-10
#define BF16_NMSE      2e-5

static const enum ggml_type weight_types[] = {
    GGML_TYPE_F32,     GGML_TYPE_F16,    GGML_TYPE_BF16,  GGML_TYPE_Q4_0,
    GGML_TYPE_Q4_1,    GGML_TYPE_Q5_0,   GGML_TYPE_Q5_1,  GGML_TYPE_Q8_0,
    GGML_TYPE_Q2_K,    GGML_TYPE_Q3_K,   GGML_TYPE_Q4_K,  GGML_TYPE_Q5_K,
    GGML_TYPE_Q6_K,    GGML_TYPE_TQ1_0,  GGML_TYPE_TQ2_0, GGML_TYPE_IQ1_S,
    GGML_TYPE_IQ1_M,   GGML_TYPE_IQ2_XXS, GGML_TYPE_IQ2_XS, GGML_TYPE_IQ2_S,
    GGML_TYPE_IQ3_XXS, GGML_TYPE_IQ3_S,  GGML_TYPE_IQ4_NL, GGML_TYPE_IQ4_XS,
};

#define N_TYPES (sizeof(weight_types) / sizeof(weight_types[0]))

static double
nmse_of(enum ggml_type type)
{
    return ggml_is_quantized(type)  ? QUANTISED_NMSE
           : type == GGML_TYPE_BF16 ? BF16_NMSE
                                    : REAL_NMSE;
}

/* Row (m, i2, i3) of A, no longer than this. */
#define LONGEST 2304

static const double *
row_of(const struct ggml_tensor *a, int64_t m, int64_t i2, int64_t i3)
{
    static double row[LONGEST];
    float floats[LONGEST];

    assert_true(a->ne[0] <= LONGEST);
    if (ggml_is_quantized(a->type))
        ggml_get_type_traits(a->type)->to_float(
            place(a, 0, m, i2, i3), floats, a->ne[0]);
    for (int64_t k = 0; k < a->ne[0]; k++)
        row[k] = ggml_is_quantized(a->type) ? floats[k]
                                            : at(a, k, m, i2, i3);
    return row;
}

static double
mul_mat_reference(const struct ggml_tensor *node, int64_t m, int64_t n,
                  int64_t p, int64_t q)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const int64_t a2 = p / (b->ne[2] / a->ne[2]);
    const int64_t a3 = q / (b->ne[3] / a->ne[3]);
    const double *row = row_of(a, m, a2, a3);
    double sum = 0.0;

    for (int64_t k = 0; k < a->ne[0]; k++)
        sum += row[k] * at(b, k, n, p, q);
    return sum;
}

/* NMSE for a node of one sum, whose terms may cancel while their errors do not:
 * relative to the terms. */
static double
nmse_of_sum(const struct ggml_tensor *node, double nmse)
{
    const double *row = row_of(node->src[0], 0, 0, 0);
    double sum = 0.0;
    double squares = 0.0;

    for (int64_t k = 0; k < node->src[0]->ne[0]; k++) {
        const double term = row[k] * at(node->src[1], k, 0, 0, 0);

        sum += term;
        squares += term * term;
    }
    return squares > sum * sum ? nmse * squares / (sum * sum) : nmse;
}

static void
check_product(enum ggml_type type, enum layout a_layout,
              enum layout b_layout, const int64_t *a, const int64_t *b)
{
    struct bench bench = bench_open();
    struct ggml_tensor *x =
        tensor(&bench, type, a_layout, a[0], a[1], a[2], a[3]);
    struct ggml_tensor *y =
        tensor(&bench, GGML_TYPE_F32, b_layout, b[0], b[1], b[2], b[3]);
    struct ggml_tensor *node = ggml_mul_mat(bench.ctx, x, y);

    check(&bench, node, mul_mat_reference,
          ggml_nelements(node) == 1 ? nmse_of_sum(node, nmse_of(type))
                                    : nmse_of(type));
    bench_close(&bench);
}

/* Numbers of columns on both sides of where the way changes, and about what is
 * taken at a time; rows about a vector's and a tile's length. */
static void
every_type_by_rows_and_columns(void **state)
{
    static const int64_t sizes[][2] = {
        { 1, 1 }, { 5, 3 }, { 33, 2 }, { 17, 4 }, { 66, 7 }, { 70, 13 },
    };

    (void)state;
    for (size_t t = 0; t < N_TYPES; t++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            const int64_t k = i % 2 == 0 ? 256 : 768;
            const int64_t a[] = { k, sizes[i][0], 1, 1 };
            const int64_t b[] = { k, sizes[i][1], 1, 1 };

            check_product(weight_types[t], DENSE, DENSE, a, b);
        }
    }
}

/* Lengths that are no multiple of anything, as far as the type allows. */
static void
rows_of_every_length(void **state)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32,  GGML_TYPE_F16,  GGML_TYPE_BF16,  GGML_TYPE_Q4_0,
        GGML_TYPE_Q5_1, GGML_TYPE_Q8_0, GGML_TYPE_IQ4_NL,
    };
    static const int64_t lengths[] = { 1, 3, 15, 17, 31, 65, 259, 515 };

    (void)state;
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        const int64_t block = ggml_blck_size(types[t]);

        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
            const int64_t k =
                block == 1 ? lengths[i] : block * (1 + lengths[i] / 12);
            const int64_t a[] = { k, 19, 1, 1 };

            for (int64_t n = 1; n <= 9; n += 4)
                check_product(types[t], DENSE, DENSE, a,
                              (const int64_t[]){ k, n, 1, 1 });
        }
    }
}

static void
operands_may_lie_anyhow_and_a_is_shared(void **state)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_Q4_1, GGML_TYPE_Q6_K,
    };

    (void)state;
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        for (int la = DENSE; la <= PERMUTED; la++) {
            for (int lb = DENSE; lb <= PERMUTED; lb++) {
                if (la == TRANSPOSED || lb == TRANSPOSED)
                    continue;
                for (int64_t n = 1; n <= 5; n += 4) {
                    check_product(types[t], (enum layout)la, (enum layout)lb,
                                  (const int64_t[]){ 256, 9, 3, 2 },
                                  (const int64_t[]){ 256, n, 6, 2 });
                    check_product(types[t], (enum layout)la, (enum layout)lb,
                                  (const int64_t[]){ 256, 9, 1, 2 },
                                  (const int64_t[]){ 256, n, 3, 4 });
                }
            }
        }
    }
}

/* More rows and columns than a tile has, and longer than a panel. */
static void
products_of_many_tiles(void **state)
{
    (void)state;
    check_product(GGML_TYPE_F32, DENSE, DENSE,
                  (const int64_t[]){ 300, 130, 1, 1 },
                  (const int64_t[]){ 300, 71, 1, 1 });
    check_product(GGML_TYPE_Q8_0, DENSE, DENSE,
                  (const int64_t[]){ 544, 130, 1, 1 },
                  (const int64_t[]){ 544, 71, 1, 1 });
    check_product(GGML_TYPE_Q4_K, DENSE, DENSE,
                  (const int64_t[]){ 256, 2100, 1, 1 },
                  (const int64_t[]){ 256, 5, 1, 1 });
    check_product(GGML_TYPE_Q4_0, DENSE, DENSE,
                  (const int64_t[]){ 32, 4, 1, 1 },
                  (const int64_t[]){ 32, 600, 1, 1 });
}

/* Enough rows and columns for panels: rows of one step, of less than a vector,
 * some to a panel, longer than one, and of an odd number of values; columns
 * that do not fill a group; that are packed, since they lie pages apart or are
 * several matrices', and that are not. */
static void
float_weights_of_many_rows(void **state)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16,
    };
    static const int64_t sizes[][3] = {
        { 1, 129, 5 },    { 1, 129, 17 },   { 15, 200, 25 },
        { 64, 600, 24 },  { 333, 133, 4 },  { 333, 133, 22 },
        { 1024, 130, 31 }, { 1100, 130, 19 }, { 2101, 150, 40 },
        { 15, 200, 13 },  { 1100, 130, 7 },  { 2101, 150, 15 },
    };

    (void)state;
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            for (int lb = DENSE; lb <= PADDED; lb++)
                check_product(
                    types[t], DENSE, (enum layout)lb,
                    (const int64_t[]){ sizes[i][0], sizes[i][1], 1, 1 },
                    (const int64_t[]){ sizes[i][0], sizes[i][2], 1, 1 });
        check_product(types[t], PERMUTED, PERMUTED,
                      (const int64_t[]){ 40, 131, 2, 1 },
                      (const int64_t[]){ 40, 9, 6, 2 });
        check_product(types[t], DENSE, PERMUTED,
                      (const int64_t[]){ 40, 131, 2, 1 },
                      (const int64_t[]){ 40, 23, 2, 1 });
    }
}

/* Of many packed columns the last tile may have no more than one, two or three:
 * of columns that are packed in pairs, and that are two matrices'. */
static void
last_tiles_of_few_packed_columns(void **state)
{
    (void)state;
    for (int64_t n = 1201; n <= 1203; n++)
        check_product(GGML_TYPE_BF16, DENSE, DENSE,
                      (const int64_t[]){ 64, 200, 1, 1 },
                      (const int64_t[]){ 64, n, 1, 1 });
    check_product(GGML_TYPE_F32, DENSE, PERMUTED,
                  (const int64_t[]){ 64, 150, 1, 1 },
                  (const int64_t[]){ 64, 601, 2, 1 });
}

static void
activations_may_have_the_weights_partner_type(void **state)
{
    (void)state;
    for (size_t t = 0; t < N_TYPES; t++) {
        const enum ggml_type type = weight_types[t];
        const enum ggml_type partner =
            ggml_get_type_traits_cpu(type)->vec_dot_type;
        /* An odd number of blocks: rows of q8_0 lie at addresses that are even
         * and no more. */
        const int64_t length = ggml_blck_size(type) <= 32 ? 480 : 512;
        struct bench bench = bench_open();
        struct ggml_tensor *a =
            tensor(&bench, type, DENSE, length, 140, 1, 1);
        struct ggml_tensor *b =
            tensor(&bench, GGML_TYPE_F32, DENSE, length, 6, 1, 1);
        struct ggml_tensor *rounded =
            ggml_new_tensor_2d(bench.ctx, partner, length, 6);

        if (partner != GGML_TYPE_F32) {
            const ggml_from_float_t from_float =
                ggml_get_type_traits_cpu(partner)->from_float;

            for (int64_t i = 0; i < 6; i++)
                from_float((const float *)(const void *)place(b, 0, i, 0, 0),
                           place(rounded, 0, i, 0, 0), length);
            /* The reference takes what was rounded from. */
            struct ggml_tensor *node =
                ggml_mul_mat(bench.ctx, a, rounded);
            struct ggml_tensor *plain = ggml_mul_mat(bench.ctx, a, b);

            assert_true(can_run(node));
            for (const struct gb_cpu_kernels *const *k = gb_cpu_kernels_all();
                 *k != NULL; k++) {
                double *expected = references(plain, mul_mat_reference);

                assert_int_equal(compute(node, *k, false),
                                 GGML_STATUS_SUCCESS);
                compare(node, expected, QUANTISED_NMSE, (*k)->variant);
                free(expected);
            }
        }
        bench_close(&bench);
    }
}

static void
what_cannot_be_multiplied_is_refused(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *b =
        tensor(&bench, GGML_TYPE_F32, DENSE, 64, 3, 1, 1);
    struct ggml_tensor *half =
        tensor(&bench, GGML_TYPE_F16, DENSE, 64, 3, 1, 1);
    struct ggml_tensor *quantised =
        tensor(&bench, GGML_TYPE_Q8_0, DENSE, 64, 3, 1, 1);
    struct ggml_tensor *sparse =
        tensor(&bench, GGML_TYPE_F32, SPARSE, 64, 3, 1, 1);
    struct ggml_tensor *integers =
        ggml_new_tensor_2d(bench.ctx, GGML_TYPE_I32, 64, 3);

    (void)state;
    assert_false(can_run(ggml_mul_mat(bench.ctx, integers, b)));
    assert_false(can_run(ggml_mul_mat(bench.ctx, quantised, half)));
    assert_false(can_run(ggml_mul_mat(bench.ctx, b, half)));
    assert_false(can_run(ggml_mul_mat(bench.ctx, b, sparse)));
    assert_false(can_run(ggml_mul_mat(bench.ctx, sparse, b)));
    bench_close(&bench);
}

static double
mul_mat_id_reference(const struct ggml_tensor *node, int64_t m, int64_t x,
                     int64_t y, int64_t unused)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const double *row =
        row_of(a, m, (int64_t)at(node->src[2], x, y, 0, 0), 0);
    double sum = 0.0;

    (void)unused;
    for (int64_t k = 0; k < a->ne[0]; k++)
        sum += row[k] * at(b, k, x % b->ne[1], y, 0);
    return sum;
}

static struct ggml_tensor *
mul_mat_id_node(struct bench *bench, enum ggml_type type, int64_t shared,
                int64_t slots, int64_t tokens)
{
    struct ggml_tensor *a = tensor(bench, type, DENSE, 256, 37, 5, 1);
    struct ggml_tensor *b = tensor(
        bench, GGML_TYPE_F32, PADDED, 256, shared, tokens, 1);
    /* The first ids of longer rows. */
    struct ggml_tensor *all =
        ggml_new_tensor_2d(bench->ctx, GGML_TYPE_I32, 7, tokens);
    struct ggml_tensor *ids = ggml_view_2d(
        bench->ctx, all, slots, tokens, all->nb[1], 0);

    fill(bench, all, 0.0, 4.99);
    return ggml_mul_mat_id(bench->ctx, a, b, ids);
}

static void
each_column_chooses_its_matrix(void **state)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_Q4_0, GGML_TYPE_Q5_K,
    };
    static const int64_t sizes[][3] = {
        { 1, 1, 1 }, { 1, 4, 1 }, { 4, 4, 1 }, { 2, 4, 9 }, { 1, 3, 40 },
        { 1, 7, 200 },
    };

    (void)state;
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            struct bench bench = bench_open();

            check(&bench,
                  mul_mat_id_node(&bench, types[t], sizes[i][0], sizes[i][1],
                                  sizes[i][2]),
                  mul_mat_id_reference, nmse_of(types[t]));
            bench_close(&bench);
        }
    }
}

static void
an_id_of_no_matrix_fails(void **state)
{
    static const int32_t bad[] = { -1, 5, INT32_MAX };

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct bench bench = bench_open();
        struct ggml_tensor *node =
            mul_mat_id_node(&bench, GGML_TYPE_F32, 1, 2, 3);

        put(node->src[2], 1, 2, 0, 0, bad[i]);
        check_fails(node);
        bench_close(&bench);
    }
}

/* Columns of one, of some and of quantised weights: none of them can choose. */
static void
without_matrices_every_id_fails(void **state)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_Q4_0 };

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct bench bench = bench_open();
        struct ggml_tensor *a =
            tensor(&bench, types[i % 2], DENSE, 32, 4, 0, 1);
        struct ggml_tensor *b =
            tensor(&bench, GGML_TYPE_F32, DENSE, 32, 1, 3, 1);
        struct ggml_tensor *ids = ggml_new_tensor_2d(
            bench.ctx, GGML_TYPE_I32, i < 2 ? 1 : 2, 3);

        fill(&bench, ids, 0.0, 0.99);
        check_fails(ggml_mul_mat_id(bench.ctx, a, b, ids));
        bench_close(&bench);
    }
}

static double
out_prod_reference(const struct ggml_tensor *node, int64_t i, int64_t j,
                   int64_t p, int64_t q)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const int64_t a2 = p / (b->ne[2] / a->ne[2]);
    const int64_t a3 = q / (b->ne[3] / a->ne[3]);
    double sum = 0.0;

    for (int64_t k = 0; k < a->ne[1]; k++)
        sum += at(a, i, k, a2, a3) * at(b, j, k, p, q);
    return sum;
}

static void
check_out_prod(enum ggml_type type, enum layout a_layout,
               enum layout b_layout, const int64_t *a, const int64_t *b)
{
    struct bench bench = bench_open();
    struct ggml_tensor *x =
        tensor(&bench, type, a_layout, a[0], a[1], a[2], a[3]);
    struct ggml_tensor *y =
        tensor(&bench, GGML_TYPE_F32, b_layout, b[0], b[1], b[2], b[3]);

    check(&bench, ggml_out_prod(bench.ctx, x, y), out_prod_reference,
          REAL_NMSE);
    bench_close(&bench);
}

static void
sums_of_outer_products(void **state)
{
    static const int64_t widths[] = { 1, 7, 16, 33, 100 };

    (void)state;
    for (int i = 0; i < 5; i++) {
        for (int lb = DENSE; lb <= SPARSE; lb++) {
            const int64_t a[] = { widths[i], 13, 1, 2 };
            const int64_t b[] = { widths[i] + 1, 13, 3, 2 };

            check_out_prod(GGML_TYPE_F32, DENSE, (enum layout)lb, a, b);
            check_out_prod(GGML_TYPE_F32, PADDED, (enum layout)lb, a, b);
            check_out_prod(GGML_TYPE_F16, PERMUTED, (enum layout)lb, a, b);
        }
    }
    for (size_t t = 3; t < N_TYPES; t++)
        check_out_prod(weight_types[t], DENSE, DENSE,
                       (const int64_t[]){ 256, 5, 2, 1 },
                       (const int64_t[]){ 3, 5, 2, 1 });
    check_out_prod(GGML_TYPE_F32, DENSE, DENSE,
                   (const int64_t[]){ 33, 0, 1, 1 },
                   (const int64_t[]){ 3, 0, 1, 1 });
    check_out_prod(GGML_TYPE_F32, DENSE, DENSE,
                   (const int64_t[]){ 5, 300, 1, 1 },
                   (const int64_t[]){ 70, 300, 1, 1 });
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_by_rows_and_columns),
        cmocka_unit_test(rows_of_every_length),
        cmocka_unit_test(operands_may_lie_anyhow_and_a_is_shared),
        cmocka_unit_test(products_of_many_tiles),
        cmocka_unit_test(float_weights_of_many_rows),
        cmocka_unit_test(last_tiles_of_few_packed_columns),
        cmocka_unit_test(activations_may_have_the_weights_partner_type),
        cmocka_unit_test(what_cannot_be_multiplied_is_refused),
        cmocka_unit_test(each_column_chooses_its_matrix),
        cmocka_unit_test(an_id_of_no_matrix_fails),
        cmocka_unit_test(without_matrices_every_id_fails),
        cmocka_unit_test(sums_of_outer_products),
    };

    return cmocka_run_group_tests_name("products", tests, NULL, NULL);
}
