/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/rig.c - a scheduler over simulated devices and the CPU, with a
 * graph to build.
 */
#include "tests/sched/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NODES 256

static void
begin_graph(struct rig *rig)
{
    const struct ggml_init_params params = {
        .mem_size = 4 * NODES * ggml_tensor_overhead() +
                    ggml_graph_overhead_custom(NODES, false),
        .no_alloc = true,
    };

    rig->ctx = ggml_init(params);
    assert_non_null(rig->ctx);
    rig->graph = ggml_new_graph_custom(rig->ctx, NODES, false);
    assert_non_null(rig->graph);
}

void
rig_open(struct rig *rig, int n_devices, bool parallel)
{
    memset(rig, 0, sizeof(*rig));
    for (int i = 0; i < n_devices; i++)
        rig->backends[i] = sim_backend(i);
    rig->backends[n_devices] = ggml_backend_cpu_init();
    rig->n_backends = n_devices + 1;
    rig->sched = ggml_backend_sched_new(rig->backends, NULL, rig->n_backends,
                                        NODES, parallel);
    assert_non_null(rig->sched);
    rig->data = sim_context();
    assert_non_null(rig->data);
    begin_graph(rig);
}

void
rig_close(struct rig *rig)
{
    ggml_backend_sched_free(rig->sched);
    for (int i = 0; i < rig->n_buffers; i++)
        ggml_backend_buffer_free(rig->buffers[i]);
    ggml_free(rig->ctx);
    ggml_free(rig->data);
    for (int i = 0; i < rig->n_backends; i++)
        ggml_backend_free(rig->backends[i]);
    assert_true(sim_is_clean());
}

void
rig_restart(struct rig *rig)
{
    ggml_backend_sched_reset(rig->sched);
    ggml_free(rig->ctx);
    begin_graph(rig);
}

struct ggml_tensor *
rig_vector(struct rig *rig, int64_t n)
{
    return ggml_new_tensor_1d(rig->ctx, GGML_TYPE_F32, n);
}

struct ggml_tensor *
rig_input(struct rig *rig, int64_t n)
{
    struct ggml_tensor *x = rig_vector(rig, n);

    ggml_set_input(x);
    return x;
}

struct ggml_tensor *
rig_data(
    struct rig *rig, ggml_backend_buffer_type_t buft,
    enum ggml_backend_buffer_usage usage, int64_t n0, int64_t n1, float value)
{
    struct ggml_tensor *t =
        ggml_new_tensor_2d(rig->data, GGML_TYPE_F32, n0, n1);
    ggml_backend_buffer_t buffer = ggml_backend_buft_alloc_buffer(
        buft, ggml_backend_buft_get_alloc_size(buft, t));

    assert_non_null(buffer);
    rig->buffers[rig->n_buffers++] = buffer;
    ggml_backend_buffer_set_usage(buffer, usage);
    assert_int_equal(ggml_backend_tensor_alloc(
                         buffer, t, ggml_backend_buffer_get_base(buffer)),
                     GGML_STATUS_SUCCESS);
    rig_set(t, value);
    return t;
}

struct ggml_tensor *
rig_weights(
    struct rig *rig, int backend, int64_t n0, int64_t n1, float value)
{
    return rig_data(
        rig, ggml_backend_get_default_buffer_type(rig->backends[backend]),
        GGML_BACKEND_BUFFER_USAGE_WEIGHTS, n0, n1, value);
}

void
rig_expand(struct rig *rig, struct ggml_tensor *tensor)
{
    ggml_set_output(tensor);
    ggml_build_forward_expand(rig->graph, tensor);
}

void
rig_alloc(struct rig *rig)
{
    assert_true(ggml_backend_sched_alloc_graph(rig->sched, rig->graph));
}

int
rig_backend_of(const struct rig *rig, struct ggml_tensor *tensor)
{
    const ggml_backend_t backend =
        ggml_backend_sched_get_tensor_backend(rig->sched, tensor);

    for (int i = 0; i < rig->n_backends; i++)
        if (rig->backends[i] == backend)
            return i;
    return -1;
}

struct ggml_tensor *
rig_choose(struct rig *rig, struct ggml_tensor *tensor, int backend)
{
    ggml_backend_sched_set_tensor_backend(rig->sched, tensor,
                                          rig->backends[backend]);
    return tensor;
}

void
rig_set(struct ggml_tensor *tensor, float value)
{
    const int64_t n = ggml_nelements(tensor);
    float *data = malloc((size_t)n * sizeof(*data));

    assert_non_null(data);
    for (int64_t i = 0; i < n; i++)
        data[i] = value;
    ggml_backend_tensor_set(tensor, data, 0, (size_t)n * sizeof(*data));
    free(data);
}

void
rig_expect(const struct ggml_tensor *tensor, float value)
{
    const int64_t n = ggml_nelements(tensor);
    float *data = calloc((size_t)n, sizeof(*data));

    assert_non_null(data);
    ggml_backend_tensor_get(tensor, data, 0, (size_t)n * sizeof(*data));
    for (int64_t i = 0; i < n; i++)
        if (data[i] != value)
            fail_msg("%s: element %d is %g, not %g", tensor->name, (int)i,
                     (double)data[i], (double)value);
    free(data);
}

void
rig_compute(struct rig *rig)
{
    assert_int_equal(ggml_backend_sched_graph_compute(rig->sched, rig->graph),
                     GGML_STATUS_SUCCESS);
}

void
rig_halve(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith,
          int nth, void *data)
{
    const float *from = a->data;
    float *to = dst->data;

    (void)nth;
    (void)data;
    for (int64_t i = 0; ith == 0 && i < ggml_nelements(dst); i++)
        to[i] = from[i] / 2;
}
