/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/pairs.c - copies between cards, of which one corrupts them or is
 * lost.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static enum ggml_status
compute(ggml_backend_t backend, struct sums *sums, int seed)
{
    sums_set(sums, seed);
    return ggml_backend_graph_compute(backend, sums->graph);
}

struct pair {
    ggml_backend_t from, to;
    struct sums source, target;
};

static struct pair
pair_make(void)
{
    struct pair pair = { .from = cuda_backend("CUDA0"),
                         .to = cuda_backend("CUDA1") };

    pair.source =
        sums_make(ggml_backend_get_default_buffer_type(pair.from), 1);
    pair.target = sums_make(ggml_backend_get_default_buffer_type(pair.to), 1);
    CHECK(pair.source.buffer != NULL && pair.target.buffer != NULL);
    CHECK(compute(pair.from, &pair.source, 1) == GGML_STATUS_SUCCESS);
    CHECK(compute(pair.to, &pair.target, 2) == GGML_STATUS_SUCCESS);
    return pair;
}

static void
copy_between_cards(void)
{
    float sent[SUMS_N], received[SUMS_N];
    struct pair pair;

    CHECK(cuda_load() != NULL);
    pair = pair_make();
    ggml_backend_tensor_copy_async(pair.from, pair.to, pair.source.x,
                                   pair.target.x);
    ggml_backend_synchronize(pair.to);
    ggml_backend_tensor_get(pair.source.x, sent, 0, sizeof(sent));
    ggml_backend_tensor_get(pair.target.x, received, 0, sizeof(received));
    CHECK(memcmp(sent, received, sizeof(sent)) == 0);
    sums_free(&pair.source);
    sums_free(&pair.target);
    ggml_backend_free(pair.from);
    ggml_backend_free(pair.to);
    cuda_is_well();
}

static void
a_pair_that_corrupts(void **state)
{
    (void)state;
    cuda_case_says(copy_between_cards, "EMU_DEVICES=2 EMU_PEER=corrupting",
                   DEVICES "0: copies to " DEVICES "1 and back give other "
                   "bytes: they go through the host");
}

static void
a_setting_of_pairs_that_is_nonsense(void **state)
{
    (void)state;
    cuda_case_says(copy_between_cards,
                   "EMU_DEVICES=2 GGMLBACKEND_GPU_PEER=perhaps",
                   "GGMLBACKEND_GPU_PEER: perhaps is neither auto nor off, "
                   "and not used");
}

/* The copy is in the stream of the card that lives. */
static void
lose_the_target_of_a_copy(void)
{
    struct pair pair;

    CHECK(cuda_load() != NULL);
    pair = pair_make();
    ggml_backend_tensor_copy_async(pair.from, pair.to, pair.source.x,
                                   pair.target.x);
    ggml_backend_synchronize(pair.from);
    ggml_backend_tensor_copy_async(pair.from, pair.to, pair.source.y,
                                   pair.target.y);
    emulator.lose_card(1, 0);
    CHECK(ggml_backend_graph_compute(pair.to, pair.target.graph) ==
          GGML_STATUS_FAILED);
    emulator.reset();
    ggml_backend_free(pair.to);
    sums_free(&pair.target);
    CHECK(ggml_backend_graph_compute(pair.from, pair.source.graph) ==
          GGML_STATUS_SUCCESS);
    CHECK(sums_are_right(&pair.source, 1, 1));
    sums_free(&pair.source);
    ggml_backend_free(pair.from);
    cuda_computes("CUDA1");
    cuda_is_well();
}

static void
a_copy_to_a_card_that_is_lost_and_freed(void **state)
{
    (void)state;
    cuda_case_says(lose_the_target_of_a_copy, "EMU_DEVICES=2",
                   DEVICES "1: " LAUNCH ": unspecified launch failure");
    cuda_case_says(lose_the_target_of_a_copy, "EMU_DEVICES=2 EMU_PEER=refused",
                   DEVICES "1: " LAUNCH ": unspecified launch failure");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_that_corrupts),
        cmocka_unit_test(a_setting_of_pairs_that_is_nonsense),
        cmocka_unit_test(a_copy_to_a_card_that_is_lost_and_freed),
    };

    return cmocka_run_group_tests_name("pairs of cards", tests, NULL, NULL);
}
