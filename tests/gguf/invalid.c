/* SPDX-License-Identifier: MIT */
/*
 * gguf/invalid.c - malformed and borderline files, one after another.
 *
 * Every case is opened in each of the three ways.  A file that is refused gives
 * NULL, a NULL context, a message, and no leak; one that is taken can be freed.
 */
#include "tests/gguf/bytes.h"

#include "lib/base/mem.h"

#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cmocka.h>

enum { OK_META = 1, OK_NO_ALLOC = 2, OK_DATA = 4, OK = 7, BAD = 0 };

struct file_case {
    const char *id;
    void (*make)(struct bytes *b, int64_t x, int64_t y);
    int64_t x, y;
    int ok;           /* openings that succeed */
    const char *says; /* a part of the message, or NULL */
};

/* Parts of files */

static void
tensor_x(struct bytes *b, uint64_t offset)
{
    const int64_t ne[] = { 8 };

    put_info(b, "x", 1, ne, GGML_TYPE_F32, offset);
}

/* X and its data behind whatever keys there are. */
static void
data_of_x(struct bytes *b)
{
    tensor_x(b, 0);
    put_padding(b, 32);
    put_zeros(b, 32);
}

/* 1. Header */

static void
prefix(struct bytes *b, int64_t n, int64_t unused)
{
    (void)unused;
    put_head(b, 0, 0);
    b->size = (size_t)n;
}

static void
magic(struct bytes *b, int64_t which, int64_t unused)
{
    static const char *const magics[] = {
        "FUGG", "GGML", "ggjt", "GGUG", "\0\0\0\0", "\x89PNG\r\n\x1a\n",
    };

    (void)unused;
    put_head(b, 0, 0);
    memcpy(b->data, magics[which], which == 5 ? 8 : 4);
}

static void
version(struct bytes *b, int64_t v, int64_t unused)
{
    (void)unused;
    put_bytes(b, "GGUF", 4);
    put_u32(b, (uint32_t)v);
    put_u64(b, 1);
    put_u64(b, 0);
    data_of_x(b);
}

static void
counts(struct bytes *b, int64_t n_tensors, int64_t n_pairs)
{
    put_head(b, (uint64_t)n_tensors, (uint64_t)n_pairs);
}

static void
nothing_but(struct bytes *b, int64_t padding, int64_t garbage)
{
    put_head(b, 0, 0);
    put_zeros(b, (size_t)padding);
    for (int64_t i = 0; i < garbage; i++)
        put_u8(b, 0xA5);
}

/* 2. Keys */

static void
key_length(struct bytes *b, int64_t length, int64_t behind)
{
    put_head(b, 0, 1);
    put_u64(b, (uint64_t)length);
    for (int64_t i = 0; i < behind; i++)
        put_u8(b, 'k');
}

static void
raw_key(struct bytes *b, int64_t which, int64_t n)
{
    put_head(b, 0, (uint64_t)n);
    for (int64_t i = 0; i < n; i++) {
        char key[3] = { 'a', '\0', (char)('b' + i) };

        put_string(b, which == 0 ? "" : key, which == 0 ? 0 : 3);
        put_u32(b, GGUF_TYPE_UINT8);
        put_u8(b, 1);
    }
    put_zeros(b, 8);
}

static void
same_key(struct bytes *b, int64_t type2, int64_t n)
{
    put_head(b, 0, (uint64_t)n);
    for (int64_t i = 0; i < n - 2; i++) {
        char key[16];

        snprintf(key, sizeof(key), "k%d", (int)i);
        put_key_u32(b, key, 1);
    }
    put_key_u32(b, "twice", 1);
    if (type2 == GGUF_TYPE_ARRAY) {
        put_array(b, "twice", GGUF_TYPE_UINT8, 1);
        put_u8(b, 1);
    } else {
        put_key(b, "twice", (uint32_t)type2);
        put_u32(b, 1);
    }
}

static void
odd_key(struct bytes *b, int64_t n, int64_t byte)
{
    put_head(b, 0, 1);
    put_u64(b, (uint64_t)n);
    for (int64_t i = 0; i < n; i++)
        put_u8(b, (uint8_t)byte);
    put_u32(b, GGUF_TYPE_UINT8);
    put_u8(b, 1);
}

static void
value_type(struct bytes *b, int64_t type, int64_t behind)
{
    put_head(b, 0, 1);
    put_key(b, "key", (uint32_t)type);
    put_zeros(b, (size_t)behind);
}

static void
type_cut(struct bytes *b, int64_t n, int64_t unused)
{
    (void)unused;
    put_head(b, 0, 1);
    put_text(b, "key");
    put_zeros(b, (size_t)n);
}

static void
string_length(struct bytes *b, int64_t length, int64_t behind)
{
    put_head(b, 0, 1);
    put_key(b, "key", GGUF_TYPE_STRING);
    put_u64(b, (uint64_t)length);
    put_zeros(b, (size_t)behind);
}

static void
array_of(struct bytes *b, int64_t type, int64_t count)
{
    put_head(b, 0, 1);
    put_array(b, "key", (uint32_t)type, (uint64_t)count);
    put_zeros(b, 3);
}

static void
second_string(struct bytes *b, int64_t length, int64_t unused)
{
    (void)unused;
    put_head(b, 0, 1);
    put_array(b, "key", GGUF_TYPE_STRING, 2);
    put_text(b, "q");
    put_u64(b, (uint64_t)length);
    put_zeros(b, 3);
}

static void
array_cut(struct bytes *b, int64_t type, int64_t bytes_there)
{
    put_head(b, 0, 1);
    put_array(b, "key", (uint32_t)type, 3);
    for (int64_t i = 0; i < bytes_there; i++)
        put_u8(b, i == 0 && type == GGUF_TYPE_STRING ? 1 : 0);
}

static void
empty_array(struct bytes *b, int64_t type, int64_t unused)
{
    (void)unused;
    put_head(b, 0, 1);
    put_array(b, "key", (uint32_t)type, 0);
}

static void
n_pairs_wrong(struct bytes *b, int64_t said, int64_t there)
{
    put_head(b, said < there ? 1 : 0, (uint64_t)said);
    for (int64_t i = 0; i < there; i++)
        put_key_u32(b, i == 0 ? "one" : "two", 5);
    if (said < there)
        data_of_x(b);
    put_padding(b, 32);
}

static void
many_same_keys(struct bytes *b, int64_t n, int64_t unused)
{
    (void)unused;
    put_head(b, 0, (uint64_t)n);
    for (int64_t i = 0; i < n; i++)
        put_key_u32(b, "same", 1);
}

/* 3. Alignment */

static void
alignment(struct bytes *b, int64_t value, int64_t with_tensor)
{
    put_head(b, with_tensor ? 1 : 0, 1);
    put_key_u32(b, "general.alignment", (uint32_t)value);
    if (with_tensor)
        tensor_x(b, 0);
}

static void
aligned_file(struct bytes *b, int64_t align, int64_t second_offset)
{
    const int64_t three[] = { 3 };

    put_head(b, 2, align > 0 ? 1 : 0);
    if (align > 0)
        put_key_u32(b, "general.alignment", (uint32_t)align);
    put_info(b, "a", 1, three, GGML_TYPE_F32, 0);
    put_info(b, "b", 1, three, GGML_TYPE_F32, (uint64_t)second_offset);
    put_padding(b, align > 0 ? (size_t)align : 32);
    put_zeros(b, 2 * (align > 12 ? (size_t)align : 16));
}

static void
alignment_type(struct bytes *b, int64_t type, int64_t unused)
{
    (void)unused;
    put_head(b, 0, 1);
    put_key(b, "general.alignment", (uint32_t)type);
    if (type == GGUF_TYPE_STRING) {
        put_text(b, "32");
    } else {
        put_u64(b, type == GGUF_TYPE_FLOAT32 ? 0x42000000 : 32);
    }
}

static void
alignment_array(struct bytes *b, int64_t n, int64_t unused)
{
    (void)unused;
    put_head(b, 0, 1);
    put_array(b, "general.alignment", GGUF_TYPE_UINT32, (uint64_t)n);
    for (int64_t i = 0; i < n; i++)
        put_u32(b, 64);
}

static void
alignment_twice(struct bytes *b, int64_t unused, int64_t unused2)
{
    (void)unused;
    (void)unused2;
    put_head(b, 0, 2);
    put_key_u32(b, "general.alignment", 32);
    put_key_u32(b, "general.alignment", 32);
}

/* 4. Tensors */

static void
name_of(struct bytes *b, int64_t n, int64_t said)
{
    const int64_t ne[] = { 8 };

    put_head(b, 1, 0);
    put_u64(b, (uint64_t)said);
    for (int64_t i = 0; i < n; i++)
        put_u8(b, 'n');
    put_u32(b, 1);
    put_u64(b, (uint64_t)ne[0]);
    put_u32(b, GGML_TYPE_F32);
    put_u64(b, 0);
    put_padding(b, 32);
    put_zeros(b, 32);
}

static void
same_names(struct bytes *b, int64_t n, int64_t unused)
{
    const int64_t ne[] = { 8 };

    (void)unused;
    put_head(b, (uint64_t)n, 0);
    for (int64_t i = 0; i < n; i++) {
        char name[16];

        snprintf(name, sizeof(name), "t%d", (int)(i == n - 1 ? 0 : i));
        put_info(b, name, 1, ne, GGML_TYPE_F32, (uint64_t)(32 * i));
    }
    put_padding(b, 32);
    put_zeros(b, (size_t)(32 * n));
}

static void
zero_in_name(struct bytes *b, int64_t n, int64_t unused)
{
    (void)unused;
    put_head(b, (uint64_t)n, 0);
    for (int64_t i = 0; i < n; i++) {
        const char name[3] = { 'x', '\0', (char)('a' + i) };

        put_string(b, name, 3);
        put_u32(b, 1);
        put_u64(b, 8);
        put_u32(b, GGML_TYPE_F32);
        put_u64(b, (uint64_t)(32 * i));
    }
    put_padding(b, 32);
    put_zeros(b, 64);
}

static void
n_dims(struct bytes *b, int64_t n, int64_t unused)
{
    (void)unused;
    put_head(b, 1, 0);
    put_text(b, "x");
    put_u32(b, (uint32_t)n);
    for (int64_t i = 0; i < 5; i++) {
        if (i < n)
            put_u64(b, 1);
    }
    put_u32(b, GGML_TYPE_F32);
    put_u64(b, 0);
    put_padding(b, 32);
    put_zeros(b, 32);
}

#define P(n) (INT64_C(1) << (n))

static const struct {
    int n;
    int64_t ne[4];
    uint32_t type;
} shapes[] = {
    /* T09 */
    { 1, { -1 }, GGML_TYPE_F32 },
    { 1, { INT64_MIN }, GGML_TYPE_F32 },
    { 2, { 8, -1 }, GGML_TYPE_F32 },
    { 4, { 8, 1, 1, -5 }, GGML_TYPE_F32 },
    /* T10, T11: 4 */
    { 1, { 0 }, GGML_TYPE_F32 },
    { 2, { 0, 5 }, GGML_TYPE_F32 },
    { 2, { 8, 0 }, GGML_TYPE_F32 },
    { 3, { 8, 1, 0 }, GGML_TYPE_F32 },
    { 4, { 8, 1, 1, 0 }, GGML_TYPE_F32 },
    { 2, { 0, 0 }, GGML_TYPE_F32 },
    /* T12: 10 */
    { 2, { P(62), 0 }, GGML_TYPE_F32 },
    { 3, { 8, P(62), 0 }, GGML_TYPE_F32 },
    { 4, { 0, P(62), P(62), P(62) }, GGML_TYPE_F32 },
    /* T13: 13 */
    { 2, { P(62), 4 }, GGML_TYPE_F32 },
    { 2, { 4 * (P(31) - 1), 4 * (P(31) - 1) }, GGML_TYPE_F32 },
    { 3, { P(31), P(31), 2 }, GGML_TYPE_F32 },
    { 1, { INT64_MAX }, GGML_TYPE_F32 },
    { 4, { P(16), P(16), P(16), P(16) }, GGML_TYPE_F32 },
    /* T14, T15: 18 */
    { 1, { P(62) }, GGML_TYPE_F32 },
    { 1, { P(61) }, GGML_TYPE_F64 },
    { 1, { P(62) - 1 }, GGML_TYPE_F32 },
    { 1, { INT64_MAX - 1 }, GGML_TYPE_I16 },
    /* T17, T18: 22 */
    { 1, { P(61) }, GGML_TYPE_F32 },
    { 2, { P(32), P(31) - 1 }, GGML_TYPE_I8 },
    { 1, { P(40) }, GGML_TYPE_F32 },
    /* D08: 25 */
    { 1, { P(38) }, GGML_TYPE_F32 },
    /* T20 … T22 */
    { 1, { 33 }, GGML_TYPE_Q4_0 },
    { 1, { 16 }, GGML_TYPE_Q8_0 },
    { 1, { 128 }, GGML_TYPE_Q4_K },
    { 1, { 255 }, GGML_TYPE_IQ2_XXS },
    /* All addresses but 16 or 32: 30 */
    { 1, { P(62) - 4 }, GGML_TYPE_F32 },
    { 1, { P(62) - 8 }, GGML_TYPE_F32 },
};

/* Shape I, and an empty tensor behind it where that is asked for. */
static void
shape(struct bytes *b, int64_t i, int64_t then_empty)
{
    put_head(b, then_empty ? 2 : 1, 0);
    put_info(b, "x", shapes[i].n, shapes[i].ne, shapes[i].type, 0);
    if (then_empty)
        put_info(b, "next", 1, (const int64_t[]){ 8 }, GGML_TYPE_F32, 0);
    put_padding(b, 32);
    put_zeros(b, then_empty ? 32 : 1024);
}

static void
sum_wraps(struct bytes *b, int64_t unused, int64_t unused2)
{
    const int64_t ne[] = { P(62) };

    (void)unused;
    (void)unused2;
    put_head(b, 5, 0);
    for (uint64_t i = 0; i < 5; i++) {
        const char name[2] = { (char)('a' + i), '\0' };

        put_info(b, name, 1, ne, GGML_TYPE_I8, i * (uint64_t)P(62));
    }
    put_padding(b, 32);
}

static void
type_of(struct bytes *b, int64_t type, int64_t ne0)
{
    put_head(b, 1, 0);
    put_info(b, "x", 1, &ne0, (uint32_t)type, 0);
    put_padding(b, 32);
    put_zeros(b, 1024);
}

static void
first_offset(struct bytes *b, int64_t offset, int64_t unused)
{
    (void)unused;
    put_head(b, 1, 0);
    tensor_x(b, (uint64_t)offset);
    put_padding(b, 32);
    put_zeros(b, 128);
}

/* Tensors of N1 and 8 floats at two offsets, given as a * 1000 + b. */
static void
two_offsets(struct bytes *b, int64_t n1, int64_t offsets)
{
    put_head(b, 2, 0);
    put_info(b, "a", 1, &n1, GGML_TYPE_F32, (uint64_t)(offsets / 1000));
    put_info(b, "b", 1, (const int64_t[]){ 8 }, GGML_TYPE_F32,
             (uint64_t)(offsets % 1000));
    put_padding(b, 32);
    put_zeros(b, 128);
}

static void
empties_and_x(struct bytes *b, int64_t unused, int64_t unused2)
{
    (void)unused;
    (void)unused2;
    put_head(b, 3, 0);
    put_info(b, "a", 1, (const int64_t[]){ 0 }, GGML_TYPE_F32, 0);
    put_info(b, "b", 2, (const int64_t[]){ 8, 0 }, GGML_TYPE_F32, 0);
    data_of_x(b);
}

static void
n_tensors_wrong(struct bytes *b, int64_t said, int64_t there)
{
    put_head(b, (uint64_t)said, 0);
    for (int64_t i = 0; i < there; i++) {
        const char name[2] = { (char)('a' + i), '\0' };

        put_info(b, name, 1, (const int64_t[]){ 8 }, GGML_TYPE_F32,
                 (uint64_t)(32 * i));
    }
    put_padding(b, 32);
    put_zeros(b, (size_t)(32 * there));
}

/* 5. Data */

static void
x_with_data(struct bytes *b, int64_t padded, int64_t n_data)
{
    put_head(b, 1, 0);
    tensor_x(b, 0);
    if (padded)
        put_padding(b, 32);
    put_zeros(b, (size_t)n_data);
}

static void
three_floats(struct bytes *b, int64_t n_data, int64_t unused)
{
    (void)unused;
    put_head(b, 1, 0);
    put_info(b, "x", 1, (const int64_t[]){ 3 }, GGML_TYPE_F32, 0);
    put_padding(b, 32);
    put_zeros(b, (size_t)n_data);
}

static void
dirty_padding(struct bytes *b, int64_t unused, int64_t unused2)
{
    (void)unused;
    (void)unused2;
    put_head(b, 2, 0);
    put_info(b, "a", 1, (const int64_t[]){ 3 }, GGML_TYPE_F32, 0);
    put_info(b, "b", 1, (const int64_t[]){ 3 }, GGML_TYPE_F32, 32);
    while (b->size % 32 != 0)
        put_u8(b, 0xEE);
    for (int i = 0; i < 64; i++)
        put_u8(b, 0xEE);
}

/* Tensors that sizes of 64 bits can tell, and no memory has. */
#define OK_WIDE (SIZE_MAX > UINT32_MAX ? OK_META | OK_NO_ALLOC : BAD)

static const struct file_case cases[] = {
    { "H01", prefix, 0, 0, BAD, NULL },
    { "H02", prefix, 1, 0, BAD, NULL },
    { "H02", prefix, 2, 0, BAD, NULL },
    { "H02", prefix, 3, 0, BAD, NULL },
    { "H03", magic, 0, 0, BAD, "FUGG" },
    { "H03", magic, 1, 0, BAD, "GGML" },
    { "H03", magic, 2, 0, BAD, "ggjt" },
    { "H03", magic, 3, 0, BAD, "GGUG" },
    { "H03", magic, 4, 0, BAD, "\\x00" },
    { "H03", magic, 5, 0, BAD, "\\x89PNG" },
    { "H04", prefix, 4, 0, BAD, NULL },
    { "H04", prefix, 5, 0, BAD, NULL },
    { "H04", prefix, 7, 0, BAD, NULL },
    { "H05", version, 0, 0, BAD, NULL },
    { "H06", version, 1, 0, BAD, "v1" },
    { "H07", version, 2, 0, OK, NULL },
    { "H08", version, 4, 0, BAD, NULL },
    { "H08", version, 0xFFFFFFFF, 0, BAD, NULL },
    { "H09", version, 0x03000000, 0, BAD, "byte order" },
    { "H10", prefix, 12, 0, BAD, NULL },
    { "H10", prefix, 20, 0, BAD, NULL },
    { "H11", counts, -1, 0, BAD, NULL },
    { "H11", counts, INT64_MAX, 0, BAD, NULL },
    { "H11", counts, P(50), 0, BAD, NULL },
    { "H11", counts, 1000000000, 0, BAD, NULL },
    { "H12", counts, 0, -1, BAD, NULL },
    { "H12", counts, 0, P(62), BAD, NULL },
    { "H12", counts, 0, P(40), BAD, NULL },
    { "H12", counts, 0, 1000000000, BAD, NULL },
    { "H13", nothing_but, 0, 0, OK, NULL },
    { "H13", nothing_but, 8, 0, OK, NULL },
    { "H13", nothing_but, 8, 77, OK, NULL },

    { "K01", key_length, -1, 3, BAD, NULL },
    { "K01", key_length, INT64_MIN, 3, BAD, NULL },
    { "K01", key_length, P(40), 3, BAD, NULL },
    { "K01", key_length, P(33), 3, BAD, NULL },
    { "K02", key_length, 21, 20, BAD, NULL },
    { "K02", key_length, 20, 20, BAD, NULL },
    { "K03", raw_key, 0, 1, BAD, "empty" },
    { "K04", raw_key, 1, 1, BAD, "a\\x00b" },
    { "K05", raw_key, 1, 2, BAD, NULL },
    { "K06", same_key, GGUF_TYPE_UINT32, 2, BAD, "twice" },
    { "K06", same_key, GGUF_TYPE_INT32, 2, BAD, "twice" },
    { "K06", same_key, GGUF_TYPE_ARRAY, 2, BAD, "twice" },
    { "K06", same_key, GGUF_TYPE_UINT32, 100, BAD, "twice" },
    { "K07", odd_key, 65536, 'k', OK, NULL },
    { "K07", odd_key, 9, 0xC3, OK, NULL },
    { "K07", odd_key, 9, 0xFF, OK, NULL },
    { "K08", value_type, -1, 64, BAD, NULL },
    { "K08", value_type, 13, 64, BAD, NULL },
    { "K08", value_type, 0x7FFFFFFF, 64, BAD, NULL },
    { "K08", value_type, 0x80000000, 64, BAD, NULL },
    { "K09", type_cut, 3, 0, BAD, NULL },
    { "K09", value_type, GGUF_TYPE_UINT8, 0, BAD, NULL },
    { "K09", value_type, GGUF_TYPE_INT8, 0, BAD, NULL },
    { "K09", value_type, GGUF_TYPE_UINT16, 1, BAD, NULL },
    { "K09", value_type, GGUF_TYPE_INT16, 1, BAD, NULL },
    { "K09", value_type, GGUF_TYPE_UINT32, 3, BAD, NULL },
    { "K09", value_type, GGUF_TYPE_INT32, 3, BAD, NULL },
    { "K09", value_type, GGUF_TYPE_FLOAT32, 3, BAD, NULL },
    { "K09", value_type, GGUF_TYPE_BOOL, 0, BAD, NULL },
    { "K09", value_type, GGUF_TYPE_UINT64, 7, BAD, NULL },
    { "K09", value_type, GGUF_TYPE_INT64, 7, BAD, NULL },
    { "K09", value_type, GGUF_TYPE_FLOAT64, 7, BAD, NULL },
    { "K10", string_length, -1, 3, BAD, NULL },
    { "K10", string_length, INT64_MIN, 3, BAD, NULL },
    { "K11", string_length, P(40), 3, BAD, NULL },
    { "K11", string_length, P(32), 3, BAD, NULL },
    { "K12", string_length, 4, 3, BAD, NULL },
    { "K12", string_length, 1000, 3, BAD, NULL },
    { "K14", string_length, 0, 0, OK, NULL },
    { "K15", array_of, GGUF_TYPE_ARRAY, 0, BAD, NULL },
    { "K15", array_of, GGUF_TYPE_ARRAY, 1, BAD, NULL },
    { "K16", array_of, -1, 1, BAD, NULL },
    { "K16", array_of, 13, 1, BAD, NULL },
    { "K17", array_of, GGUF_TYPE_UINT8, -1, BAD, NULL },
    { "K17", array_of, GGUF_TYPE_UINT64, P(61), BAD, NULL },
    { "K17", array_of, GGUF_TYPE_UINT32, P(62), BAD, NULL },
    { "K17", array_of, GGUF_TYPE_UINT16, INT64_MIN, BAD, NULL },
    { "K18", array_of, GGUF_TYPE_UINT8, P(40), BAD, NULL },
    { "K18", array_of, GGUF_TYPE_UINT8, P(32), BAD, NULL },
    { "K18", array_of, GGUF_TYPE_BOOL, P(40), BAD, NULL },
    { "K18", array_of, GGUF_TYPE_UINT8, 4, BAD, NULL },
    { "K19", array_of, GGUF_TYPE_STRING, P(40), BAD, NULL },
    { "K19", array_of, GGUF_TYPE_STRING, P(62), BAD, NULL },
    { "K20", second_string, P(40), 0, BAD, NULL },
    { "K20", second_string, -1, 0, BAD, NULL },
    { "K21", array_cut, GGUF_TYPE_UINT32, 6, BAD, NULL },
    { "K21", array_cut, GGUF_TYPE_UINT32, 0, BAD, NULL },
    { "K21", array_cut, GGUF_TYPE_STRING, 9, BAD, NULL },
    { "K21", array_cut, GGUF_TYPE_STRING, 12, BAD, NULL },
    { "K22", empty_array, GGUF_TYPE_UINT8, 0, OK, NULL },
    { "K22", empty_array, GGUF_TYPE_STRING, 0, OK, NULL },
    { "K22", empty_array, GGUF_TYPE_FLOAT64, 0, OK, NULL },
    { "K25", n_pairs_wrong, 2, 1, BAD, NULL },
    { "K26", n_pairs_wrong, 1, 2, BAD, NULL },
    { "K28", many_same_keys, 200000, 0, BAD, "same" },

    { "A01", alignment, 0, 0, BAD, NULL },
    { "A02", alignment, 3, 0, BAD, NULL },
    { "A02", alignment, 13, 0, BAD, NULL },
    { "A02", alignment, 24, 0, BAD, NULL },
    { "A02", alignment, 48, 0, BAD, NULL },
    { "A02", alignment, 0xFFFFFFFF, 0, BAD, NULL },
    { "A03", aligned_file, 1, 12, OK, NULL },
    { "A04", alignment, P(31), 0, OK, NULL },
    { "A05", alignment, P(31), 1, OK_META | OK_NO_ALLOC, NULL },
    { "A06", alignment_type, GGUF_TYPE_UINT64, 0, BAD, "general.alignment" },
    { "A06", alignment_type, GGUF_TYPE_INT32, 0, BAD, "general.alignment" },
    { "A06", alignment_type, GGUF_TYPE_UINT16, 0, BAD, "general.alignment" },
    { "A06", alignment_type, GGUF_TYPE_UINT8, 0, BAD, "general.alignment" },
    { "A07", alignment_type, GGUF_TYPE_STRING, 0, BAD, NULL },
    { "A07", alignment_type, GGUF_TYPE_BOOL, 0, BAD, NULL },
    { "A07", alignment_type, GGUF_TYPE_FLOAT32, 0, BAD, NULL },
    { "A08", alignment_array, 1, 0, BAD, NULL },
    { "A09", alignment_array, 0, 0, BAD, NULL },
    { "A10", alignment_array, 2, 0, BAD, NULL },
    { "A11", aligned_file, 0, 12, BAD, NULL },
    { "A12", aligned_file, 64, 32, BAD, NULL },
    { "A13", alignment_twice, 0, 0, BAD, "general.alignment" },
    { "A14", aligned_file, 8, 16, OK, NULL },
    { "A14", aligned_file, 16, 16, OK, NULL },
    { "A14", aligned_file, 64, 64, OK, NULL },
    { "A14", aligned_file, 4096, 4096, OK, NULL },

    { "T01", name_of, 63, 63, OK, NULL },
    { "T02", name_of, 64, 64, BAD, NULL },
    { "T02", name_of, 65, 65, BAD, NULL },
    { "T02", name_of, 4096, 4096, BAD, NULL },
    { "T03", name_of, 5, -1, BAD, NULL },
    { "T03", name_of, 5, P(40), BAD, NULL },
    { "T03", name_of, 5, 5000, BAD, NULL },
    { "T04", name_of, 0, 0, OK, NULL },
    { "T05", same_names, 2, 0, BAD, "t0" },
    { "T05", same_names, 1000, 0, BAD, "t0" },
    { "T06", zero_in_name, 1, 0, BAD, "x\\x00a" },
    { "T06", zero_in_name, 2, 0, BAD, NULL },
    { "T07", n_dims, 5, 0, BAD, NULL },
    { "T07", n_dims, 0xFFFFFFFF, 0, BAD, NULL },
    { "T08", n_dims, 0, 0, OK, NULL },
    { "T09", shape, 0, 0, BAD, NULL },
    { "T09", shape, 1, 0, BAD, NULL },
    { "T09", shape, 2, 0, BAD, NULL },
    { "T09", shape, 3, 0, BAD, NULL },
    { "T10", shape, 4, 1, OK, NULL },
    { "T10", shape, 5, 1, OK, NULL },
    { "T11", shape, 6, 1, OK, NULL },
    { "T11", shape, 7, 1, OK, NULL },
    { "T11", shape, 8, 1, OK, NULL },
    { "T11", shape, 9, 1, OK, NULL },
    { "T12", shape, 10, 0, BAD, NULL },
    { "T12", shape, 11, 0, BAD, NULL },
    { "T12b", shape, 12, 0, SIZE_MAX > UINT32_MAX ? OK : BAD, NULL },
    { "T13", shape, 13, 0, BAD, NULL },
    { "T13", shape, 14, 0, BAD, NULL },
    { "T13", shape, 15, 0, BAD, NULL },
    { "T13", shape, 16, 0, BAD, NULL },
    { "T13", shape, 17, 0, BAD, NULL },
    { "T14", shape, 18, 0, BAD, NULL },
    { "T15", shape, 19, 0, BAD, NULL },
    { "T15", shape, 20, 0, BAD, NULL },
    { "T15", shape, 21, 0, BAD, NULL },
    { "T16", shape, 18, 1, BAD, NULL },
    { "T17", shape, 22, 0, OK_WIDE, NULL },
    { "T17", shape, 23, 0, OK_WIDE, NULL },
    { "T17", shape, 24, 0, OK_WIDE, NULL },
    { "T18", shape, 30, 0, BAD,
      SIZE_MAX > UINT32_MAX ? "'x' ends beyond all addresses" : NULL },
    { "T18", shape, 31, 0, OK_WIDE, NULL },
    { "T19", sum_wraps, 0, 0, BAD, NULL },
    { "T20", type_of, -1, 8, BAD, NULL },
    { "T20", type_of, 39, 8, BAD, NULL },
    { "T20", type_of, 0x7FFFFFFF, 8, BAD, NULL },
    { "T21", type_of, 4, 32, BAD, "DEPRECATED" },
    { "T21", type_of, 5, 32, BAD, "DEPRECATED" },
    { "T21", type_of, 31, 32, BAD, NULL },
    { "T21", type_of, 32, 32, BAD, NULL },
    { "T21", type_of, 33, 32, BAD, NULL },
    { "T21", type_of, 36, 32, BAD, NULL },
    { "T21", type_of, 37, 32, BAD, NULL },
    { "T21", type_of, 38, 32, BAD, NULL },
    { "T22", shape, 26, 0, BAD, NULL },
    { "T22", shape, 27, 0, BAD, NULL },
    { "T22", shape, 28, 0, BAD, NULL },
    { "T22", shape, 29, 0, BAD, NULL },
    { "T24", first_offset, 32, 0, BAD, NULL },
    { "T24", first_offset, 1, 0, BAD, NULL },
    { "T24", first_offset, -1, 0, BAD, NULL },
    { "T24", first_offset, INT64_MIN, 0, BAD, NULL },
    { "T25", two_offsets, 8, 64, BAD, "64" },
    { "T26", two_offsets, 16, 32, BAD, "32" },
    { "T27", two_offsets, 8, 32000, BAD, NULL },
    { "T28", empties_and_x, 0, 0, OK, NULL },
    { "T30", n_tensors_wrong, 3, 2, BAD, NULL },

    { "D01", x_with_data, 1, 0, OK_META | OK_NO_ALLOC, NULL },
    { "D02", x_with_data, 0, 0, OK_META | OK_NO_ALLOC, NULL },
    { "D03", x_with_data, 1, 31, OK_META | OK_NO_ALLOC, NULL },
    { "D04", three_floats, 12, 0, OK_META | OK_NO_ALLOC, NULL },
    { "D05", three_floats, 12 + 19, 0, OK_META | OK_NO_ALLOC, NULL },
    { "D06", x_with_data, 1, 99, OK, NULL },
    { "D07", dirty_padding, 0, 0, OK, NULL },
    { "D08", shape, 25, 0, OK_WIDE, NULL },
    { "D11", nothing_but, 8, 0, OK, NULL },
};

static int
open_files(void)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");

    if (folder == NULL)
        return -1;
    while (readdir(folder) != NULL)
        n++;
    closedir(folder);
    return n;
}

/* Memory that the process may take beyond what it has: 0 takes the limit off.
 * Sanitizers, which one knows by their terabytes, and valgrind need more of their
 * own than they are asked for. */
static void
limit_memory(size_t bytes)
{
    static struct rlimit without;
    const char *preloaded = getenv("LD_PRELOAD");
    struct rlimit limit;
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    if (without.rlim_cur == 0)
        assert_int_equal(getrlimit(RLIMIT_AS, &without), 0);
    if (file != NULL) {
        if (fscanf(file, "%lu", &pages) != 1)
            pages = 0;
        fclose(file);
    }
    if (pages == 0 || pages > (1ul << 28) ||
        (preloaded != NULL && strstr(preloaded, "valgrind") != NULL))
        return;
    limit = without;
    if (bytes > 0)
        limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
}

static void
check_case(const struct file_case *c, const struct bytes *b, enum opening how)
{
    const bool ok = (c->ok >> how & 1) != 0;
    struct ggml_context *tensors;
    struct gguf_context *ctx;
    int errors;

    limit_memory(((size_t)16 << 20) + 4 * b->size);
    ctx = open_bytes(b, how, &tensors);
    limit_memory(0);
    errors = errors_logged();
    if (errors > 0 && strstr(last_error(), "no memory") != NULL)
        fail_msg("%s, opening %d: more memory than 16 MiB and four files: %s",
                 c->id, how, last_error());

    if (ok != (ctx != NULL))
        fail_msg("%s (%lld, %lld), opening %d: %s: %s", c->id, (long long)c->x,
                 (long long)c->y, how, ok ? "refused" : "taken", last_error());
    if (how != META && (tensors != NULL) != ok)
        fail_msg("%s, opening %d: the context is wrong", c->id, how);
    if (!ok && errors != 1)
        fail_msg("%s, opening %d: %d messages", c->id, how, errors);
    if (!ok && c->says != NULL && strstr(last_error(), c->says) == NULL)
        fail_msg("%s: '%s' does not say '%s'", c->id, last_error(), c->says);
    gguf_free(ctx);
    ggml_free(tensors);
}

static void
each_case_is_taken_or_refused_as_it_should(void **state)
{
    const int before = open_files();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bytes b = { NULL, 0, 0 };

        cases[i].make(&b, cases[i].x, cases[i].y);
        for (int how = 0; how < N_OPENINGS; how++)
            check_case(&cases[i], &b, (enum opening)how);
        bytes_free(&b);
    }
    assert_int_equal(open_files(), before);
}

static void
a_path_that_is_no_readable_file_is_refused(void **state)
{
    static const char *const paths[] = { "no/such/file.gguf", "." };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct gguf_init_params params = { true, NULL };

        assert_null(gguf_init_from_file(paths[i], params));
        assert_int_equal(errors_logged(), 1);
    }
    assert_null(gguf_init_from_file(NULL, (struct gguf_init_params){ 0, NULL }));
    assert_int_equal(errors_logged(), 1);
    assert_string_equal(last_error(), "gguf: no file name\n");
}

/* H15: a pipe that somebody else writes into. */
struct feed {
    const char *path;
    const struct bytes *bytes;
};

static void *
feed_pipe(void *data)
{
    const struct feed *feed = data;
    FILE *file = fopen(feed->path, "wb");

    if (file != NULL) {
        fwrite(feed->bytes->data, 1, feed->bytes->size, file);
        fclose(file);
    }
    return NULL;
}

static struct gguf_context *
open_pipe(const struct bytes *b, enum opening how, struct ggml_context **tensors)
{
    struct feed feed = { "gguf-test.fifo", b };
    const struct gguf_init_params params = { how != DATA,
                                             how == META ? NULL : tensors };
    struct gguf_context *ctx;
    pthread_t thread;

    *tensors = NULL;
    remove(feed.path);
    assert_int_equal(mkfifo(feed.path, 0600), 0);
    assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &feed), 0);
    ctx = gguf_init_from_file(feed.path, params);
    pthread_join(thread, NULL);
    remove(feed.path);
    return ctx;
}

static void
a_pipe_is_read_like_a_file(void **state)
{
    struct bytes good = { NULL, 0, 0 }, bad = { NULL, 0, 0 };

    (void)state;
    put_everything(&good);
    put_head(&bad, (uint64_t)P(50), 0);
    for (int how = 0; how < N_OPENINGS; how++) {
        struct ggml_context *tensors;
        struct gguf_context *ctx = open_pipe(&good, (enum opening)how, &tensors);

        assert_non_null(ctx);
        assert_int_equal(gguf_get_n_tensors(ctx), 5);
        if (how == DATA) {
            const struct ggml_tensor *q8 = ggml_get_tensor(tensors, "q8");
            const unsigned char *data = q8->data;

            assert_int_equal(data[0], (unsigned char)(64 * 7));
            assert_int_equal(data[67], (unsigned char)((64 + 67) * 7));
        }
        gguf_free(ctx);
        ggml_free(tensors);
        assert_null(open_pipe(&bad, (enum opening)how, &tensors));
        assert_null(tensors);
    }
    errors_logged();
    bytes_free(&good);
    bytes_free(&bad);
}

/* In the padding behind the tensors' entries, and in the data. */
static void
a_pipe_that_ends_early_is_refused(void **state)
{
    struct bytes b = { NULL, 0, 0 };
    struct ggml_context *tensors;
    size_t meta;

    (void)state;
    put_head(&b, 1, 0);
    tensor_x(&b, 0);
    meta = b.size;
    assert_true(meta % 32 != 0);
    put_padding(&b, 32);
    put_zeros(&b, 31);
    errors_logged();
    for (size_t n = meta; n <= b.size; n++) {
        const struct bytes cut = { b.data, n, 0 };

        assert_null(open_pipe(&cut, DATA, &tensors));
        assert_null(tensors);
        assert_int_equal(errors_logged(), 1);
    }
    put_zeros(&b, 1);
    gguf_free(open_pipe(&b, DATA, &tensors));
    assert_int_equal(errors_logged(), 0);
    assert_non_null(ggml_get_tensor(tensors, "x"));
    ggml_free(tensors);
    bytes_free(&b);
}

/* Three pieces of a mebibyte, and some more. */
static void
much_data_comes_through_a_pipe(void **state)
{
    const int64_t ne[] = { 3 * P(20) + 5 };
    struct bytes b = { NULL, 0, 0 };
    struct ggml_context *tensors;
    struct gguf_context *ctx;
    const unsigned char *data;

    (void)state;
    put_head(&b, 1, 0);
    put_info(&b, "x", 1, ne, GGML_TYPE_I8, 0);
    put_padding(&b, 32);
    for (int64_t i = 0; i < ne[0]; i++)
        put_u8(&b, (uint8_t)(i % 251));
    put_padding(&b, 32);
    ctx = open_pipe(&b, DATA, &tensors);
    assert_non_null(ctx);
    data = ggml_get_tensor(tensors, "x")->data;
    for (int64_t i = 0; i < ne[0]; i++)
        if (data[i] != i % 251)
            fail_msg("byte %lld is %d", (long long)i, data[i]);
    gguf_free(ctx);
    ggml_free(tensors);
    bytes_free(&b);
}

/* Strings whose lengths have no order, from a file and from a pipe. */
static void
strings_of_all_lengths_come_back(void **state)
{
    static const size_t lengths[] = { 0, 1, 300000, 0, 7, 65536, 8, 0, 9, 2 };
    enum { N = 400, N_LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };
    struct bytes b = { NULL, 0, 0 };

    (void)state;
    put_head(&b, 0, 2);
    put_array(&b, "texts", GGUF_TYPE_STRING, N);
    for (size_t i = 0; i < N; i++) {
        const size_t n = lengths[i * i % N_LENGTHS] % (i < 40 ? SIZE_MAX : 100);

        put_u64(&b, n);
        for (size_t k = 0; k < n; k++)
            put_u8(&b, (uint8_t)('a' + (i + k) % 26));
    }
    put_key_u32(&b, "behind", 3);
    for (int from_pipe = 0; from_pipe < 2; from_pipe++) {
        struct ggml_context *tensors;
        struct gguf_context *ctx = from_pipe ? open_pipe(&b, META, &tensors)
                                             : open_bytes(&b, META, &tensors);

        assert_non_null(ctx);
        assert_int_equal(gguf_get_val_u32(ctx, 1), 3);
        for (size_t i = 0; i < N; i++) {
            const size_t n =
                lengths[i * i % N_LENGTHS] % (i < 40 ? SIZE_MAX : 100);
            const char *text = gguf_get_arr_str(ctx, 0, i);

            assert_int_equal(strlen(text), n);
            for (size_t k = 0; k < n; k++)
                assert_int_equal(text[k], 'a' + (i + k) % 26);
        }
        gguf_free(ctx);
    }
    bytes_free(&b);
}

/* T29, S01: cut at every length. */
static void
a_file_cut_anywhere_is_refused_or_whole(void **state)
{
    struct bytes b = { NULL, 0, 0 };
    size_t whole, meta = 0;

    (void)state;
    put_everything(&b);
    whole = b.size;
    for (b.size = 0; b.size <= whole; b.size++) {
        for (int how = 0; how < N_OPENINGS; how++) {
            struct ggml_context *tensors;
            struct gguf_context *ctx = open_bytes(&b, (enum opening)how,
                                                  &tensors);

            if (how == META && ctx != NULL && meta == 0)
                meta = b.size;
            if (how == DATA && (ctx != NULL) != (b.size == whole))
                fail_msg("cut at %zu of %zu", b.size, whole);
            if (how != DATA && meta != 0)
                assert_non_null(ctx);
            gguf_free(ctx);
            ggml_free(tensors);
        }
    }
    assert_true(meta > 0 && meta < whole);
    errors_logged();
    b.size = whole;
    bytes_free(&b);
}

/* K27, K29, T32: much of everything, in time that grows with the file. */
static void
many_keys_tensors_and_strings_take_linear_time(void **state)
{
    struct bytes b = { NULL, 0, 0 };
    struct ggml_context *tensors;
    struct gguf_context *ctx;
    const int64_t before = (ggml_time_init(), ggml_time_us());

    (void)state;
    put_head(&b, 100000, 200001);
    for (int i = 0; i < 200000; i++) {
        char key[16];

        snprintf(key, sizeof(key), "k%d", i);
        put_key_u32(&b, key, (uint32_t)i);
    }
    put_array(&b, "texts", GGUF_TYPE_STRING, 1 << 20);
    put_zeros(&b, (size_t)8 << 20);
    for (int i = 0; i < 100000; i++) {
        char name[16];

        snprintf(name, sizeof(name), "t%d", i);
        put_info(&b, name, 1, (const int64_t[]){ 0 }, GGML_TYPE_F32, 0);
    }
    ctx = open_bytes(&b, NO_ALLOC, &tensors);
    assert_non_null(ctx);
    assert_int_equal(gguf_find_key(ctx, "k199999"), 199999);
    assert_int_equal(gguf_get_val_u32(ctx, 123456), 123456);
    assert_int_equal(gguf_find_tensor(ctx, "t99999"), 99999);
    assert_int_equal(gguf_get_arr_n(ctx, 200000), 1 << 20);
    assert_string_equal(gguf_get_arr_str(ctx, 200000, (1 << 20) - 1), "");
    gguf_free(ctx);
    ggml_free(tensors);
    bytes_free(&b);
    /* Half a second alone; a quadratic reader takes minutes. */
    assert_true(ggml_time_us() - before < 60 * INT64_C(1000000));
}

/* D09: beyond 2 GiB, in a file that is mostly a hole. */
static void
data_beyond_two_gigabytes_is_found(void **state)
{
    struct bytes b = { NULL, 0, 0 };
    struct ggml_context *tensors = NULL;
    const struct gguf_init_params params = { true, &tensors };
    struct gguf_context *ctx;
    const float value = 2.5f;
    FILE *file;

    (void)state;
    alignment(&b, P(31), 1);
    file = fopen(scratch_file(), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(b.data, 1, b.size, file), b.size);
    if (fseeko(file, (off_t)P(31), SEEK_SET) != 0 ||
        fwrite(&value, sizeof(value), 1, file) != 1 ||
        fflush(file) != 0 || ftruncate(fileno(file), (off_t)P(32)) != 0) {
        fclose(file);
        bytes_free(&b);
        print_message("no room for a file with a hole of 4 GiB\n");
        skip();
    }
    fclose(file);
    ctx = gguf_init_from_file(scratch_file(), params);
    assert_non_null(ctx);
    assert_int_equal(gguf_get_data_offset(ctx), P(31));
    assert_int_equal(gguf_get_tensor_offset(ctx, 0), 0);
    gguf_free(ctx);
    ggml_free(tensors);
    bytes_free(&b);
}

/* D13: the n-th allocation fails, for every n. */
struct countdown {
    int left;
};

static bool
fail_one(void *data)
{
    struct countdown *countdown = data;

    return countdown->left-- == 0;
}

static void
any_allocation_may_fail(void **state)
{
    struct bytes b = { NULL, 0, 0 };

    (void)state;
    put_everything(&b);
    for (int how = 0; how < N_OPENINGS; how++) {
        bool done = false;

        for (int n = 0; !done; n++) {
            struct countdown countdown = { n };
            struct ggml_context *tensors;
            struct gguf_context *ctx;

            gb_mem_set_fault(fail_one, &countdown);
            ctx = open_bytes(&b, (enum opening)how, &tensors);
            gb_mem_set_fault(NULL, NULL);
            done = countdown.left >= 0;
            if (done != (ctx != NULL))
                fail_msg("opening %d, allocation %d: %s", how, n,
                         done ? "refused" : "taken");
            if (!done && (tensors != NULL || errors_logged() < 1))
                fail_msg("opening %d, allocation %d: not said", how, n);
            gguf_free(ctx);
            ggml_free(tensors);
        }
        errors_logged();
    }
    bytes_free(&b);
}

/* D12: the file shrinks while it is read, just before each allocation. */
struct shrinking {
    int left;
    off_t size;
};

static bool
shrink(void *data)
{
    struct shrinking *s = data;

    if (s->left-- == 0)
        assert_int_equal(truncate(scratch_file(), s->size), 0);
    return false;
}

static void
a_file_that_shrinks_while_it_is_read_is_refused_or_whole(void **state)
{
    struct bytes b = { NULL, 0, 0 };
    int refused = 0;

    (void)state;
    put_everything(&b);
    for (int part = 0; part < 4; part++) {
        bool done = false;

        for (int n = 0; !done; n++) {
            struct shrinking s = { n, (off_t)(b.size * (size_t)part / 4) };
            struct ggml_context *tensors;
            struct gguf_context *ctx;

            gb_mem_set_fault(shrink, &s);
            ctx = open_bytes(&b, DATA, &tensors);
            gb_mem_set_fault(NULL, NULL);
            done = s.left >= 0;
            if (ctx == NULL) {
                refused++;
                assert_false(done);
                assert_null(tensors);
                assert_true(errors_logged() >= 1);
            } else {
                const struct ggml_tensor *q8 = ggml_get_tensor(tensors, "q8");

                assert_int_equal(((unsigned char *)q8->data)[67],
                                 (unsigned char)((64 + 67) * 7));
            }
            gguf_free(ctx);
            ggml_free(tensors);
        }
    }
    assert_true(refused > 0);
    bytes_free(&b);
}

static int
begin(void **state)
{
    (void)state;
    watch_log();
    return 0;
}

static int
remove_files(void **state)
{
    (void)state;
    remove_scratch_file();
    return 0;
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case_is_taken_or_refused_as_it_should),
        cmocka_unit_test(a_path_that_is_no_readable_file_is_refused),
        cmocka_unit_test(a_pipe_is_read_like_a_file),
        cmocka_unit_test(a_pipe_that_ends_early_is_refused),
        cmocka_unit_test(much_data_comes_through_a_pipe),
        cmocka_unit_test(strings_of_all_lengths_come_back),
        cmocka_unit_test(a_file_cut_anywhere_is_refused_or_whole),
        cmocka_unit_test(many_keys_tensors_and_strings_take_linear_time),
        cmocka_unit_test(data_beyond_two_gigabytes_is_found),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(
            a_file_that_shrinks_while_it_is_read_is_refused_or_whole),
    };

    return cmocka_run_group_tests_name("files that lie", tests, begin,
                                       remove_files);
}
