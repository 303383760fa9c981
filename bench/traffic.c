/* SPDX-License-Identifier: MIT */
/*
 * bench/traffic.c - what the graph of a language model moves and launches on
 * the emulated driver.  Nothing is timed.
 *
 * Lines as those of counters.c:
 *
 *   token, batch  of whole models:
 *     launches      kernels
 *   layers        of some layers, without embeddings and output:
 *     moved         bytes that memory gives and takes, for a byte of weights,
 *                   keys and values: sectors counted once a launch, as if the
 *                   card's cache had what several blocks read, and nothing of
 *                   launches before
 *     asked         the same, sectors counted once a thread block
 *   layer         of one layer:
 *     launches      and, without groups of nodes, launches_unfused
 *     written       kilobytes; written_unfused
 *
 * Each graph is computed in a process of its own, for the driver's and the
 * backend's settings are read once in each.
 */
#include "bench.h"
#include "emulated.h"
#include "ggml-alloc.h"
#include "llama.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* SmolLM2 of 135 million weights, Qwen3 of 0.6 billion, and OLMoE, as far as their
 * matrices and heads go. */
#define SMOLLM2(layers, vocab) \
    { GGML_TYPE_Q8_0, layers, 576, 9, 3, 64, 1536, 0, 0, vocab }
#define QWEN3(layers, vocab) \
    { GGML_TYPE_Q4_K, layers, 1024, 16, 8, 128, 3072, 0, 0, vocab }
#define OLMOE(layers, vocab) \
    { GGML_TYPE_Q4_K, layers, 2048, 16, 16, 128, 1024, 64, 8, vocab }

enum figures { LAUNCHES, MOVED, FUSED, UNFUSED };

static const struct {
    const char *what;
    struct bench_shape shape;
    int n_tokens, n_positions;
    enum figures figures;
    int most_launches; /* 0: no target */
} cases[] = {
    { "token-smollm2", SMOLLM2(30, 49152), 1, 256, LAUNCHES, 304 },
    { "batch512-smollm2", SMOLLM2(30, 49152), 512, 512, LAUNCHES, 304 },
    { "token-olmoe", OLMOE(16, 50304), 1, 256, LAUNCHES, 0 },
    { "batch512-olmoe", OLMOE(16, 50304), 512, 512, LAUNCHES, 0 },
    { "layers-smollm2", SMOLLM2(2, 0), 1, 512, MOVED, 0 },
    { "layers-qwen3", QWEN3(1, 0), 1, 4096, MOVED, 0 },
    { "layer-token", SMOLLM2(1, 0), 1, 256, FUSED, 0 },
    { "layer-token", SMOLLM2(1, 0), 1, 256, UNFUSED, 0 },
    { "layer-batch32", SMOLLM2(1, 0), 32, 256, FUSED, 0 },
    { "layer-batch32", SMOLLM2(1, 0), 32, 256, UNFUSED, 0 },
};

static void
use_settings(enum figures figures)
{
    setenv("GGMLBACKEND_TEST_EMU_CHECK", "0", 1);
    setenv("GGMLBACKEND_TEST_EMU_MEMORY", "17179869184", 1);
    setenv("GGMLBACKEND_TEST_EMU_SMS", "132", 1);
    if (figures == LAUNCHES)
        setenv("GGMLBACKEND_TEST_EMU_IDLE", "1", 1);
    else
        setenv("GGMLBACKEND_TEST_EMU_COUNT", "1", 1);
    if (figures == UNFUSED)
        setenv("GGMLBACKEND_GPU_FUSE", "off", 1);
}

/* Temporary results lie over others that are done with, as clients have it. */
static void
compute(struct bench_llama *m, ggml_backend_t backend)
{
    ggml_gallocr_t alloc =
        ggml_gallocr_new(ggml_backend_get_default_buffer_type(backend));

    if (alloc == NULL || !ggml_gallocr_alloc_graph(alloc, m->graph))
        bench_stop("memory");
    /* Tokens, positions, mask: what is an input has memory of its own. */
    for (struct ggml_tensor *t = ggml_get_first_tensor(m->ctx); t != NULL;
         t = ggml_get_next_tensor(m->ctx, t))
        if ((t->flags & GGML_TENSOR_FLAG_INPUT) != 0)
            ggml_backend_tensor_memset(t, 0, 0, ggml_nbytes(t));
    if (ggml_backend_graph_compute(backend, m->graph) != GGML_STATUS_SUCCESS)
        bench_stop("computing");
    ggml_gallocr_free(alloc);
}

static void
print_costs(size_t i, const struct emu_costs *c, double bytes)
{
    const char *what = cases[i].what;
    const char *type = ggml_type_name(cases[i].shape.type);
    const char *suffix = cases[i].figures == UNFUSED ? "_unfused" : "";
    char figure[32];

    if (cases[i].figures == MOVED) {
        bench_figure(what, type, "moved",
                     (double)(c->delivered + c->stored) / bytes, "<=", 1.05);
        bench_figure(what, type, "asked",
                     (double)(c->fetched + c->written) / bytes, NULL, 0);
        return;
    }
    snprintf(figure, sizeof(figure), "launches%s", suffix);
    bench_figure(what, type, figure, (double)c->launches,
                 cases[i].most_launches > 0 ? "<=" : NULL,
                 cases[i].most_launches);
    if (cases[i].figures == LAUNCHES)
        return;
    snprintf(figure, sizeof(figure), "written%s", suffix);
    bench_figure(what, type, figure, (double)c->written / 1000, NULL, 0);
}

static void
run_case(size_t i)
{
    struct bench_llama m;
    struct emu_costs costs;
    struct bench_emulated driver;
    ggml_backend_dev_t dev;
    ggml_backend_t backend;

    use_settings(cases[i].figures);
    ggml_backend_load_all();
    dev = ggml_backend_dev_by_name("CUDA0");
    backend = dev == NULL ? NULL : ggml_backend_dev_init(dev, NULL);
    if (backend == NULL)
        bench_stop("a backend");
    driver = bench_find_emulated();
    bench_llama_make(&m, &cases[i].shape, cases[i].n_tokens,
                     cases[i].n_positions,
                     ggml_backend_get_default_buffer_type(backend));
    if (cases[i].figures != LAUNCHES)
        ggml_backend_buffer_clear(m.buffer, 0);
    compute(&m, backend);
    driver.costs_of(NULL, &costs);
    if (cases[i].figures == LAUNCHES)
        costs.launches = driver.count(EMU_KERNELS);
    print_costs(i, &costs, m.bytes);
    bench_llama_free(&m);
    ggml_backend_free(backend);
}

int
main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int status = 0;
        pid_t child;

        if (argc > 1 && strcmp(argv[1], cases[i].what) != 0)
            continue;
        child = fork();
        if (child == 0) {
            run_case(i);
            return 0;
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            bench_stop(cases[i].what);
    }
    return 0;
}
