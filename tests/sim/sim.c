/* SPDX-License-Identifier: MIT */
/*
 * tests/sim/sim.c - simulated devices for a test.
 */
#include "tests/sim/sim.h"

#include "tests/util/random.h"

#include <stdio.h>
#include <stdlib.h>

void
sim_reset(void)
{
    struct gb_sim_config config;

    gb_sim_default(&config);
    gb_sim_configure(0, 4, &config);
    for (int i = 0; i < GB_SIM_FAULT_COUNT; i++)
        gb_sim_fail((enum gb_sim_fault)i, 0);
}

bool
sim_configure(int first, int n, const char *settings)
{
    struct gb_sim_config config;
    int n_devices = 1;

    gb_sim_default(&config);
    return gb_sim_parse(settings, &n_devices, &config) &&
           gb_sim_configure(first, n, &config);
}

ggml_backend_dev_t
sim_device(int index)
{
    return ggml_backend_reg_dev_get(ggml_backend_sim_reg(), (size_t)index);
}

ggml_backend_t
sim_backend(int index)
{
    if (index < 0)
        return ggml_backend_cpu_init();
    return ggml_backend_dev_init(sim_device(index), NULL);
}

struct ggml_context *
sim_context(void)
{
    return ggml_init((struct ggml_init_params){
        .mem_size = 500 * ggml_tensor_overhead() + 4 * ggml_graph_overhead(),
        .no_alloc = true,
    });
}

void
sim_fill(struct ggml_tensor *tensor, uint64_t seed)
{
    const int64_t n = ggml_nelements(tensor);
    float *x = malloc((size_t)n * sizeof(*x));
    void *data = malloc(ggml_nbytes(tensor));
    struct gb_random random;

    if (x == NULL || data == NULL)
        abort();
    gb_random_init(&random, seed);
    for (int64_t i = 0; i < n; i++)
        x[i] = gb_random_float(&random, -1.0f, 1.0f);
    ggml_quantize_chunk(tensor->type, x, data, 0, n / tensor->ne[0],
                        tensor->ne[0], NULL);
    ggml_backend_tensor_set(tensor, data, 0, ggml_nbytes(tensor));
    free(data);
    free(x);
}

bool
sim_is_clean(void)
{
    struct gb_sim_counters counters;

    gb_sim_count(&counters);
    if (counters.buffers + counters.bytes + counters.backends +
            counters.events + counters.plans == 0)
        return true;
    fprintf(stderr,
            "# left: %d buffers (%d bytes), %d backends, %d events, %d plans\n",
            (int)counters.buffers, (int)counters.bytes, (int)counters.backends,
            (int)counters.events, (int)counters.plans);
    return false;
}
