/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/timeline.c - what the host does for a card stands on the library's
 * timeline.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/trace/events.h"

enum { K = 3, TURNS = 4 };

static void
compute_on_two_cards(void)
{
    ggml_backend_dev_t devs[2];
    ggml_backend_t backends[2];
    struct sums sums[2];
    float values[SUMS_N];

    CHECK(cuda_load() != NULL);
    devs[0] = cuda_device("CUDA0");
    devs[1] = cuda_device("CUDA1");
    for (int i = 0; i < 2; i++) {
        backends[i] = ggml_backend_dev_init(devs[i], NULL);
        sums[i] = sums_make(ggml_backend_dev_buffer_type(devs[i]), K);
        sums_set(&sums[i], i);
    }
    for (int i = 0; i < TURNS; i++)
        CHECK(ggml_backend_graph_compute_async(backends[0], sums[0].graph) ==
              GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get_async(backends[0], sums[0].result, values, 0,
                                  sizeof(values));
    ggml_backend_tensor_copy_async(backends[0], backends[1], sums[0].result,
                                   sums[1].x);
    ggml_backend_synchronize(backends[1]);
    ggml_backend_synchronize(backends[0]);
    ggml_backend_tensor_set_async(backends[0], sums[0].x, values, 0,
                                  sizeof(values));
    ggml_backend_synchronize(backends[0]);
    for (int i = 0; i < 2; i++) {
        ggml_backend_free(backends[i]);
        sums_free(&sums[i]);
    }
}

/* Spans NAME on tracks of DEVICE. */
static int
count_spans(const json_t *events, const char *device, const char *name)
{
    const json_t *event;
    size_t i;
    int n = 0;

    json_array_foreach(events, i, event) {
        const char *phase = json_string_value(json_object_get(event, "ph"));
        const char *is = json_string_value(json_object_get(event, "name"));

        if (strcmp(phase, "X") == 0 && strcmp(is, name) == 0 &&
            strcmp(event_process(events, event), device) == 0)
            n++;
    }
    return n;
}

static void
graphs_copies_and_waits_are_spans(void **state)
{
    static const struct {
        const char *device, *name;
        int n;
    } spans[] = {
        { DEVICES "0", "queue graph", TURNS },
        { DEVICES "0", "queue get", 1 },
        { DEVICES "0", "queue set", 1 },
        { DEVICES "0", "set", 2 },
        { DEVICES "1", "set", 2 },
        { DEVICES "1", "queue copy", 1 },
        { DEVICES "1", "queue graph", 0 },
        { DEVICES "1", "wait", 1 },
        { DEVICES "0", "wait", 2 },
    };
    char variables[PATH_SIZE + 64];
    json_t *events;

    (void)state;
    snprintf(variables, sizeof(variables),
             "EMU_DEVICES=2 GGMLBACKEND_GPU_PEER=off GGMLBACKEND_TRACE=%s",
             events_file);
    cuda_case(compute_on_two_cards, variables, NULL);
    events = events_load(events_file);
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        const int n = count_spans(events, spans[i].device, spans[i].name);

        if (n != spans[i].n)
            fail_msg("%s: %d times %s, not %d", spans[i].device, n,
                     spans[i].name, spans[i].n);
    }
    events_assert_nested(events);
    json_decref(events);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(graphs_copies_and_waits_are_spans,
                                        events_begin, events_end),
    };

    return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
