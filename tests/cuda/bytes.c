/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/bytes.c - buffers with one tensor of bytes.
 */
#include "config.h"

#include "tests/cuda/bytes.h"

#include <string.h>

struct bytes
bytes_make(ggml_backend_buffer_type_t buft, size_t size)
{
    struct bytes b = { .ctx = ggml_init((struct ggml_init_params){
                           .mem_size = 8 * ggml_tensor_overhead(),
                           .no_alloc = true }) };

    CHECK(b.ctx != NULL);
    b.tensor = ggml_new_tensor_1d(b.ctx, GGML_TYPE_I8, (int64_t)size);
    b.buffer = ggml_backend_alloc_ctx_tensors_from_buft(b.ctx, buft);
    CHECK(b.buffer != NULL);
    return b;
}

void
bytes_free(struct bytes *b)
{
    ggml_backend_buffer_free(b->buffer);
    ggml_free(b->ctx);
}

/* Byte I of what SEED stands for; no period of a power of two. */
static uint8_t
byte_at(size_t i, int seed)
{
    return (uint8_t)(i % 251 * 7 + i / 251 + (size_t)seed * 31);
}

uint8_t *
bytes_pattern(size_t size, int seed)
{
    uint8_t *data = malloc(size);

    CHECK(data != NULL);
    for (size_t i = 0; i < size; i++)
        data[i] = byte_at(i, seed);
    return data;
}

bool
bytes_are(const struct ggml_tensor *tensor, const uint8_t *expected,
          size_t size)
{
    uint8_t *data = malloc(size);
    bool is_same;

    CHECK(data != NULL);
    memset(data, 0xee, size);
    ggml_backend_tensor_get(tensor, data, 0, size);
    is_same = memcmp(data, expected, size) == 0;
    free(data);
    return is_same;
}

void
bytes_end(void)
{
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

ggml_backend_buffer_type_t
bytes_type(const char *name)
{
    return ggml_backend_dev_buffer_type(cuda_device(name));
}
