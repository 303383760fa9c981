/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/masks.c - attentions with one mask look at it once, and see what
 * was written to it meanwhile.
 *
 * A mask lets each token see one key, so that its result is that key's value,
 * to the bit.  Keys of which a tile's tokens see one lie together: a block mask
 * that is not the mask's hides them.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum {
    HEAD = 64, TOKENS = 40, HEADS = 2, KEYS = 256, BLOCK = 64, TILE = 32,
    MASK_ROWS = 64, MASKS = 3, MAX_RESULTS = 4, TURNS = 5,
};

struct scene {
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    struct ggml_tensor *q, *k;
    struct ggml_tensor *masks[MASKS]; /* twice as many rows as a mask has */
    struct ggml_tensor *moving[2 * MASKS]; /* views, to the second half */
    int n_moving;
    struct ggml_tensor *values[MAX_RESULTS], *results[MAX_RESULTS];
    int seeds[MAX_RESULTS]; /* of the halves of masks that each sees, by turn */
    int moved_seeds[MAX_RESULTS];
    int n_results;
    ggml_backend_buffer_t buffer;
};

/* Each half of each mask has one, another one each turn. */
static int
seed_of(int mask, int half)
{
    return 2 * mask + half;
}

static int
key_of(int seed, int token)
{
    return (seed + token / TILE) % (KEYS / BLOCK) * BLOCK +
           (token * 13 + seed) % BLOCK;
}

/* Whole numbers that are halves. */
static float
value_at(int result, int key, int i)
{
    return (float)((key * 7 + i * 3 + result * 41) % 1021);
}

/* ---- graphs ---- */

static struct ggml_tensor *
half_of(struct scene *s, int mask, int half)
{
    struct ggml_tensor *all = s->masks[mask];

    return ggml_view_2d(s->ctx, all, KEYS, MASK_ROWS, all->nb[1],
                        (size_t)half * MASK_ROWS * all->nb[1]);
}

/* It sees what SEED makes, and MOVED_SEED when views moved. */
static void
attend(struct scene *s, struct ggml_tensor *mask, int seed, int moved_seed)
{
    const int i = s->n_results++;

    s->values[i] = ggml_new_tensor_3d(s->ctx, GGML_TYPE_F16, HEAD, KEYS, 1);
    s->results[i] = ggml_flash_attn_ext(s->ctx, s->q, s->k, s->values[i], mask,
                                        0.125f, 0.0f, 0.0f);
    s->seeds[i] = seed;
    s->moved_seeds[i] = moved_seed;
    ggml_build_forward_expand(s->graph, s->results[i]);
}

static void
attend_as_is(struct scene *s, int mask)
{
    attend(s, half_of(s, mask, 0), seed_of(mask, 0), seed_of(mask, 0));
}

static struct ggml_tensor *
copy(struct scene *s, struct ggml_tensor *from, struct ggml_tensor *to)
{
    to = ggml_cpy(s->ctx, from, to);
    ggml_build_forward_expand(s->graph, to);
    return to;
}

static void
one_mask(struct scene *s)
{
    for (int i = 0; i < 3; i++)
        attend_as_is(s, 0);
}

static void
two_masks_in_turns(struct scene *s)
{
    for (int i = 0; i < 4; i++)
        attend_as_is(s, i % 2);
}

static void
more_masks_than_are_kept(struct scene *s)
{
    for (int i = 0; i < 4; i++)
        attend_as_is(s, i % 3);
}

static void
a_copy_between(struct scene *s)
{
    struct ggml_tensor *mask = half_of(s, 0, 0);

    attend(s, mask, seed_of(0, 0), seed_of(0, 0));
    copy(s, half_of(s, 1, 1), mask);
    attend(s, mask, seed_of(1, 1), seed_of(1, 1));
    attend(s, mask, seed_of(1, 1), seed_of(1, 1));
}

/* First to the half that nobody looks at, then to the other one. */
static void
a_copy_that_moves(struct scene *s)
{
    struct ggml_tensor *mask = half_of(s, 0, 1), *to = half_of(s, 0, 0);

    attend(s, mask, seed_of(0, 1), seed_of(0, 1));
    s->moving[s->n_moving++] = to;
    s->moving[s->n_moving++] = copy(s, half_of(s, 1, 0), to);
    attend(s, mask, seed_of(0, 1), seed_of(1, 0));
}

static void
a_mask_that_moves(struct scene *s)
{
    struct ggml_tensor *mask = half_of(s, 2, 0), *other = half_of(s, 1, 0);

    s->moving[s->n_moving++] = mask;
    attend(s, other, seed_of(1, 0), seed_of(1, 0));
    attend(s, mask, seed_of(2, 0), seed_of(2, 1));
    attend(s, half_of(s, 2, 0), seed_of(2, 0), seed_of(2, 0));
    attend(s, other, seed_of(1, 0), seed_of(1, 0));
}

static const struct {
    const char *name;
    void (*add)(struct scene *s);
    uint64_t looks; /* at masks; 0: with views that move */
} ways[] = {
    { "one mask", one_mask, 1 },
    { "two masks in turns", two_masks_in_turns, 2 },
    { "more masks than are kept", more_masks_than_are_kept, 4 },
    { "a copy between", a_copy_between, 2 },
    { "a copy that moves", a_copy_that_moves, 0 },
    { "a mask that moves", a_mask_that_moves, 0 },
};

static size_t way;

/* ---- what is set, and what comes out ---- */

static void
set_halves(struct ggml_tensor *t, float (*value)(int row, int i, int of),
           int rows, int of)
{
    ggml_fp16_t row[KEYS];

    for (int r = 0; r < rows; r++) {
        for (int i = 0; i < (int)t->ne[0]; i++)
            row[i] = ggml_fp32_to_fp16(value(r, i, of));
        ggml_backend_tensor_set(t, row, (size_t)r * t->nb[1], t->nb[1]);
    }
}

static float
key_at(int key, int i, int of)
{
    (void)of;
    return (float)((key * 5 + i) % 9 - 4) / 4.0f;
}

static float
value_of_key(int key, int i, int of)
{
    return value_at(of, key, i);
}

static float
mask_at(int row, int key, int of)
{
    const int half = row / MASK_ROWS, token = row % MASK_ROWS;

    return key == key_of(of + half, token) ? 0.0f : -INFINITY;
}

static void
set_all(struct scene *s, int turn)
{
    float q[HEAD * TOKENS * HEADS];

    for (int i = 0; i < HEAD * TOKENS * HEADS; i++)
        q[i] = (float)(i * 11 % 17 - 8) / 4.0f;
    ggml_backend_tensor_set(s->q, q, 0, sizeof(q));
    set_halves(s->k, key_at, KEYS, 0);
    for (int i = 0; i < s->n_results; i++)
        set_halves(s->values[i], value_of_key, KEYS, i);
    for (int i = 0; i < MASKS; i++)
        set_halves(s->masks[i], mask_at, 2 * MASK_ROWS,
                   seed_of(i, 0) + turn);
}

static void
move(struct scene *s, bool is_moved)
{
    for (int i = 0; i < s->n_moving; i++) {
        struct ggml_tensor *t = s->moving[i];

        t->view_offs = is_moved ? MASK_ROWS * t->view_src->nb[1] : 0;
        if (t->op == GGML_OP_VIEW)
            memcpy(t->op_params, &t->view_offs, sizeof(t->view_offs));
        t->data = (char *)t->view_src->data + t->view_offs;
    }
}

static void
check_result(const struct scene *s, int result, int seed)
{
    static float got[HEAD * HEADS * TOKENS];

    ggml_backend_tensor_get(s->results[result], got, 0, sizeof(got));
    for (int token = 0; token < TOKENS; token++) {
        for (int head = 0; head < HEADS; head++) {
            const float *row = got + (token * HEADS + head) * HEAD;

            for (int i = 0; i < HEAD; i++)
                CHECK(row[i] == value_at(result, key_of(seed, token), i));
        }
    }
}

static void
make(struct scene *s, ggml_backend_t backend)
{
    memset(s, 0, sizeof(*s));
    s->ctx = ggml_init((struct ggml_init_params){ .mem_size = 1 << 18,
                                                  .no_alloc = true });
    CHECK(s->ctx != NULL);
    s->graph = ggml_new_graph(s->ctx);
    s->q = ggml_new_tensor_3d(s->ctx, GGML_TYPE_F32, HEAD, TOKENS, HEADS);
    s->k = ggml_new_tensor_3d(s->ctx, GGML_TYPE_F16, HEAD, KEYS, 1);
    for (int i = 0; i < MASKS; i++)
        s->masks[i] =
            ggml_new_tensor_2d(s->ctx, GGML_TYPE_F16, KEYS, 2 * MASK_ROWS);
    ways[way].add(s);
    s->buffer = ggml_backend_alloc_ctx_tensors(s->ctx, backend);
    CHECK(s->buffer != NULL);
}

static void
compute(void)
{
    struct scene s;
    ggml_backend_t backend;

    CHECK(cuda_load() != NULL);
    backend = cuda_backend("CUDA0");
    make(&s, backend);
    for (int turn = 0; turn < TURNS; turn++) {
        const bool is_moved = turn % 3 == 2;

        set_all(&s, turn);
        move(&s, is_moved);
        CHECK(ggml_backend_graph_compute(backend, s.graph) ==
              GGML_STATUS_SUCCESS);
        for (int i = 0; i < s.n_results; i++)
            check_result(&s, i, turn + (is_moved ? s.moved_seeds[i]
                                                 : s.seeds[i]));
    }
    if (ways[way].looks > 0)
        CHECK(emulator.kernel_runs("gb_attention_block_mask") ==
              TURNS * ways[way].looks);
    ggml_backend_buffer_free(s.buffer);
    ggml_free(s.ctx);
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
each_attention_sees_the_mask_of_its_time(void **state)
{
    static const char *const variables[] = {
        "", "GGML_CUDA_DISABLE_GRAPHS=1", "GGMLBACKEND_GPU_FUSE=off",
        "GGMLBACKEND_GPU_VARIANT=mma EMU_ORDER=2",
    };

    (void)state;
    for (way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
        for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
            print_message("# %s [%s]\n", ways[way].name, variables[i]);
            cuda_case(compute, variables[i], NULL);
        }
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_attention_sees_the_mask_of_its_time),
    };

    return cmocka_run_group_tests_name("masks", tests, NULL, NULL);
}
