/* SPDX-License-Identifier: MIT */
/*
 * fuzz/gguf.c - a file of any content, opened in each way and looked through.
 *
 * A file that is taken is written and read again: it must be taken then too, and
 * have as many keys and tensors.
 */
#include "config.h"

#include "fuzz/fuzz.h"

#include "ggml.h"
#include "gguf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file in memory, which has a name like any other. */
struct memory_file {
    int fd;
    char path[64];
};

static struct memory_file
new_file(void)
{
    struct memory_file file;

    file.fd = memfd_create("fuzz", 0);
    if (file.fd < 0)
        fuzz_stop("no file in memory");
    snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
    return file;
}

static void
look_through(const struct gguf_context *ctx)
{
    volatile uint8_t sink = 0;

    for (int64_t i = 0; i < gguf_get_n_kv(ctx); i++) {
        const bool is_array = gguf_get_kv_type(ctx, i) == GGUF_TYPE_ARRAY;
        const enum gguf_type type =
            is_array ? gguf_get_arr_type(ctx, i) : gguf_get_kv_type(ctx, i);
        const size_t n = gguf_get_arr_n(ctx, i);

        if (gguf_find_key(ctx, gguf_get_key(ctx, i)) != i)
            fuzz_stop("a key is not found");
        for (size_t j = 0; type == GGUF_TYPE_STRING && j < n; j++)
            sink = (uint8_t)(sink + strlen(gguf_get_arr_str(ctx, i, j)));
        if (type != GGUF_TYPE_STRING && n > 0)
            sink = (uint8_t)(sink +
                             *(const uint8_t *)gguf_get_arr_data(ctx, i));
    }
    for (int64_t i = 0; i < gguf_get_n_tensors(ctx); i++) {
        if (gguf_find_tensor(ctx, gguf_get_tensor_name(ctx, i)) != i)
            fuzz_stop("a tensor is not found");
        sink = (uint8_t)(sink + gguf_get_tensor_size(ctx, i));
    }
    (void)sink;
}

/* Reads every byte of the tensors: they must be there. */
static void
add_up(struct ggml_context *tensors)
{
    volatile uint8_t sink = 0;

    for (const struct ggml_tensor *t = ggml_get_first_tensor(tensors);
         t != NULL;) {
        const size_t size = ggml_nbytes(t);
        const uint8_t *data = t->data;

        for (size_t i = 0; data != NULL && i < size; i++)
            sink = (uint8_t)(sink + data[i]);
        t = ggml_get_next_tensor(tensors, (struct ggml_tensor *)(uintptr_t)t);
    }
    (void)sink;
}

static void
write_and_read(const struct gguf_context *ctx)
{
    static struct memory_file file = { -1, "" };
    const struct gguf_init_params params = { true, NULL };
    struct gguf_context *again;

    if (file.fd < 0)
        file = new_file();
    if (!gguf_write_to_file(ctx, file.path, true))
        fuzz_stop("what was read cannot be written");
    again = gguf_init_from_file(file.path, params);
    if (again == NULL || gguf_get_n_kv(again) != gguf_get_n_kv(ctx) ||
        gguf_get_n_tensors(again) != gguf_get_n_tensors(ctx))
        fuzz_stop("what was written is not what was read");
    gguf_free(again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct memory_file file = { -1, "" };

    if (file.fd < 0) {
        file = new_file();
        fuzz_silence();
    }
    if (ftruncate(file.fd, 0) != 0 ||
        pwrite(file.fd, data, size, 0) != (ssize_t)size)
        fuzz_stop("the file cannot be written");
    /* What is refused without its data is refused with it, too. */
    for (int how = 0; how < 3; how++) {
        struct ggml_context *tensors = NULL;
        const struct gguf_init_params params = { how != 2,
                                                 how == 0 ? NULL : &tensors };
        struct gguf_context *ctx = gguf_init_from_file(file.path, params);

        if (ctx == NULL) {
            if (tensors != NULL)
                fuzz_stop("a context without a file");
            break;
        }
        look_through(ctx);
        if (how == 0)
            write_and_read(ctx);
        if (tensors != NULL)
            add_up(tensors);
        ggml_free(tensors);
        gguf_free(ctx);
    }
    return 0;
}
