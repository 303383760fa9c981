/* SPDX-License-Identifier: MIT */
/*
 * gguf/bytes.c - making GGUF files byte by byte, right or wrong.
 */
#include "tests/gguf/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int n_errors;
static char error_text[512];

static void
count_errors(enum ggml_log_level level, const char *text, void *user_data)
{
    (void)user_data;
    if (level != GGML_LOG_LEVEL_ERROR)
        return;
    n_errors++;
    snprintf(error_text, sizeof(error_text), "%s", text);
}

void
watch_log(void)
{
    ggml_log_set(count_errors, NULL);
}

int
errors_logged(void)
{
    const int n = n_errors;

    n_errors = 0;
    return n;
}

const char *
last_error(void)
{
    return error_text;
}

void
bytes_free(struct bytes *b)
{
    free(b->data);
    memset(b, 0, sizeof(*b));
}

void
put_bytes(struct bytes *b, const void *data, size_t n)
{
    if (b->size + n > b->room) {
        b->room = 2 * (b->size + n) + 64;
        b->data = realloc(b->data, b->room);
        assert_non_null(b->data);
    }
    if (n > 0)
        memcpy(b->data + b->size, data, n);
    b->size += n;
}

void
put_zeros(struct bytes *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_u8(b, 0);
}

void
put_u8(struct bytes *b, uint8_t value)
{
    put_bytes(b, &value, sizeof(value));
}

void
put_u32(struct bytes *b, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        put_u8(b, (uint8_t)(value >> 8 * i));
}

void
put_u64(struct bytes *b, uint64_t value)
{
    put_u32(b, (uint32_t)value);
    put_u32(b, (uint32_t)(value >> 32));
}

void
put_string(struct bytes *b, const void *data, size_t n)
{
    put_u64(b, n);
    put_bytes(b, data, n);
}

void
put_text(struct bytes *b, const char *text)
{
    put_string(b, text, strlen(text));
}

void
put_head(struct bytes *b, uint64_t n_tensors, uint64_t n_pairs)
{
    put_bytes(b, "GGUF", 4);
    put_u32(b, 3);
    put_u64(b, n_tensors);
    put_u64(b, n_pairs);
}

void
put_key(struct bytes *b, const char *key, uint32_t type)
{
    put_text(b, key);
    put_u32(b, type);
}

void
put_array(struct bytes *b, const char *key, uint32_t type, uint64_t n)
{
    put_key(b, key, GGUF_TYPE_ARRAY);
    put_u32(b, type);
    put_u64(b, n);
}

void
put_key_u32(struct bytes *b, const char *key, uint32_t value)
{
    put_key(b, key, GGUF_TYPE_UINT32);
    put_u32(b, value);
}

void
put_info(struct bytes *b, const char *name, int n_dims, const int64_t *ne,
         uint32_t type, uint64_t offset)
{
    put_text(b, name);
    put_u32(b, (uint32_t)n_dims);
    for (int i = 0; i < n_dims; i++)
        put_u64(b, (uint64_t)ne[i]);
    put_u32(b, type);
    put_u64(b, offset);
}

void
put_padding(struct bytes *b, size_t align)
{
    while (b->size % align != 0)
        put_u8(b, 0);
}

const char *
scratch_file(void)
{
    static char name[64];

    if (name[0] == '\0')
        snprintf(name, sizeof(name), "gguf-test-%ld.gguf", (long)getpid());
    return name;
}

void
remove_scratch_file(void)
{
    remove(scratch_file());
}

struct gguf_context *
open_bytes(const struct bytes *b, enum opening how, struct ggml_context **tensors)
{
    const struct gguf_init_params params = { how != DATA,
                                             how == META ? NULL : tensors };
    struct gguf_context *ctx;
    FILE *file;

    /* A file that is written anew in its place goes to the disk at once on some
     * file systems, each time. */
    remove_scratch_file();
    file = fopen(scratch_file(), "wb");
    assert_non_null(file);
    if (b->size > 0)
        assert_int_equal(fwrite(b->data, 1, b->size, file), b->size);
    assert_int_equal(fclose(file), 0);
    /* Garbage: it must not be there afterwards. */
    *tensors = (struct ggml_context *)(void *)b->data;
    ctx = gguf_init_from_file(scratch_file(), params);
    if (how == META)
        *tensors = NULL;
    return ctx;
}

void
put_everything(struct bytes *b)
{
    static const int64_t shapes[5][4] = {
        { 8, 1, 1, 1 }, { 32, 2, 1, 1 }, { 3, 1, 1, 1 }, { 0, 5, 1, 1 },
        { 256, 1, 1, 1 },
    };
    static const struct {
        const char *name;
        int n_dims;
        uint32_t type;
        size_t size;
    } tensors[5] = {
        { "f32", 1, GGML_TYPE_F32, 32 },    { "q8", 2, GGML_TYPE_Q8_0, 68 },
        { "f16", 1, GGML_TYPE_F16, 6 },     { "empty", 2, GGML_TYPE_F32, 0 },
        { "q4_k", 1, GGML_TYPE_Q4_K, 144 },
    };
    size_t offset = 0;

    put_head(b, 5, 28);
    put_key_u32(b, "general.alignment", 64);
    for (uint32_t type = 0; type < GGUF_TYPE_COUNT; type++) {
        static const size_t sizes[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };
        char key[32];

        if (type == GGUF_TYPE_STRING || type == GGUF_TYPE_ARRAY)
            continue;
        snprintf(key, sizeof(key), "scalar.%u", (unsigned)type);
        put_key(b, key, type);
        for (size_t i = 0; i < sizes[type]; i++)
            put_u8(b, (uint8_t)(type == GGUF_TYPE_BOOL ? 1 : 17 * i + type));
        snprintf(key, sizeof(key), "array.%u", (unsigned)type);
        put_array(b, key, type, 3);
        for (size_t i = 0; i < 3 * sizes[type]; i++)
            put_u8(b, (uint8_t)(type == GGUF_TYPE_BOOL ? i & 1 : 5 * i + type));
    }
    put_key(b, "text", GGUF_TYPE_STRING);
    put_text(b, "water boils");
    put_key(b, "no text", GGUF_TYPE_STRING);
    put_text(b, "");
    put_array(b, "texts", GGUF_TYPE_STRING, 3);
    put_text(b, "one");
    put_text(b, "");
    put_text(b, "three");
    put_array(b, "no texts", GGUF_TYPE_STRING, 0);
    put_array(b, "no numbers", GGUF_TYPE_FLOAT64, 0);

    for (int i = 0; i < 5; i++) {
        put_info(b, tensors[i].name, tensors[i].n_dims, shapes[i],
                 tensors[i].type, offset);
        offset += (tensors[i].size + 63) / 64 * 64;
    }
    put_padding(b, 64);
    for (size_t i = 0; i < offset; i++)
        put_u8(b, (uint8_t)(i * 7));
}
