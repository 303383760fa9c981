/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/parts.c - in how many thread blocks attention is, by the card:
 * keys are cut into parts until it has as many as it runs at once; and what TMA
 * is told of keys and values, by how they lie.
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
    enum gb_cuda_kernel kernel; /* of attention */
    unsigned n_blocks;
    bool is_joined;
    struct gb_cuda_mapped maps[2];
    int n_maps;
    int32_t heads_first[2];
};

static void
record_launch(struct gb_cuda_emit *emit, enum gb_cuda_kernel kernel,
              unsigned n_blocks, size_t shared, const void *args, size_t size)
{
    struct record *record = (struct record *)emit;

    (void)shared;
    if (kernel == GB_CUDA_KERNEL_gb_attention_join) {
        record->is_joined = true;
        return;
    }
    record->kernel = kernel;
    record->n_blocks = n_blocks;
    if (size == sizeof(struct gb_cuda_wgmma_attention_args)) {
        const struct gb_cuda_wgmma_attention_args *all = args;

        record->heads_first[0] = all->k_heads_first;
        record->heads_first[1] = all->v_heads_first;
    }
}

static void
record_map(struct gb_cuda_emit *emit, const struct gb_cuda_mapped *mapped,
           struct gb_cuda_tensor_map *out)
{
    struct record *record = (struct record *)emit;

    (void)out;
    if (record->n_maps < 2)
        record->maps[record->n_maps] = *mapped;
    record->n_maps++;
}

/* What NODE is on CARD. */
static struct record
record_of(const struct gb_cuda_limits *card, const struct ggml_tensor *node)
{
    struct record record = {
        .emit = {
            .limits = card,
            .add = record_launch,
            .map = record_map,
            .scratch = (char *)(uintptr_t)((uint64_t)1 << 41),
            .block_masks = (char *)(uintptr_t)((uint64_t)3 << 40),
        },
    };

    gb_cuda_op_of(GGML_OP_FLASH_ATTN_EXT)->emit(&record.emit, node);
    return record;
}

static struct ggml_context *
begin(void)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 16 * ggml_tensor_overhead(), .no_alloc = true });

    assert_non_null(ctx);
    return ctx;
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
        struct ggml_context *ctx = begin();
        const struct record record = record_of(
            launch->card, attention(ctx, launch->tokens, launch->keys));

        if (record.n_blocks != launch->n_blocks ||
            record.is_joined != launch->is_joined)
            fail_msg("%d multiprocessors, %lld tokens, %lld keys: %u blocks%s",
                     launch->card->n_sms, (long long)launch->tokens,
                     (long long)launch->keys, record.n_blocks,
                     record.is_joined ? ", joined" : "");
        ggml_free(ctx);
    }
}

/* ---- what TMA is told ---- */

enum { TOKENS = 32, KEYS = 1000, ROW = 2 * HEAD };

static void
compare(const struct gb_cuda_mapped *got, uint64_t rows, uint64_t stride,
        uint32_t box, uint64_t planes, uint64_t plane, uint32_t plane_box)
{
    assert_int_equal(got->n, HEAD);
    assert_int_equal(got->rows, rows);
    assert_int_equal(got->stride, stride);
    assert_int_equal(got->box_rows, box);
    assert_int_equal(got->more[0].n, planes);
    assert_int_equal(got->more[0].stride, plane);
    assert_int_equal(got->more[0].box, plane_box);
    assert_int_equal(got->more[1].n, 1);
    assert_int_equal(got->more[1].box, 1);
}

/* Keys by head, values by token: the dimension whose neighbours are nearer is the
 * second. */
static void
maps_have_the_nearer_dimension_first(void **state)
{
    struct ggml_context *ctx = begin();
    struct ggml_tensor *node = attention(ctx, TOKENS, KEYS);
    struct ggml_tensor *v = node->src[2];
    struct record record;

    (void)state;
    v->nb[1] = (size_t)KEY_HEADS * ROW;
    v->nb[2] = ROW;
    record = record_of(&h200, node);
    assert_int_equal(record.kernel, GB_CUDA_KERNEL_gb_wgmma_attention_128);
    assert_int_equal(record.n_maps, 2);
    compare(&record.maps[0], KEYS, ROW, GB_CUDA_WGMMA_KEYS, KEY_HEADS,
            (uint64_t)KEYS * ROW, 1);
    compare(&record.maps[1], KEY_HEADS, ROW, 1, KEYS,
            (uint64_t)KEY_HEADS * ROW, GB_CUDA_WGMMA_KEYS);
    assert_int_equal(record.heads_first[0], 0);
    assert_int_equal(record.heads_first[1], 1);
    ggml_free(ctx);
}

/* Strides that no map has, each in one of the two matrices. */
static void
what_no_map_has_is_not_fetched(void **state)
{
    static const struct {
        int source, dim;
        size_t more;
    } odd[] = { { 1, 2, 16 }, { 2, 2, 16 }, { 1, 1, 16 }, { 2, 1, 16 } };

    (void)state;
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        struct ggml_context *ctx = begin();
        struct ggml_tensor *node = attention(ctx, TOKENS, KEYS);
        struct record record;

        node->src[odd[i].source]->nb[odd[i].dim] += odd[i].more;
        record = record_of(&h200, node);
        assert_int_equal(record.kernel, GB_CUDA_KERNEL_gb_mma8_attention_128);
        assert_int_equal(record.n_maps, 0);
        ggml_free(ctx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_cut_until_the_card_is_full),
        cmocka_unit_test(maps_have_the_nearer_dimension_first),
        cmocka_unit_test(what_no_map_has_is_not_fetched),
    };

    if (sizeof(void *) < sizeof(uint64_t)) {
        puts("1..0 # SKIP a card's addresses have 64 bits");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
