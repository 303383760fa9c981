/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/bits.c - a model's logits are the same bits however they are
 * computed: in which order threads and streams run, kernel by kernel or as a
 * recorded graph, on one card or two.
 */
#include "config.h"

#include "tests/cuda/layers.h"
#include "tests/cuda/tiny-model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define ONE_CARD .devices = { "CUDA0" }, .n_devices = 1
#define TWO_CARDS .devices = { "CUDA0", "CUDA1" }, .n_devices = 2

static struct layers_way way;

/* ---- the same bits ---- */

/* "hash hash": by layers, and by the code of ggmlbackend-run. */
static void
print_hashes(void)
{
    static struct layers_answer answer;
    const struct tiny_run run = { .devices = DEVICES "0",
                                  .n_tokens = TINY_TOKENS };
    struct tiny_answer other;

    CHECK(cuda_load() != NULL);
    layers_run(&way, &answer);
    CHECK(tiny_model_run(&run, &other));
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
    fprintf(stderr, "%016llx %016llx\n",
            (unsigned long long)tiny_hash(answer.logits,
                                          sizeof(answer.logits)),
            (unsigned long long)tiny_hash(&other, sizeof(other)));
}

static void
all_ways_give_the_same_bits(void **state)
{
    static const struct {
        const char *variables;
        struct layers_way way;
    } cases[] = {
        { "EMU_THREADS=1", { ONE_CARD, .n_computes = 1 } },
        { "EMU_THREADS=2", { ONE_CARD, .n_computes = 1 } },
        { "EMU_ORDER=1", { ONE_CARD, .n_computes = 1 } },
        { "EMU_ORDER=2 EMU_SEED=1", { ONE_CARD, .n_computes = 1 } },
        { "EMU_ORDER=2 EMU_SEED=77", { ONE_CARD, .n_computes = 1 } },
        { "EMU_ORDER=3 EMU_SEED=5", { ONE_CARD, .n_computes = 1 } },
        { "", { ONE_CARD, .n_computes = 3 } },
        { "GGML_CUDA_DISABLE_GRAPHS=1", { ONE_CARD, .n_computes = 3 } },
        { "GGMLBACKEND_GPU_OVERLAP=off", { ONE_CARD, .n_computes = 3 } },
        { "", { ONE_CARD, .n_computes = 1, .is_fresh = true } },
        { "", { ONE_CARD, .n_computes = 3, .is_fresh = true } },
        { "EMU_DEVICES=2", { TWO_CARDS, .n_computes = 1 } },
        { "EMU_DEVICES=2 EMU_ORDER=2", { TWO_CARDS, .n_computes = 3 } },
        { "EMU_DEVICES=2 GGML_CUDA_DISABLE_GRAPHS=1",
          { TWO_CARDS, .n_computes = 2, .is_parallel = true } },
        { "EMU_DEVICES=2 EMU_PEER=refused", { TWO_CARDS, .n_computes = 2 } },
        { "GGMLBACKEND_GPU_DEVICES=0,0", { TWO_CARDS, .n_computes = 1 } },
        { "GGMLBACKEND_GPU_DEVICES=0,0 EMU_ORDER=1",
          { TWO_CARDS, .n_computes = 3, .is_fresh = true } },
    };
    char first[64] = "";

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *hashes;

        way = cases[i].way;
        cuda_case(print_hashes, cases[i].variables, &hashes);
        if (i == 0)
            snprintf(first, sizeof(first), "%s", hashes);
        print_message("# %d device%s, %d compute%s [%s] %s",
                      way.n_devices, way.n_devices > 1 ? "s" : "",
                      way.n_computes, way.n_computes > 1 ? "s" : "",
                      cases[i].variables, hashes);
        assert_string_equal(hashes, first);
    }
}

/* ---- and right ones ---- */

/*
 * Keys and values are rounded to F16 on both, everything else is F32: values
 * that lie at a rounding's edge differ by 2^-11 of themselves.
 */
static void
compare_with_the_cpu(void)
{
    static struct layers_answer card, cpu;
    const struct layers_way on_cpu = {
        .devices = { "CPU" }, .n_devices = 1, .n_computes = 1
    };
    double error = 0.0, square = 0.0;

    CHECK(cuda_load() != NULL);
    way = (struct layers_way){ ONE_CARD, .n_computes = 1 };
    layers_run(&way, &card);
    layers_run(&on_cpu, &cpu);
    CHECK(memcmp(card.tokens, cpu.tokens, sizeof(card.tokens)) == 0);
    for (int i = 0; i < LAYERS_TOKENS * LAYERS_MAX_VOCAB; i++) {
        const double a = (&card.logits[0][0])[i], b = (&cpu.logits[0][0])[i];

        error += (a - b) * (a - b);
        square += b * b;
    }
    fprintf(stderr, "normalised error %.2g, mean square %.2g\n",
            error / square, square / (LAYERS_TOKENS * card.n_vocab));
    CHECK(square / (LAYERS_TOKENS * card.n_vocab) > 0.1);
    CHECK(error / square < 1e-6);
}

static void
the_bits_are_those_of_the_model(void **state)
{
    const char *errors;

    (void)state;
    cuda_case(compare_with_the_cpu, "", &errors);
    print_message("# %s", errors);
}

/* ---- between launches ---- */

static uint64_t n_launches; /* that are expected of one graph; 0: each kernel */

static void
count_between_launches(void)
{
    static struct layers_answer answer;

    CHECK(cuda_load() != NULL);
    layers_run(&way, &answer);
    fprintf(stderr, "%d kernels, %d launches\n", (int)answer.n_kernels,
            (int)answer.n_launches);
    CHECK(answer.n_kernels > 20);
    CHECK(answer.n_waits == 0 && answer.n_allocations == 0);
    CHECK(answer.n_launches ==
          (n_launches != 0 ? n_launches : answer.n_kernels));
}

static void
count_in(const char *variables)
{
    const char *errors;

    cuda_case(count_between_launches, variables, &errors);
    print_message("# [%s] %s", variables, errors);
}

static void
nothing_is_allocated_or_waited_for_in_a_models_graph(void **state)
{
    (void)state;
    way = (struct layers_way){ ONE_CARD, .n_computes = 3 };
    n_launches = 1;
    count_in("");
    n_launches = 0;
    count_in("GGML_CUDA_DISABLE_GRAPHS=1");
    way = (struct layers_way){ TWO_CARDS, .n_computes = 3,
                               .is_parallel = true };
    n_launches = 2;
    /* Where a busy machine interrupts a wait, that would go to sleep. */
    count_in("EMU_DEVICES=2 GGMLBACKEND_GPU_WAIT=spin");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ways_give_the_same_bits),
        cmocka_unit_test(the_bits_are_those_of_the_model),
        cmocka_unit_test(nothing_is_allocated_or_waited_for_in_a_models_graph),
    };

    return cmocka_run_group_tests_name("a model's bits", tests,
                                       tiny_model_make, tiny_model_remove);
}
