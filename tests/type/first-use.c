/* SPDX-License-Identifier: MIT */
/*
 * tests/type/first-use.c - many threads quantise before anybody has.
 */
#include "ggml.h"

#include "tests/util/sink.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define N         512
#define N_THREADS 8
#define ROOM      (GGML_TYPE_COUNT * N * sizeof(float))

static float x[N], importance[N];

struct worker {
    pthread_t thread;
    uint8_t *blocks; /* a row in each type */
    float back[N];   /* and one that was read */
};

static void *
use_everything(void *data)
{
    struct worker *worker = data;
    uint8_t *at = worker->blocks;

    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        const enum ggml_type type = (enum ggml_type)t;
        const struct ggml_type_traits *traits = ggml_get_type_traits(type);
        size_t size;

        if (t % 2 == 0)
            ggml_quantize_init(type);
        size = ggml_quantize_chunk(type, x, at, 0, 1, N, importance);
        if (size > 0 && traits->to_float != NULL)
            traits->to_float(at, worker->back, N);
        at += size;
    }
    return NULL;
}

static void
all_threads_get_the_same_bytes(void **state)
{
    struct worker workers[N_THREADS];

    (void)state;
    for (int i = 0; i < N; i++) {
        x[i] = sinf((float)i * 0.7f) + 0.3f * cosf((float)i * 2.9f);
        importance[i] = 0.2f + (float)(i % 7);
    }
    for (int i = 0; i < N_THREADS; i++) {
        workers[i].blocks = calloc(1, ROOM);
        assert_non_null(workers[i].blocks);
        assert_int_equal(pthread_create(&workers[i].thread, NULL,
                                        use_everything, &workers[i]),
                         0);
    }
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    for (int i = 0; i < N_THREADS; i++) {
        assert_memory_equal(workers[i].blocks, workers[0].blocks, ROOM);
        assert_memory_equal(workers[i].back, workers[0].back,
                            sizeof(workers[0].back));
    }
    for (int i = 0; i < N_THREADS; i++)
        free(workers[i].blocks);
    ggml_quantize_free();
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_threads_get_the_same_bytes),
    };

    ggml_log_set(gb_sink_ignore, NULL); /* types that cannot be quantised say so */
    return cmocka_run_group_tests_name("first use", tests, NULL, NULL);
}
