/* SPDX-License-Identifier: MIT */
/*
 * tests/hip/damaged.c - a module whose packed images were changed on disk: a
 * status and the reason, and everything else goes on.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include "ggmlbackend.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 64 << 20, HEAD = 12, MOST_LINE = 64, K = 2 };

/* The images of this module are lines of text, each packed by itself. */
static int
damage(unsigned char *bytes, size_t n)
{
    int n_damaged = 0;

    for (size_t i = 0; i + MOST_LINE < n; i++) {
        const unsigned char *size = bytes + i + 4;

        if (memcmp(bytes + i, "GBPK", 4) == 0 && size[0] > 8 &&
            size[0] < MOST_LINE && size[1] == 0 && size[2] == 0 &&
            size[3] == 0) {
            bytes[i + HEAD + 6] ^= 0x20;
            n_damaged++;
        }
    }
    return n_damaged;
}

static const char *
copy_of_module(void)
{
    static char path[] = "./module-XXXXXX";
    FILE *from = fopen(gb_built("tests/hip/.libs/libggml-hip.so"), "rb");
    FILE *to = fdopen(mkstemp(path), "wb");
    unsigned char *bytes = malloc(MOST);
    size_t n;

    CHECK(from != NULL && to != NULL && bytes != NULL);
    n = fread(bytes, 1, MOST, from);
    CHECK(n < MOST && damage(bytes, n) > 100);
    CHECK(fwrite(bytes, 1, n, to) == n && fclose(to) == 0);
    fclose(from);
    free(bytes);
    return path;
}

static enum ggml_status
compute(ggml_backend_t backend)
{
    struct sums sums =
        sums_make(ggml_backend_get_default_buffer_type(backend), K);
    enum ggml_status status;

    CHECK(backend != NULL && sums.buffer != NULL);
    sums_set(&sums, 1);
    status = ggml_backend_graph_compute(backend, sums.graph);
    if (status == GGML_STATUS_SUCCESS)
        CHECK(sums_are_right(&sums, K, 1));
    sums_free(&sums);
    return status;
}

static void
compute_by_damaged_images(void)
{
    const char *path = copy_of_module();
    ggml_backend_t backend, cpu;

    CHECK(dlopen(gb_built(EMULATED_DRIVER), RTLD_NOW | RTLD_LOCAL) != NULL);
    CHECK(ggml_backend_load(path) != NULL);
    unlink(path);
    backend = cuda_backend("CUDA0");
    for (int i = 0; i < 2; i++) {
        CHECK(compute(backend) == GGML_STATUS_FAILED);
        CHECK(strcmp(ggmlbackend_last_failure(),
                     "ROCm0: an image of kernels is damaged: its sum is "
                     "wrong") == 0);
    }
    ggml_backend_free(backend);
    cpu = ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, NULL);
    CHECK(compute(cpu) == GGML_STATUS_SUCCESS);
    ggml_backend_free(cpu);
}

static void
damaged_images_are_a_status(void **state)
{
    (void)state;
    cuda_case(compute_by_damaged_images, "", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_images_are_a_status),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
