/* SPDX-License-Identifier: MIT */
/*
 * tests/op/custom.c - builders of operations that the client computes.
 */
#include "tests/op/node.h"

/* The deprecated builders are part of the interface and tested like others. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void
row_1(const int n, float *dst, const float *a)
{
    memcpy(dst, a, (size_t)n * sizeof(*dst));
}

static void
row_2(const int n, float *dst, const float *a, const float *b)
{
    (void)b;
    row_1(n, dst, a);
}

static void
whole_1(struct ggml_tensor *dst, const struct ggml_tensor *a)
{
    dst->extra = a->extra;
}

static void
whole_2(struct ggml_tensor *dst, const struct ggml_tensor *a,
        const struct ggml_tensor *b)
{
    (void)b;
    whole_1(dst, a);
}

static void
whole_3(struct ggml_tensor *dst, const struct ggml_tensor *a,
        const struct ggml_tensor *b, const struct ggml_tensor *c)
{
    (void)c;
    whole_2(dst, a, b);
}

static void
share_1(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith, int nth,
        void *userdata)
{
    dst->extra = ith < nth ? a->extra : userdata;
}

static void
share_2(struct ggml_tensor *dst, const struct ggml_tensor *a,
        const struct ggml_tensor *b, int ith, int nth, void *userdata)
{
    (void)b;
    share_1(dst, a, ith, nth, userdata);
}

static void
share_3(struct ggml_tensor *dst, const struct ggml_tensor *a,
        const struct ggml_tensor *b, const struct ggml_tensor *c, int ith,
        int nth, void *userdata)
{
    (void)c;
    share_2(dst, a, b, ith, nth, userdata);
}

/* A node of OP with the SIZE bytes of a function pointer as parameter. */
static struct want
calling(enum ggml_op op, struct ggml_tensor *const src[3], const void *function,
        size_t size)
{
    struct want want = { .op = op,
                         .type = src[0]->type,
                         .ne = { 8, 6, 4, 2 },
                         .src = { src[0], src[1], src[2] } };

    memcpy(want.params, function, size);
    return want;
}

static void
rows_are_mapped(void **state)
{
    const ggml_unary_op_f32_t f1 = row_1;
    const ggml_binary_op_f32_t f2 = row_2;
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2), *b = f32(8, 6, 4, 2);
    struct ggml_tensor *const s1[] = { a, NULL, NULL };
    struct ggml_tensor *const s2[] = { a, b, NULL };
    struct want want = calling(GGML_OP_MAP_UNARY, s1, &f1, sizeof(f1));

    (void)state;
    check_new(ggml_map_unary_f32(ctx, a, f1), &want);
    check_inplace(ggml_map_unary_inplace_f32(ctx, a, f1), &want);
    want = calling(GGML_OP_MAP_BINARY, s2, &f2, sizeof(f2));
    check_new(ggml_map_binary_f32(ctx, a, b, f2), &want);
    check_inplace(ggml_map_binary_inplace_f32(ctx, a, b, f2), &want);
    check_refused(ggml_map_unary_f32(ctx, a, NULL), "map_unary_f32");
    check_refused(ggml_map_binary_f32(ctx, a, b, NULL), "map_binary_f32");
    check_refused(ggml_map_binary_f32(ctx, a, f32(8, 6, 4, 1), f2),
                  "map_binary_f32");
    check_refused(ggml_map_binary_inplace_f32(ctx, a, f32(8, 1, 1, 1), f2),
                  "map_binary_f32");
}

static void
whole_tensors_are_mapped(void **state)
{
    const ggml_custom1_op_f32_t f1 = whole_1;
    const ggml_custom2_op_f32_t f2 = whole_2;
    const ggml_custom3_op_f32_t f3 = whole_3;
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = leaf(GGML_TYPE_F16, 8, 6, 4, 2);
    struct ggml_tensor *b = f32(3, 1, 1, 1), *c = f32(5, 1, 1, 1);
    struct ggml_tensor *const s[] = { a, b, c };
    struct want want;

    (void)state;
    want = calling(GGML_OP_MAP_CUSTOM3_F32, s, &f3, sizeof(f3));
    check_new(ggml_map_custom3_f32(ctx, a, b, c, f3), &want);
    check_inplace(ggml_map_custom3_inplace_f32(ctx, a, b, c, f3), &want);
    want = calling(GGML_OP_MAP_CUSTOM2_F32, s, &f2, sizeof(f2));
    want.src[2] = NULL;
    check_new(ggml_map_custom2_f32(ctx, a, b, f2), &want);
    check_inplace(ggml_map_custom2_inplace_f32(ctx, a, b, f2), &want);
    want = calling(GGML_OP_MAP_CUSTOM1_F32, s, &f1, sizeof(f1));
    want.src[1] = want.src[2] = NULL;
    check_new(ggml_map_custom1_f32(ctx, a, f1), &want);
    check_inplace(ggml_map_custom1_inplace_f32(ctx, a, f1), &want);
    check_refused(ggml_map_custom1_f32(ctx, a, NULL), "map_custom1_f32");
    check_refused(ggml_map_custom2_f32(ctx, a, b, NULL), "map_custom2_f32");
    check_refused(ggml_map_custom3_inplace_f32(ctx, a, b, c, NULL),
                  "map_custom3_f32");
}

/* The parameters as the interface lays them out. */
static void
set_shares(struct want *want, int n_tasks, void *userdata)
{
    memcpy((char *)want->params + 8, &n_tasks, sizeof(n_tasks));
    memcpy((char *)want->params + 16, &userdata, sizeof(userdata));
}

static void
shares_are_mapped(void **state)
{
    const ggml_custom1_op_t f1 = share_1;
    const ggml_custom2_op_t f2 = share_2;
    const ggml_custom3_op_t f3 = share_3;
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = leaf(GGML_TYPE_Q4_0, 64, 6, 4, 2);
    struct ggml_tensor *b = f32(3, 1, 1, 1), *c = f32(5, 1, 1, 1);
    struct ggml_tensor *const s[] = { a, b, c };
    struct want want;
    int data = 0;

    (void)state;
    if (sizeof(f1) != 8)
        skip(); /* the layout of the parameters is that of 64 bits */
    want = calling(GGML_OP_MAP_CUSTOM3, s, &f3, sizeof(f3));
    want.ne[0] = 64;
    set_shares(&want, 3, &data);
    check_new(ggml_map_custom3(ctx, a, b, c, f3, 3, &data), &want);
    check_inplace(ggml_map_custom3_inplace(ctx, a, b, c, f3, 3, &data), &want);
    want = calling(GGML_OP_MAP_CUSTOM2, s, &f2, sizeof(f2));
    want.ne[0] = 64;
    want.src[2] = NULL;
    set_shares(&want, GGML_N_TASKS_MAX, NULL);
    check_new(ggml_map_custom2(ctx, a, b, f2, GGML_N_TASKS_MAX, NULL), &want);
    check_inplace(ggml_map_custom2_inplace(ctx, a, b, f2, -1, NULL), &want);
    want = calling(GGML_OP_MAP_CUSTOM1, s, &f1, sizeof(f1));
    want.ne[0] = 64;
    want.src[1] = want.src[2] = NULL;
    set_shares(&want, 1, &data);
    check_new(ggml_map_custom1(ctx, a, f1, 1, &data), &want);
    check_inplace(ggml_map_custom1_inplace(ctx, a, f1, 1, &data), &want);
    check_refused(ggml_map_custom1(ctx, a, f1, 0, NULL), "map_custom1");
    check_refused(ggml_map_custom2(ctx, a, b, f2, -2, NULL), "map_custom2");
    check_refused(ggml_map_custom3(ctx, a, b, c, f3, 0, NULL), "map_custom3");
    check_refused(ggml_map_custom1(ctx, a, NULL, 1, NULL), "map_custom1");
    check_refused(ggml_map_custom2_inplace(ctx, a, b, NULL, 1, NULL),
                  "map_custom2");
    check_refused(ggml_map_custom3(ctx, a, b, c, NULL, 1, NULL),
                  "map_custom3");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(rows_are_mapped),
        TEST(whole_tensors_are_mapped),
        TEST(shares_are_mapped),
    };

    return cmocka_run_group_tests_name("custom operations", tests, NULL, NULL);
}
