/* SPDX-License-Identifier: MIT */
/*
 * tests/op/recurrent.c - builders of recurrences over tokens.
 */
#include "tests/op/node.h"

/* A transposed matrix and what is behind it: not contiguous. */
static struct ggml_tensor *
turned(int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3)
{
    return ggml_transpose(world.ctx, f32(ne1, ne0, ne2, ne3));
}

static void
ssm_conv_counts_tokens_behind_the_first_window(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *sx = f32(10, 6, 2, 1), *c = f32(4, 6, 1, 1);
    struct ggml_tensor *short_sx = f32(3, 6, 2, 1);

    (void)state;
    check_new(ggml_ssm_conv(ctx, sx, c),
              &(struct want){ .op = GGML_OP_SSM_CONV,
                              .ne = { 6, 7, 2, 1 },
                              .src = { sx, c } });
    check_new(ggml_ssm_conv(ctx, short_sx, c),
              &(struct want){ .op = GGML_OP_SSM_CONV,
                              .ne = { 6, 0, 2, 1 },
                              .src = { short_sx, c } });
    check_refused(ggml_ssm_conv(ctx, f32(2, 6, 2, 1), c), "ssm_conv");
    check_refused(ggml_ssm_conv(ctx, f32(10, 5, 2, 1), c), "ssm_conv");
    check_refused(ggml_ssm_conv(ctx, f32(10, 6, 2, 2), c), "ssm_conv");
    check_refused(ggml_ssm_conv(ctx, turned(10, 6, 2, 1), c), "ssm_conv");
    check_refused(
        ggml_ssm_conv(ctx, ggml_view_3d(ctx, f32(12, 6, 2, 1), 10, 6, 2, 48,
                                        288, 0),
                      c),
        "ssm_conv");
    check_refused(ggml_ssm_conv(ctx, sx, f32(4, 6, 2, 1)), "ssm_conv");
    check_refused(ggml_ssm_conv(ctx, sx, f32(0, 6, 1, 1)), "ssm_conv");
    check_refused(ggml_ssm_conv(ctx, sx, turned(4, 6, 1, 1)), "ssm_conv");
}

static void
ssm_scan_gives_outputs_and_states(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *good[] = {
        f32(4, 6, 2, 1), f32(6, 5, 2, 1), f32(6, 5, 2, 1),
        f32(4, 6, 1, 1), f32(4, 5, 2, 1), f32(4, 5, 2, 1),
    };
    /* Each operand once with another size, and once not dense. */
    struct ggml_tensor *bad[][2] = {
        { f32(4, 6, 3, 1), turned(4, 6, 2, 1) },
        { f32(7, 5, 2, 1), turned(6, 5, 2, 1) },
        { f32(6, 4, 2, 1), turned(6, 5, 2, 1) },
        { f32(4, 6, 2, 1), turned(4, 6, 1, 1) },
        { f32(4, 6, 2, 1), turned(4, 5, 2, 1) },
        { f32(4, 5, 2, 2), turned(4, 5, 2, 1) },
    };
    struct ggml_tensor *s[6];

    (void)state;
    check_new(ggml_ssm_scan(ctx, good[0], good[1], good[2], good[3], good[4],
                            good[5]),
              &(struct want){ .op = GGML_OP_SSM_SCAN,
                              .ne = { 60 + 48, 1, 1, 1 },
                              .src = { good[0], good[1], good[2], good[3],
                                       good[4], good[5] } });
    for (int i = 0; i < 6; i++) {
        memcpy(s, good, sizeof(s));
        for (int j = 0; j < 2; j++) {
            s[i] = bad[i][j];
            check_refused(
                ggml_ssm_scan(ctx, s[0], s[1], s[2], s[3], s[4], s[5]),
                "ssm_scan");
        }
    }
}

static struct ggml_tensor *
wkv6(struct ggml_tensor *const s[6])
{
    return ggml_rwkv_wkv6(world.ctx, s[0], s[1], s[2], s[3], s[4], s[5]);
}

static struct ggml_tensor *
gla(struct ggml_tensor *const s[6])
{
    return ggml_gated_linear_attn(world.ctx, s[0], s[1], s[2], s[4], s[5],
                                  0.5f);
}

static void
linear_attention_gives_outputs_and_states(void **state)
{
    struct ggml_tensor *good[] = {
        f32(4, 3, 6, 1), f32(4, 3, 6, 1), f32(4, 3, 6, 1),
        f32(4, 3, 1, 1), f32(4, 3, 6, 1), f32(48, 2, 1, 1),
    };
    struct ggml_tensor *bad[][2] = {
        { f32(4, 2, 6, 1), turned(4, 3, 6, 1) },
        { f32(4, 3, 5, 1), turned(4, 3, 6, 1) },
        { f32(5, 3, 6, 1), turned(4, 3, 6, 1) },
        { f32(4, 3, 6, 1), turned(4, 3, 1, 1) },
        { f32(4, 3, 1, 1), turned(4, 3, 6, 1) },
        { f32(47, 2, 1, 1), turned(48, 2, 1, 1) },
    };
    struct ggml_tensor *s[6];

    (void)state;
    check_new(wkv6(good), &(struct want){ .op = GGML_OP_RWKV_WKV6,
                                          .ne = { 12, 6 + 8, 1, 1 },
                                          .src = { good[0], good[1], good[2],
                                                   good[3], good[4],
                                                   good[5] } });
    check_new(gla(good), &(struct want){ .op = GGML_OP_GATED_LINEAR_ATTN,
                                         .ne = { 12, 6 + 8, 1, 1 },
                                         .src = { good[0], good[1], good[2],
                                                  good[4], good[5] },
                                         .params = { bits(0.5f) } });
    for (int i = 0; i < 6; i++) {
        memcpy(s, good, sizeof(s));
        for (int j = 0; j < 2; j++) {
            s[i] = bad[i][j];
            check_refused(wkv6(s), "rwkv_wkv6");
            if (i != 3)
                check_refused(gla(s), "gated_linear_attn");
        }
    }
    /* Six tokens do not fall to four sequences, nor to none. */
    memcpy(s, good, sizeof(s));
    s[5] = f32(48, 4, 1, 1);
    check_refused(wkv6(s), "rwkv_wkv6");
    s[5] = f32(48, 0, 1, 1);
    check_refused(gla(s), "gated_linear_attn");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(ssm_conv_counts_tokens_behind_the_first_window),
        TEST(ssm_scan_gives_outputs_and_states),
        TEST(linear_attention_gives_outputs_and_states),
    };

    return cmocka_run_group_tests_name("recurrences", tests, NULL, NULL);
}
