/* SPDX-License-Identifier: MIT */
/*
 * bench/token.c - what a token costs the host: the graph of a language model of
 * 135 million weights, handed to the device that the command line names.
 *
 * Of each backend the first call, in which the device meets the graph, the
 * second, and later ones, which differ in the position alone.  The time is that
 * of the call, not of the work, for a device that works asynchronously.
 *
 *     token [DEVICE [json]]
 *
 * On the emulated driver of CUDA's and on tests/vulkan/shim it says what was
 * asked of the driver, too.
 */
#include "bench.h"
#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "llama.h"
#include "tests/gpu-emulator/control.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { POSITIONS = 256, N_BACKENDS = 9, N_LATER = 16 };

static const struct bench_shape shape = {
    .type = GGML_TYPE_Q8_0, .n_layers = 30, .n_embd = 576, .n_heads = 9,
    .n_kv_heads = 3, .head_size = 64, .n_ff = 1536, .n_vocab = 49152
};

static struct bench_llama model;

/* ---- what the emulated driver counts ---- */

static uint64_t (*count_of)(enum emu_counter which);

static uint64_t
count_launches(void)
{
    return count_of(EMU_LAUNCHES) + count_of(EMU_GRAPH_LAUNCHES);
}

static void
find_counters(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

    if (driver != NULL)
        *(void **)&count_of = dlsym(driver, "emu_count");
}

/* The same of tests/vulkan/shim, by Vulkan's names. */
static uint64_t (*calls_of)(const char *name);

static void
find_shim(void)
{
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_NOLOAD);

    if (loader != NULL)
        *(void **)&calls_of = dlsym(loader, "shim_calls");
}

static const char *const shim_rows[][2] = {
    { "dispatches", "CmdDispatch" },
    { "barriers", "CmdPipelineBarrier" },
    { "submissions", "QueueSubmit" },
};

enum { SHIM_ROWS = sizeof(shim_rows) / sizeof(shim_rows[0]) };

static int shim_counts[SHIM_ROWS]; /* of one token */

static void
count_in_shim(void (*call)(void))
{
    uint64_t before[SHIM_ROWS];

    if (calls_of == NULL)
        return;
    for (int i = 0; i < SHIM_ROWS; i++)
        before[i] = calls_of(shim_rows[i][1]);
    call();
    for (int i = 0; i < SHIM_ROWS; i++)
        shim_counts[i] = (int)(calls_of(shim_rows[i][1]) - before[i]);
}

static void
print_launches(void (*call)(void))
{
    uint64_t launches, kernels;

    if (count_of == NULL)
        return;
    launches = count_launches();
    kernels = count_of(EMU_KERNELS);
    call();
    printf("token: %d nodes, %d kernels in %d launches\n",
           ggml_graph_n_nodes(model.graph),
           (int)(count_of(EMU_KERNELS) - kernels),
           (int)(count_launches() - launches));
}

/* ---- times ---- */

static ggml_backend_t backend;

static void
compute(void)
{
    if (ggml_backend_graph_compute(backend, model.graph) != GGML_STATUS_SUCCESS)
        bench_stop("computing");
}

static void
time_call(struct bench_times *times, int position)
{
    double begin;

    bench_llama_go_to(&model, position);
    begin = bench_now();
    if (ggml_backend_graph_compute_async(backend, model.graph) !=
        GGML_STATUS_SUCCESS)
        bench_stop("computing");
    bench_add(times, begin);
    ggml_backend_synchronize(backend);
}

static struct bench_times first, second, later;

static void
print_lines(void)
{
    bench_print("token-first", &first, 1.0, "us");
    bench_print("token-second", &second, 1.0, "us");
    bench_print("token-later", &later, 1.0, "us");
    for (int i = 0; i < SHIM_ROWS && calls_of != NULL; i++)
        printf("token-%s %d\n", shim_rows[i][0], shim_counts[i]);
}

static void
print_times_json(const char *name, struct bench_times *times)
{
    bench_sort(times);
    printf(", \"%s\": { \"median_us\": %.2f, \"least_us\": %.2f }", name,
           times->all[times->n / 2], times->all[0]);
}

static void
print_json(ggml_backend_dev_t dev)
{
    printf("{ \"device\": \"%s\", \"layers\": %d, \"nodes\": %d",
           ggml_backend_dev_name(dev), shape.n_layers,
           ggml_graph_n_nodes(model.graph));
    print_times_json("first", &first);
    print_times_json("second", &second);
    print_times_json("later", &later);
    for (int i = 0; i < SHIM_ROWS && calls_of != NULL; i++)
        printf(", \"%s\": %d", shim_rows[i][0], shim_counts[i]);
    printf(" }\n");
}

static void
time_backends(ggml_backend_dev_t dev)
{
    for (int i = 0; i < N_BACKENDS; i++) {
        backend = ggml_backend_dev_init(dev, NULL);
        if (backend == NULL)
            bench_stop("a backend");
        time_call(&first, 0);
        time_call(&second, 1);
        for (int j = 0; j < N_LATER; j++)
            time_call(&later, 2 + j);
        if (i == N_BACKENDS - 1) {
            print_launches(compute);
            count_in_shim(compute);
        }
        ggml_backend_free(backend);
    }
}

int
main(int argc, char **argv)
{
    ggml_backend_buffer_t buffer;
    ggml_backend_dev_t dev;

    ggml_backend_load_all();
    dev = ggml_backend_dev_by_name(argc > 1 ? argv[1] : "CPU");
    if (dev == NULL)
        bench_stop("the device");
    find_counters();
    find_shim();
    bench_llama_make(&model, &shape, 1, POSITIONS,
                     ggml_backend_dev_buffer_type(dev));
    buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        model.ctx, ggml_backend_dev_buffer_type(dev));
    if (buffer == NULL)
        bench_stop("memory");
    ggml_backend_buffer_clear(model.buffer, 0);
    ggml_backend_buffer_clear(buffer, 0);
    time_backends(dev);
    if (argc > 2 && strcmp(argv[2], "json") == 0)
        print_json(dev);
    else
        print_lines();
    ggml_backend_buffer_free(buffer);
    bench_llama_free(&model);
}
