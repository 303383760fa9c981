/* SPDX-License-Identifier: MIT */
/*
 * gguf/write.c - a context to a file or to memory, piece by piece.
 */
#include "config.h"

#include "lib/gguf/context.h"

#include "lib/base/byte-order.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/type/type.h"

#include "ggml-backend.h"

#include <errno.h>
#include <string.h>

/* Where the bytes go: a file, memory, or nowhere, to be counted. */
struct sink {
    FILE *file;
    char *memory;
    size_t size;
    int error; /* errno of the first failure; 0: none */
};

static void
put(struct sink *sink, const void *data, size_t n)
{
    if (n == 0)
        return;
    if (sink->file != NULL && sink->error == 0 &&
        fwrite(data, 1, n, sink->file) != n)
        sink->error = errno != 0 ? errno : EIO;
    if (sink->memory != NULL)
        memcpy(sink->memory + sink->size, data, n);
    sink->size += n;
}

/* Numbers are little-endian in files. */
static void
put_u32(struct sink *sink, uint32_t value)
{
    value = gb_le32(value);
    put(sink, &value, sizeof(value));
}

static void
put_u64(struct sink *sink, uint64_t value)
{
    value = gb_le64(value);
    put(sink, &value, sizeof(value));
}

static void
put_numbers(struct sink *sink, const void *numbers, size_t width, size_t n)
{
    const unsigned char *at = numbers;

    if (!GB_IS_BIG_ENDIAN) {
        put(sink, numbers, n * width);
        return;
    }
    for (; n > 0; n--, at += width) {
        unsigned char number[8];

        memcpy(number, at, width);
        gb_le_bytes(number, width, width);
        put(sink, number, width);
    }
}

static void
put_string(struct sink *sink, const char *text, size_t n)
{
    put_u64(sink, n);
    put(sink, text, n);
}

/* Zeros up to a multiple of ALIGN. */
static void
put_padding(struct sink *sink, size_t align)
{
    static const char zeros[256];
    size_t n = (align - (sink->size & (align - 1))) & (align - 1);

    while (n > 0) {
        const size_t piece = n < sizeof(zeros) ? n : sizeof(zeros);

        put(sink, zeros, piece);
        n -= piece;
    }
}

static void
put_pair(struct sink *sink, const struct gb_gguf_pair *pair)
{
    put_string(sink, pair->key, strlen(pair->key));
    if (pair->is_array) {
        put_u32(sink, GGUF_TYPE_ARRAY);
        put_u32(sink, pair->type);
        put_u64(sink, pair->n);
    } else {
        put_u32(sink, pair->type);
    }
    if (pair->type != GGUF_TYPE_STRING) {
        put_numbers(sink, pair->data, gb_gguf_type_size(pair->type), pair->n);
        return;
    }
    for (size_t i = 0; i < pair->n; i++)
        put_string(sink, pair->strings[i],
                   gb_gguf_string_size(pair->strings, i));
}

/* Up to the last dimension that is not 1: ggml_n_dims() would leave out one of
 * length 0 at the end, and with it that there is no data. */
static int
dims_to_write(const struct ggml_tensor *t)
{
    int n = GGML_MAX_DIMS;

    while (n > 1 && t->ne[n - 1] == 1)
        n--;
    return n;
}

static void
put_tensor_entry(struct sink *sink, const struct gb_gguf_tensor *entry)
{
    const int n_dims = dims_to_write(&entry->tensor);

    put_string(sink, entry->tensor.name, strlen(entry->tensor.name));
    put_u32(sink, (uint32_t)n_dims);
    for (int i = 0; i < n_dims; i++)
        put_u64(sink, (uint64_t)entry->tensor.ne[i]);
    put_u32(sink, entry->tensor.type);
    put_u64(sink, entry->offset);
}

static void
put_meta(struct sink *sink, const struct gguf_context *ctx)
{
    put(sink, GGUF_MAGIC, 4);
    put_u32(sink, ctx->version);
    put_u64(sink, ctx->n_tensors);
    put_u64(sink, ctx->n_pairs);
    for (size_t i = 0; i < ctx->n_pairs; i++)
        put_pair(sink, &ctx->pairs[i]);
    for (size_t i = 0; i < ctx->n_tensors; i++)
        put_tensor_entry(sink, &ctx->tensors[i]);
    put_padding(sink, ctx->alignment);
}

/* A tensor's data, through a piece of memory when a device has it or its
 * numbers' bytes are swapped. */
static void
put_tensor_data(struct sink *sink, const struct ggml_tensor *tensor, char *piece,
                size_t piece_size)
{
    const size_t size = ggml_nbytes(tensor);
    const size_t width = gb_type_number_bytes(tensor->type);
    const bool is_host = tensor->buffer == NULL ||
                         ggml_backend_buffer_is_host(tensor->buffer);

    if (is_host && (width == 1 || !GB_IS_BIG_ENDIAN)) {
        put(sink, tensor->data, size);
        return;
    }
    for (size_t at = 0; at < size; at += piece_size) {
        const size_t n = size - at < piece_size ? size - at : piece_size;

        if (is_host)
            memcpy(piece, (const char *)tensor->data + at, n);
        else
            ggml_backend_tensor_get(tensor, piece, at, n);
        gb_le_bytes(piece, width, n);
        put(sink, piece, n);
    }
}

static enum ggml_status
check_whole(const struct gguf_context *ctx)
{
    if (ctx->is_incomplete)
        return gb_fail(GGML_STATUS_FAILED,
                       "gguf: not written, since a key or tensor could not be "
                       "put into the context before");
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
check_data(const struct gguf_context *ctx)
{
    for (size_t i = 0; i < ctx->n_tensors; i++) {
        const struct ggml_tensor *tensor = &ctx->tensors[i].tensor;

        if (!ggml_is_contiguous(tensor))
            return gb_fail(GGML_STATUS_FAILED,
                           "gguf: tensor '%s' is not contiguous", tensor->name);
        if (tensor->data == NULL && ggml_nbytes(tensor) > 0)
            return gb_fail(GGML_STATUS_FAILED, "gguf: tensor '%s' has no data",
                           tensor->name);
    }
    return GGML_STATUS_SUCCESS;
}

/* A device's answer has no status: its failures are counted. */
static enum ggml_status
put_data(struct sink *sink, const struct gguf_context *ctx, char *piece,
         size_t piece_size)
{
    const uint64_t n_failures = gb_failure_count();

    for (size_t i = 0; i < ctx->n_tensors; i++) {
        put_tensor_data(sink, &ctx->tensors[i].tensor, piece, piece_size);
        put_padding(sink, ctx->alignment);
    }
    return gb_status_since(n_failures);
}

static enum ggml_status
write_file(const struct gguf_context *ctx, const char *fname, bool only_meta,
           char *piece, size_t piece_size)
{
    struct sink sink = { .file = ggml_fopen(fname, "wb") };
    enum ggml_status status = GGML_STATUS_SUCCESS;

    if (sink.file == NULL)
        return gb_fail(GGML_STATUS_FAILED, "gguf: %s: %s", fname,
                       strerror(errno));
    put_meta(&sink, ctx);
    if (!only_meta)
        status = put_data(&sink, ctx, piece, piece_size);
    if (fclose(sink.file) != 0 && sink.error == 0)
        sink.error = errno;
    if (sink.error != 0)
        status = gb_fail(GGML_STATUS_FAILED, "gguf: %s: %s", fname,
                         strerror(sink.error));
    return status;
}

bool
gguf_write_to_file(const struct gguf_context *ctx, const char *fname,
                   bool only_meta)
{
    const size_t piece_size = 1024 * 1024;
    enum ggml_status status;
    char *piece;

    GB_NEED_OR(false, ctx != NULL && fname != NULL,
               "gguf: no context or no file name");
    if (ctx->alignment < 8)
        gb_log(GGML_LOG_LEVEL_WARN,
               "gguf: %s: an alignment of %zu is below the format's 8", fname,
               ctx->alignment);
    /* Nothing is written over a file before it is clear that all is there. */
    if (check_whole(ctx) != GGML_STATUS_SUCCESS)
        return false;
    if (!only_meta && check_data(ctx) != GGML_STATUS_SUCCESS)
        return false;
    piece = gb_mem_alloc(piece_size);
    if (piece == NULL) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "gguf: no memory for writing");
        return false;
    }
    status = write_file(ctx, fname, only_meta, piece, piece_size);
    gb_mem_free(piece);
    return status == GGML_STATUS_SUCCESS;
}

size_t
gguf_get_meta_size(const struct gguf_context *ctx)
{
    struct sink sink = { .file = NULL };

    GB_NEED_OR(0, ctx != NULL, "gguf: no context");
    put_meta(&sink, ctx);
    return sink.size;
}

void
gguf_get_meta_data(const struct gguf_context *ctx, void *data)
{
    struct sink sink = { .memory = data };

    GB_NEED_VOID(ctx != NULL && data != NULL, "gguf: no context or no memory");
    put_meta(&sink, ctx);
}
