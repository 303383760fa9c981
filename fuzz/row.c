/* SPDX-License-Identifier: MIT */
/*
 * fuzz/row.c - rows of blocks with any bits, and rows of any floats.
 *
 * The first byte is the type, the rest the blocks: they are validated, turned into
 * floats, and a dot product is taken where the CPU has one.  Then the same bytes are
 * floats, which are quantised.
 */
#include "fuzz/fuzz.h"

#include "ggml-cpu.h"
#include "ggml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROW = 2048 };

/* The row as floats; a row that is valid gives finite ones. */
static void
read_row(enum ggml_type type, const uint8_t *blocks, int64_t n)
{
    const struct ggml_type_traits *traits = ggml_get_type_traits(type);
    const bool valid =
        ggml_validate_row_data(type, blocks, ggml_row_size(type, n));
    static float row[MAX_ROW];

    if (traits->to_float == NULL || n > MAX_ROW)
        return;
    traits->to_float(blocks, row, n);
    for (int64_t i = 0; valid && ggml_is_quantized(type) && i < n; i++) {
        if (isnan(row[i]))
            fuzz_stop("a valid row has a NaN");
    }
}

static void
take_dot(enum ggml_type type, const uint8_t *blocks, int64_t n)
{
    const struct ggml_type_traits_cpu *cpu = ggml_get_type_traits_cpu(type);
    const struct ggml_type_traits_cpu *other;
    static float floats[MAX_ROW];
    float result;
    void *y;

    if (cpu->vec_dot == NULL || n > MAX_ROW)
        return;
    other = ggml_get_type_traits_cpu(cpu->vec_dot_type);
    y = malloc(ggml_row_size(cpu->vec_dot_type, n) + 1);
    if (y == NULL)
        fuzz_stop("no memory");
    for (int64_t i = 0; i < n; i++)
        floats[i] = (float)(i % 17) - 8.0f;
    if (other->from_float != NULL)
        other->from_float(floats, y, n);
    else
        memcpy(y, floats, (size_t)n * sizeof(float));
    cpu->vec_dot((int)n, &result, 0, blocks, 0, y, 0, 1);
    free(y);
}

/* Quantises the bytes as floats, whatever they are. */
static void
write_row(enum ggml_type type, const uint8_t *data, size_t size)
{
    const int64_t block = ggml_blck_size(type);
    const int64_t n = (int64_t)(size / sizeof(float)) / block * block;
    static float row[MAX_ROW], weights[MAX_ROW];
    size_t bytes;
    void *out;

    if (n == 0 || n > MAX_ROW)
        return;
    memcpy(row, data, (size_t)n * sizeof(float));
    for (int64_t i = 0; i < n; i++)
        weights[i] = fabsf((float)data[i]);
    bytes = ggml_row_size(type, n);
    out = malloc(bytes);
    if (out == NULL)
        fuzz_stop("no memory");
    memset(out, 0, bytes);
    ggml_quantize_chunk(type, row, out, 0, 1, n, weights);
    free(out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int silent;
    enum ggml_type type;
    int64_t n;

    if (!silent) {
        fuzz_silence();
        silent = 1;
    }
    if (size < 2)
        return 0;
    type = (enum ggml_type)(data[0] % GGML_TYPE_COUNT);
    data++;
    size--;
    if (ggml_blck_size(type) == 0)
        return 0;
    n = (int64_t)(size / ggml_type_size(type)) * ggml_blck_size(type);
    if (n > 0) {
        /* Blocks in memory of their own, aligned as a tensor's data is. */
        uint8_t *blocks = malloc(ggml_row_size(type, n));

        if (blocks == NULL)
            fuzz_stop("no memory");
        memcpy(blocks, data, ggml_row_size(type, n));
        read_row(type, blocks, n);
        take_dot(type, blocks, n);
        free(blocks);
    }
    write_row(type, data, size);
    return 0;
}
