/* SPDX-License-Identifier: MIT */
/* tests/sched/first.c - smoke */
#include "tests/backend/fake.h"
#include "ggml-cpu.h"
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

static void
run(ggml_backend_t *backends, int n, bool parallel)
{
    ggml_backend_sched_t sched = ggml_backend_sched_new(backends, NULL, n, 100, parallel);
    assert_non_null(sched);
    for (int round = 0; round < 10; round++) {
        struct ggml_context *ctx = fake_context(64);
        struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4), *y, *z;
        struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 32, false);
        float data[4] = { 1, 2, 3, (float)round }, out[4];

        ggml_backend_sched_reset(sched);
        ggml_set_input(x);
        y = ggml_add(ctx, x, x);
        y = ggml_scale(ctx, y, 3);
        ggml_backend_sched_set_tensor_backend(sched, y, backends[0]);
        z = ggml_sqr(ctx, y);
        z = ggml_add(ctx, z, x);
        z = ggml_scale(ctx, z, 0.5f);
        ggml_backend_sched_set_tensor_backend(sched, z, backends[0]);
        ggml_set_output(z);
        ggml_build_forward_expand(graph, z);
        assert_true(ggml_backend_sched_alloc_graph(sched, graph));
        ggml_backend_tensor_set(x, data, 0, 16);
        assert_int_equal(ggml_backend_sched_graph_compute(sched, graph), 0);
        print_message("splits %d sizes %zu %zu\n", ggml_backend_sched_get_n_splits(sched), ggml_backend_sched_get_buffer_size(sched, backends[0]), ggml_backend_sched_get_buffer_size(sched, backends[n-1]));
        ggml_backend_tensor_get(z, out, 0, 16);
        for (int i = 0; i < 4; i++)
            assert_float_equal(out[i], 0.5f * (36*data[i]*data[i]+data[i]), 0);
        ggml_free(ctx);
    }
    ggml_backend_sched_free(sched);
}

static void
works(void **state)
{
    struct fake fake;
    ggml_backend_t backends[2], cpu = ggml_backend_cpu_init();
    (void)state;
    fake_init(&fake, "F");
    run(&cpu, 1, false);
    backends[0] = fake_backend(&fake);
    backends[1] = cpu;
    run(backends, 2, false);
    run(backends, 2, true);
    ggml_backend_free(backends[0]);
    ggml_backend_free(cpu);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = { cmocka_unit_test(works) };
    return cmocka_run_group_tests_name("s", tests, NULL, NULL);
}
