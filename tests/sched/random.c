/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/random.c - random graphs over devices that lack random
 * operations and members: each tensor is where the rules say, and the results
 * are those of the CPU alone, to the bit.
 *
 * GGMLBACKEND_TEST_GRAPHS says how many graphs each test makes.
 */
#include "tests/sched/graphs.h"
#include "tests/sched/rules.h"
#include "tests/util/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GRAPHS    300 /* of a test, if nobody asks for more */
#define PER_RIG   10  /* graphs for which the same devices are there */
#define MAX_RUNS  2   /* computes of a graph */

/* Backends for a few graphs, and the CPU alone beside them. */
struct pair {
    struct rig rig, alone;
    struct graphs graphs, expected;
};

static uint64_t
n_graphs(void)
{
    const char *text = getenv("GGMLBACKEND_TEST_GRAPHS");

    return text != NULL && *text != '\0' ? strtoull(text, NULL, 10) : GRAPHS;
}

/* Members that a device may lack, of those that copies and waits use. */
static const enum gb_sim_member members[] = {
    GB_SIM_EVENTS, GB_SIM_CPY_ASYNC, GB_SIM_CPY_TENSOR, GB_SIM_SYNCHRONIZE,
    GB_SIM_SET_ASYNC, GB_SIM_GET_ASYNC, GB_SIM_RESET, GB_SIM_INIT_TENSOR,
    GB_SIM_OFFLOAD_OP,
};

static const enum ggml_op ops[] = {
    GGML_OP_SQR, GGML_OP_NORM, GGML_OP_SCALE, GGML_OP_CONT, GGML_OP_CPY,
    GGML_OP_ADD, GGML_OP_SUB, GGML_OP_SET, GGML_OP_CLAMP,
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static bool
one_of(struct gb_random *random, uint64_t n)
{
    return gb_random_u64(random) % n == 0;
}

/* Devices with what chance leaves them. */
static void
configure(uint64_t seed, int n_devices, bool writes)
{
    struct gb_random random;

    sim_reset();
    gb_random_init(&random, ~seed);
    for (int i = 0; i < n_devices; i++) {
        struct gb_sim_config config;

        gb_sim_default(&config);
        config.offload_min = one_of(&random, 2); /* never, or always */
        for (size_t k = 0; k < (writes ? LENGTH(ops) : 4); k++)
            config.without_op[ops[k]] = one_of(&random, 3);
        for (size_t k = 0; writes && k < LENGTH(members); k++)
            config.without[members[k]] = one_of(&random, 6);
        /* Room for a tensor or two. */
        if (one_of(&random, 3))
            config.max_buffer =
                config.alignment * (1 + one_of(&random, 2));
        assert_true(gb_sim_configure(i, 1, &config));
    }
}

static void
open_pair(struct pair *p, uint64_t seed, bool parallel, bool writes,
          bool chooses)
{
    const int n_devices = 1 + (int)(seed % 3);

    configure(seed, n_devices, writes);
    rig_open(&p->rig, n_devices, parallel);
    rig_open(&p->alone, 0, false);
    p->graphs = (struct graphs){
        .chooses = chooses, .writes = writes, .host = n_devices
    };
    p->expected = p->graphs;
    graphs_add_data(&p->graphs, &p->rig);
    graphs_add_data(&p->expected, &p->alone);
}

static void
close_pair(struct pair *p)
{
    /* One device has all that is left: only the last can be clean. */
    ggml_backend_sched_synchronize(p->rig.sched);
    rig_close(&p->rig);
    rig_close(&p->alone);
}

static unsigned char results[2][GRAPHS_BYTES];

static size_t
compute(struct graphs *g, uint64_t seed, unsigned char *out)
{
    graphs_fill_inputs(g, seed);
    rig_compute(g->rig);
    return graphs_read(g, out);
}

/* The graph of SEED, which has its places on both sides, a few times. */
static void
compare_results(struct pair *p, uint64_t seed)
{
    for (uint64_t run = 0; run < MAX_RUNS; run++) {
        const size_t n = compute(&p->expected, seed + run, results[0]);

        assert_int_equal(compute(&p->graphs, seed + run, results[1]), n);
        if (memcmp(results[0], results[1], n) != 0)
            fail_msg("seed %llu: other results", (unsigned long long)seed);
    }
}

/* Was the graph computed?  If not it was refused, rightly. */
static bool
check(struct pair *p, uint64_t seed)
{
    static struct rules rules;
    bool is_placed;

    graphs_make(&p->expected, seed);
    rig_alloc(&p->alone);
    graphs_make(&p->graphs, seed);
    if (!p->graphs.writes)
        rules_apply(&rules, &p->rig);
    is_placed = ggml_backend_sched_alloc_graph(p->rig.sched, p->rig.graph);
    /* Nobody is asked whether a backend can run what the client chose for it. */
    if (is_placed ? !p->graphs.chooses && graphs_are_refused(&p->graphs)
                  : !graphs_are_refused(&p->graphs))
        fail_msg("seed %llu: %s", (unsigned long long)seed,
                 is_placed ? "not refused" : "refused");
    if (!is_placed)
        return false;
    if (!p->graphs.writes)
        rules_compare(&rules, seed);
    graphs_fill_data(&p->graphs, seed);
    graphs_fill_data(&p->expected, seed);
    compare_results(p, seed);
    return true;
}

/* All graphs of a test from the seed FIRST on; how many were computed. */
static uint64_t
check_all(uint64_t first, bool writes, bool chooses)
{
    const uint64_t end = first + n_graphs();
    uint64_t n_computed = 0;

    for (uint64_t seed = first; seed < end; seed += PER_RIG) {
        struct pair p;

        open_pair(&p, seed, chooses && one_of(&(struct gb_random){ seed }, 2),
                  writes, chooses);
        for (uint64_t i = seed; i < end && i < seed + PER_RIG; i++) {
            n_computed += check(&p, i);
            rig_restart(&p.rig);
            rig_restart(&p.alone);
        }
        close_pair(&p);
    }
    return n_computed;
}

static void
random_graphs_follow_the_rules(void **state)
{
    (void)state;
    assert_int_equal(check_all(gb_test_seed(1), false, false), n_graphs());
}

static void
with_choices_too(void **state)
{
    (void)state;
    assert_int_equal(check_all(gb_test_seed(1001), false, true), n_graphs());
}

/* Some write to data for which their operation is not: it stays where it is. */
static void
check_writes(uint64_t seed, bool chooses)
{
    static struct gb_sink sink;
    uint64_t n_computed;

    gb_sink_begin(&sink);
    n_computed = check_all(seed, true, chooses);
    gb_sink_end();
    assert_true(n_computed > n_graphs() / 2);
}

static void
operations_in_place_give_the_same_numbers(void **state)
{
    (void)state;
    check_writes(gb_test_seed(2001), false);
}

static void
operations_in_place_do_so_with_choices_too(void **state)
{
    (void)state;
    check_writes(gb_test_seed(3001), true);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_follow_the_rules),
        cmocka_unit_test(with_choices_too),
        cmocka_unit_test(operations_in_place_give_the_same_numbers),
        cmocka_unit_test(operations_in_place_do_so_with_choices_too),
    };

    return cmocka_run_group_tests_name("random graphs", tests, NULL, NULL);
}
