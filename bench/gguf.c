/* SPDX-License-Identifier: MIT */
/*
 * bench/gguf.c - opening the files that are named, without their tensors' data.
 */
#include "bench.h"
#include "ggml.h"
#include "gguf.h"

#include <stdio.h>
#include <string.h>

static void
open_once(const char *name, struct bench_times *times)
{
    struct ggml_context *tensors = NULL;
    const struct gguf_init_params params = { .no_alloc = true,
                                             .ctx = &tensors };
    const double begin = bench_now();
    struct gguf_context *file = gguf_init_from_file(name, params);

    if (file == NULL)
        bench_stop(name);
    gguf_free(file);
    ggml_free(tensors);
    bench_add(times, begin);
}

int
main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *slash = strrchr(argv[i], '/');
        struct bench_times times = { .n = 0 };
        char name[128];

        open_once(argv[i], &times);
        times.n = 0;
        for (int round = 0; round < 50; round++)
            open_once(argv[i], &times);
        snprintf(name, sizeof(name), "gguf-open-%s",
                 slash != NULL ? slash + 1 : argv[i]);
        bench_print(name, &times, 1e3, "ms");
    }
}
