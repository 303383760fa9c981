/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/parts.c - in how many thread blocks attention is, by the card:
 * keys are cut into parts until it has as many as it runs at once.
 */
#include "config.h"

#include "backends/cuda/kernels/args-all.h"
#include "backends/cuda/ops/op.h"

#include "ggml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { HEAD = 128, KEY_HEADS = 8, SHARING = 4 };

static const struct gb_cuda_limits h200 = {
    .variant = GB_CUDA_WGMMA, .n_sms = 132, .warp = 32, .shared = 227 << 10
};
static const struct gb_cuda_limits a100 = {
    .variant = GB_CUDA_MMA8, .n_sms = 108, .warp = 32, .shared = 163 << 10
};
static const struct gb_cuda_limits rtx_3060 = {
    .variant = GB_CUDA_MMA8, .n_sms = 28, .warp = 32, .shared = 99 << 10
};
static const struct gb_cuda_limits t4 = {
    .variant = GB_CUDA_MMA, .n_sms = 40, .warp = 32, .shared = 64 << 10
};

/* Tiles have 64 rows of the 4 heads that share keys, by warp groups 128, or all of a
 * token's.  At once a multiprocessor has 2 blocks (a T4 1, by its shared memory), by
 * warp groups 1, of single tokens 3. */
static const struct launch {
    const struct gb_cuda_limits *card;
    int64_t tokens, keys;
    unsigned n_blocks;
    bool is_joined;
} launches[] = {
    /* 16 tiles, or 8 of warp groups.  Parts of 256, of 2,048 and of 1,408 keys. */
    { &h200, 32, 4096, 8 * 16, true },
    { &h200, 32, 32768, 8 * 16, true },
    { &rtx_3060, 32, 4096, 16 * 3, true },
    /* No part is shorter than 128. */
    { &h200, 32, 1024, 8 * 8, true },
    /* 64 rows are too few for warp groups. */
    { &h200, 16, 4096, 8 * 32, true },
    /* 24 tiles; six times as many would be 144, of 132. */
    { &h200, 96, 32768, 24 * 5, true },
    /* Parts of whole steps of 128 keys: 4,200 in two are 2,176 and the rest. */
    { &h200, 256, 4200, 64 * 2, true },
    /* 72 of 132: twice as many have no room. */
    { &h200, 272, 4096, 72, false },
    /* 128 of 216: 40 go into a second wave. */
    { &a100, 256, 4096, 128 * 2, true },
    /* As many as there are multiprocessors, and more. */
    { &h200, 512, 4096, 128, false },
    { &h200, 1024, 4096, 256, false },
    { &t4, 32, 4096, 16 * 2, true },
    { &t4, 64, 4096, 32, false },
    /* 49 parts of 704 keys are 47. */
    { &h200, 1, 32768, 8 * 47, true },
};

struct record {
    struct gb_cuda_emit emit;
    unsigned n_blocks;
    bool is_joined;
};

static void
record_launch(struct gb_cuda_emit *emit, enum gb_cuda_kernel kernel,
              unsigned n_blocks, size_t shared, const void *args, size_t size)
{
    struct record *record = (struct record *)emit;

    (void)shared;
    (void)args;
    if (kernel == GB_CUDA_KERNEL_gb_attention_join)
        record->is_joined = true;
    else if (size == sizeof(struct gb_cuda_attention_args) ||
             size == sizeof(struct gb_cuda_wgmma_attention_args))
        record->n_blocks = n_blocks;
}

static void
record_map(struct gb_cuda_emit *emit, const struct gb_cuda_mapped *mapped,
           struct gb_cuda_tensor_map *out)
{
    (void)emit;
    (void)mapped;
    (void)out;
}

static struct ggml_tensor *
attention(struct ggml_context *ctx, int64_t tokens, int64_t keys)
{
    struct ggml_tensor *q = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, HEAD, tokens,
                                               KEY_HEADS * SHARING);
    struct ggml_tensor *k =
        ggml_new_tensor_3d(ctx, GGML_TYPE_F16, HEAD, keys, KEY_HEADS);
    struct ggml_tensor *v =
        ggml_new_tensor_3d(ctx, GGML_TYPE_F16, HEAD, keys, KEY_HEADS);

    return ggml_flash_attn_ext(ctx, q, k, v, NULL, 0.1f, 0.0f, 0.0f);
}

static void
keys_are_cut_until_the_card_is_full(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(launches) / sizeof(launches[0]); i++) {
        const struct launch *launch = &launches[i];
        struct record record = {
            .emit = {
                .limits = launch->card,
                .add = record_launch,
                .map = record_map,
                .scratch = (char *)(uintptr_t)((uint64_t)1 << 41),
                .block_masks = (char *)(uintptr_t)((uint64_t)3 << 40),
            },
        };
        struct ggml_context *ctx = ggml_init((struct ggml_init_params){
            .mem_size = 16 * ggml_tensor_overhead(), .no_alloc = true });

        assert_non_null(ctx);
        gb_cuda_op_of(GGML_OP_FLASH_ATTN_EXT)
            ->emit(&record.emit,
                   attention(ctx, launch->tokens, launch->keys));
        if (record.n_blocks != launch->n_blocks ||
            record.is_joined != launch->is_joined)
            fail_msg("%d multiprocessors, %lld tokens, %lld keys: %u blocks%s",
                     launch->card->n_sms, (long long)launch->tokens,
                     (long long)launch->keys, record.n_blocks,
                     record.is_joined ? ", joined" : "");
        ggml_free(ctx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_cut_until_the_card_is_full),
    };

    if (sizeof(void *) < sizeof(uint64_t)) {
        puts("1..0 # SKIP a card's addresses have 64 bits");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
