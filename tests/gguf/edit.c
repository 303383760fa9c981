/* SPDX-License-Identifier: MIT */
/*
 * gguf/edit.c - reading values, changing them, writing files, and misuse.
 */
#include "tests/gguf/bytes.h"

#include "ggml-backend-impl.h"
#include "ggmlbackend.h"

#include "lib/base/byte-order.h"
#include "lib/base/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Everything of a file as a context, the file's bytes beside it. */
static struct gguf_context *
everything(struct bytes *b, struct ggml_context **tensors)
{
    struct gguf_context *ctx;

    put_everything(b);
    ctx = open_bytes(b, DATA, tensors);
    assert_non_null(ctx);
    return ctx;
}

static void
read_back(struct bytes *b)
{
    FILE *file = fopen(scratch_file(), "rb");
    unsigned char piece[4096];
    size_t n;

    assert_non_null(file);
    b->size = 0;
    while ((n = fread(piece, 1, sizeof(piece), file)) > 0)
        put_bytes(b, piece, n);
    fclose(file);
}

static void
values_are_those_of_the_file(void **state)
{
    struct bytes b = { NULL, 0, 0 };
    struct ggml_context *tensors;
    struct gguf_context *ctx = everything(&b, &tensors);
    int64_t id;

    (void)state;
    assert_int_equal(gguf_get_version(ctx), 3);
    assert_int_equal(gguf_get_alignment(ctx), 64);
    assert_int_equal(gguf_get_data_offset(ctx) % 64, 0);
    assert_int_equal(gguf_get_n_kv(ctx), 28);
    assert_int_equal(gguf_find_key(ctx, "scalar.0"), 1);
    assert_int_equal(gguf_find_key(ctx, "scalar"), -1);
    assert_string_equal(gguf_get_key(ctx, 0), "general.alignment");
    assert_int_equal(gguf_get_val_u8(ctx, gguf_find_key(ctx, "scalar.0")), 0);
    assert_int_equal(gguf_get_val_i8(ctx, gguf_find_key(ctx, "scalar.1")), 1);
    assert_int_equal(gguf_get_val_u16(ctx, gguf_find_key(ctx, "scalar.2")),
                     0x1302);
    assert_int_equal(gguf_get_val_i32(ctx, gguf_find_key(ctx, "scalar.5")),
                     0x38271605);
    assert_true(gguf_get_val_bool(ctx, gguf_find_key(ctx, "scalar.7")));
    assert_true(gguf_get_val_u64(ctx, gguf_find_key(ctx, "scalar.10")) ==
                UINT64_C(0x81705F4E3D2C1B0A));
    assert_string_equal(gguf_get_val_str(ctx, gguf_find_key(ctx, "text")),
                        "water boils");

    id = gguf_find_key(ctx, "array.2");
    assert_int_equal(gguf_get_kv_type(ctx, id), GGUF_TYPE_ARRAY);
    assert_int_equal(gguf_get_arr_type(ctx, id), GGUF_TYPE_UINT16);
    assert_int_equal(gguf_get_arr_n(ctx, id), 3);
    assert_int_equal(((const uint16_t *)gguf_get_arr_data(ctx, id))[2],
                     0x1B16);
    id = gguf_find_key(ctx, "texts");
    assert_string_equal(gguf_get_arr_str(ctx, id, 2), "three");
    assert_int_equal(gguf_get_arr_n(ctx, gguf_find_key(ctx, "no texts")), 0);

    assert_int_equal(gguf_get_n_tensors(ctx), 5);
    assert_int_equal(gguf_find_tensor(ctx, "q4_k"), 4);
    assert_int_equal(gguf_get_tensor_type(ctx, 4), GGML_TYPE_Q4_K);
    assert_int_equal(gguf_get_tensor_size(ctx, 1), 68);
    assert_int_equal(gguf_get_tensor_offset(ctx, 2), 64 + 128);
    assert_string_equal(gguf_get_tensor_name(ctx, 3), "empty");
    gguf_free(ctx);
    ggml_free(tensors);
    bytes_free(&b);
}

/* K13, K23, K24: odd values come through. */
static void
odd_values_are_kept(void **state)
{
    const uint32_t bits[] = { 0x7FC00001, 0x7F800000, 0x00000001 };
    struct bytes b = { NULL, 0, 0 };
    struct ggml_context *tensors;
    struct gguf_context *ctx;

    (void)state;
    put_head(&b, 0, 4);
    put_key(&b, "zero inside", GGUF_TYPE_STRING);
    put_string(&b, "x\0y", 3);
    put_key(&b, "two", GGUF_TYPE_BOOL);
    put_u8(&b, 2);
    put_array(&b, "bools", GGUF_TYPE_BOOL, 2);
    put_u8(&b, 255);
    put_u8(&b, 0);
    put_array(&b, "floats", GGUF_TYPE_FLOAT32, 3);
    for (int i = 0; i < 3; i++)
        put_u32(&b, bits[i]);
    ctx = open_bytes(&b, META, &tensors);
    assert_non_null(ctx);
    assert_string_equal(gguf_get_val_str(ctx, 0), "x");
    assert_true(gguf_get_val_bool(ctx, 1));
    assert_memory_equal(gguf_get_arr_data(ctx, 2), "\1\0", 2);
    assert_memory_equal(gguf_get_arr_data(ctx, 3), bits, sizeof(bits));
    gguf_free(ctx);
    bytes_free(&b);
}

/* The blob comes first, the others point into it. */
static void
loaded_data_lies_in_one_blob(void **state)
{
    struct bytes b = { NULL, 0, 0 };
    struct ggml_context *tensors;
    struct gguf_context *ctx = everything(&b, &tensors);
    const struct ggml_tensor *blob = ggml_get_first_tensor(tensors);
    const size_t start = gguf_get_data_offset(ctx);

    (void)state;
    assert_string_equal(blob->name, "GGUF tensor data binary blob");
    assert_int_equal(blob->type, GGML_TYPE_I8);
    assert_int_equal(ggml_nbytes(blob), b.size - start);
    for (int64_t i = 0; i < gguf_get_n_tensors(ctx); i++) {
        const struct ggml_tensor *t = ggml_get_tensor(
            tensors, gguf_get_tensor_name(ctx, i));

        assert_non_null(t);
        assert_ptr_equal(t->data, (const char *)blob->data +
                                      gguf_get_tensor_offset(ctx, i));
        /* Numbers are as the machine has them, blocks as the file. */
        if (ggml_blck_size(t->type) == 1)
            gb_le_bytes(t->data, ggml_type_size(t->type), ggml_nbytes(t));
    }
    assert_memory_equal(blob->data, b.data + start, b.size - start);
    assert_false(ggml_get_no_alloc(tensors));
    gguf_free(ctx);
    ggml_free(tensors);
    bytes_free(&b);
}

/* S05 */
static void
what_is_written_is_what_was_read(void **state)
{
    struct bytes b = { NULL, 0, 0 }, again = { NULL, 0, 0 };
    struct ggml_context *tensors;
    struct gguf_context *ctx = everything(&b, &tensors);
    unsigned char *meta;

    (void)state;
    for (int64_t i = 0; i < gguf_get_n_tensors(ctx); i++) {
        const char *name = gguf_get_tensor_name(ctx, i);

        gguf_set_tensor_data(ctx, name, ggml_get_tensor(tensors, name)->data);
    }
    assert_true(gguf_write_to_file(ctx, scratch_file(), false));
    read_back(&again);
    /* The data between the tensors is padding: zeros in what we write. */
    assert_int_equal(again.size, b.size);
    assert_memory_equal(again.data, b.data, gguf_get_data_offset(ctx));
    for (int64_t i = 0; i < gguf_get_n_tensors(ctx); i++) {
        const size_t at =
            gguf_get_data_offset(ctx) + gguf_get_tensor_offset(ctx, i);

        assert_memory_equal(again.data + at, b.data + at,
                            gguf_get_tensor_size(ctx, i));
    }
    assert_int_equal(gguf_get_meta_size(ctx), gguf_get_data_offset(ctx));
    meta = malloc(gguf_get_meta_size(ctx));
    assert_non_null(meta);
    gguf_get_meta_data(ctx, meta);
    assert_memory_equal(meta, b.data, gguf_get_meta_size(ctx));
    assert_true(gguf_write_to_file(ctx, scratch_file(), true));
    read_back(&again);
    assert_int_equal(again.size, gguf_get_meta_size(ctx));
    free(meta);
    gguf_free(ctx);
    ggml_free(tensors);
    bytes_free(&b);
    bytes_free(&again);
}

/* Bytes written down by hand: -1.5 and 1 as F32, then as F16, then as q4_0 with
 * a scale of 0.5, of which the first code is 8 - 3 and the seventeenth 8 + 2. */
static const unsigned char spelt[96] = {
    [0] = 0x00, 0x00, 0xc0, 0xbf, 0x00, 0x00, 0x80, 0x3f,
    [32] = 0x00, 0xbe, 0x00, 0x3c,
    [64] = 0x00, 0x38, 0xa5, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88,
    0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88,
};

static void
numbers_in_files_are_little_endian(void **state)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_Q4_0,
    };
    static const uint16_t words[] = { 0x1234, 0xabcd };
    const struct ggml_init_params params = { 1 << 16, NULL, false };
    struct ggml_context *own = ggml_init(params), *tensors = NULL;
    struct gguf_context *ctx = gguf_init_empty();
    const struct gguf_init_params whole = { false, &tensors };
    const float *f32;
    const ggml_fp16_t *f16;
    float values[32];
    struct bytes b = { NULL, 0, 0 };
    size_t start;

    (void)state;
    gguf_set_arr_data(ctx, "words", GGUF_TYPE_UINT16, words, 2);
    for (int i = 0; i < 3; i++) {
        const bool is_block = types[i] == GGML_TYPE_Q4_0;
        struct ggml_tensor *t =
            ggml_new_tensor_1d(own, types[i], is_block ? 32 : 2);

        ggml_format_name(t, "t%d", i);
        gguf_add_tensor(ctx, t);
        if (types[i] == GGML_TYPE_F32) {
            ((float *)t->data)[0] = -1.5f;
            ((float *)t->data)[1] = 1.0f;
        } else if (types[i] == GGML_TYPE_F16) {
            ((ggml_fp16_t *)t->data)[0] = ggml_fp32_to_fp16(-1.5f);
            ((ggml_fp16_t *)t->data)[1] = ggml_fp32_to_fp16(1.0f);
        } else {
            memcpy(t->data, spelt + 64, 18);
        }
    }
    assert_true(gguf_write_to_file(ctx, scratch_file(), false));
    read_back(&b);
    gguf_free(ctx);
    ggml_free(own);
    /* Magic, version, counts, the key and its length, type, element type,
     * count, then the words. */
    assert_memory_equal(b.data + 4, "\3\0\0\0\3\0\0\0\0\0\0\0\1", 13);
    assert_memory_equal(b.data + 24, "\5\0\0\0\0\0\0\0words\11\0\0\0"
                                     "\2\0\0\0\2\0\0\0\0\0\0\0"
                                     "\x34\x12\xcd\xab", 33);

    ctx = gguf_init_from_file(scratch_file(), whole);
    assert_non_null(ctx);
    start = gguf_get_data_offset(ctx);
    assert_int_equal(b.size - start, sizeof(spelt));
    assert_memory_equal(b.data + start, spelt, sizeof(spelt));
    assert_memory_equal(gguf_get_arr_data(ctx, 0), words, sizeof(words));
    f32 = ggml_get_tensor(tensors, "t0")->data;
    f16 = ggml_get_tensor(tensors, "t1")->data;
    assert_true(f32[0] == -1.5f && f32[1] == 1.0f);
    assert_true(ggml_fp16_to_fp32(f16[0]) == -1.5f);
    assert_true(ggml_fp16_to_fp32(f16[1]) == 1.0f);
    ggml_get_type_traits(GGML_TYPE_Q4_0)
        ->to_float(ggml_get_tensor(tensors, "t2")->data, values, 32);
    assert_true(values[0] == -1.5f && values[16] == 1.0f && values[1] == 0.0f);
    gguf_free(ctx);
    ggml_free(tensors);
    bytes_free(&b);
}

static void
a_file_made_from_nothing_reads_back(void **state)
{
    static const char *words[] = { "a", "", "abc" };
    static const double numbers[] = { 1.5, -INFINITY };
    const struct ggml_init_params params = { 1 << 16, NULL, false };
    struct ggml_context *own = ggml_init(params), *tensors = NULL;
    struct ggml_tensor *t = ggml_new_tensor_2d(own, GGML_TYPE_F32, 5, 3);
    struct gguf_context *ctx = gguf_init_empty(), *copy = gguf_init_empty();
    const struct gguf_init_params whole = { false, &tensors };

    (void)state;
    for (int i = 0; i < 15; i++)
        ((float *)t->data)[i] = (float)i;
    ggml_set_name(t, "t");
    gguf_set_val_u8(ctx, "u8", 200);
    gguf_set_val_i64(ctx, "i64", INT64_MIN);
    gguf_set_val_f32(ctx, "f32", 0.1f);
    gguf_set_val_bool(ctx, "bool", true);
    gguf_set_val_str(ctx, "str", "text");
    gguf_set_arr_str(ctx, "words", words, 3);
    gguf_set_arr_data(ctx, "numbers", GGUF_TYPE_FLOAT64, numbers, 2);
    gguf_set_arr_data(ctx, "none", GGUF_TYPE_UINT8, NULL, 0);
    gguf_add_tensor(ctx, t);
    gguf_set_val_u32(ctx, "general.alignment", 128);
    gguf_set_kv(copy, ctx);
    gguf_set_kv(copy, copy);
    gguf_add_tensor(copy, t);
    assert_true(gguf_write_to_file(copy, scratch_file(), false));
    gguf_free(ctx);
    gguf_free(copy);

    ctx = gguf_init_from_file(scratch_file(), whole);
    assert_non_null(ctx);
    assert_int_equal(gguf_get_alignment(ctx), 128);
    assert_int_equal(gguf_get_n_kv(ctx), 9);
    assert_int_equal(gguf_get_val_u8(ctx, 0), 200);
    assert_true(gguf_get_val_i64(ctx, 1) == INT64_MIN);
    assert_true(gguf_get_val_f32(ctx, 2) == 0.1f);
    assert_true(gguf_get_val_bool(ctx, 3));
    assert_string_equal(gguf_get_val_str(ctx, 4), "text");
    assert_string_equal(gguf_get_arr_str(ctx, 5, 2), "abc");
    assert_memory_equal(gguf_get_arr_data(ctx, 6), numbers, sizeof(numbers));
    assert_int_equal(gguf_get_arr_n(ctx, 7), 0);
    assert_memory_equal(ggml_get_tensor(tensors, "t")->data, t->data, 60);
    gguf_free(ctx);
    ggml_free(tensors);
    ggml_free(own);
}

/* The I-th string of key ID has SIZE bytes, those at TEXT, and a zero byte. */
static void
check_string(const struct gguf_context *ctx, int64_t id, size_t i,
             const char *text, size_t size)
{
    assert_int_equal(ggmlbackend_gguf_string_size(ctx, id, i), size);
    assert_memory_equal(gguf_get_arr_str(ctx, id, i), text, size + 1);
}

static void
strings_are_a_length_and_any_bytes(void **state)
{
    struct bytes b = { NULL, 0, 0 }, written = { NULL, 0, 0 };
    struct ggml_context *tensors;
    struct gguf_context *ctx, *copy = gguf_init_empty();
    const struct gguf_init_params params = { true, NULL };
    size_t start;

    (void)state;
    put_head(&b, 0, 3);
    start = b.size;
    put_key(&b, "one", GGUF_TYPE_STRING);
    put_string(&b, "a\0b", 3);
    put_array(&b, "some", GGUF_TYPE_STRING, 4);
    put_string(&b, "", 0);
    put_string(&b, "\0", 1);
    put_string(&b, "\0\0x", 3);
    put_string(&b, "end\0", 4);
    put_array(&b, "none", GGUF_TYPE_STRING, 0);
    ctx = open_bytes(&b, META, &tensors);
    assert_non_null(ctx);
    gguf_set_kv(copy, ctx);
    gguf_free(ctx);
    assert_true(gguf_write_to_file(copy, scratch_file(), true));
    gguf_free(copy);
    ctx = gguf_init_from_file(scratch_file(), params);
    assert_non_null(ctx);
    check_string(ctx, 0, 0, "a\0b", 3);
    check_string(ctx, 1, 0, "", 0);
    check_string(ctx, 1, 1, "\0", 1);
    check_string(ctx, 1, 2, "\0\0x", 3);
    check_string(ctx, 1, 3, "end\0", 4);
    assert_int_equal(ggmlbackend_gguf_string_size(ctx, 2, 0), 0);
    assert_int_equal(ggmlbackend_gguf_string_size(ctx, 3, 0), 0);
    assert_int_equal(errors_logged(), 2);
    copy = gguf_init_empty();
    gguf_set_val_str(copy, "set", "text");
    check_string(copy, 0, 0, "text", 4);
    gguf_free(copy);
    gguf_free(ctx);
    read_back(&written);
    assert_true(written.size >= b.size);
    assert_memory_equal(written.data + start, b.data + start, b.size - start);
    bytes_free(&written);
    bytes_free(&b);
}

/* Also the ones at the end, which are as good as absent where they are 1. */
static void
dimensions_of_length_zero_are_kept(void **state)
{
    static const int64_t shapes[][4] = {
        { 0, 1, 1, 1 }, { 64, 0, 1, 1 }, { 64, 1, 0, 1 }, { 2, 3, 4, 0 },
    };
    const struct ggml_init_params params = { 1 << 16, NULL, true };
    struct ggml_context *own = ggml_init(params);
    struct gguf_context *ctx = gguf_init_empty();
    struct ggml_context *tensors = NULL;

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct ggml_tensor *t =
            ggml_new_tensor(own, GGML_TYPE_F32, 4, shapes[i]);

        ggml_format_name(t, "t%d", i);
        gguf_add_tensor(ctx, t);
    }
    assert_true(gguf_write_to_file(ctx, scratch_file(), true));
    gguf_free(ctx);
    ctx = gguf_init_from_file(
        scratch_file(), (struct gguf_init_params){ true, &tensors });
    assert_non_null(ctx);
    for (int i = 0; i < 4; i++)
        assert_memory_equal(
            ggml_get_tensor(tensors, gguf_get_tensor_name(ctx, i))->ne,
            shapes[i], sizeof(shapes[i]));
    gguf_free(ctx);
    ggml_free(tensors);
    ggml_free(own);
}

static void
setting_a_key_again_moves_it_to_the_end(void **state)
{
    struct gguf_context *ctx = gguf_init_empty();

    (void)state;
    gguf_set_val_u32(ctx, "a", 1);
    gguf_set_val_u32(ctx, "b", 2);
    gguf_set_val_str(ctx, "a", "new");
    assert_int_equal(gguf_get_n_kv(ctx), 2);
    assert_int_equal(gguf_find_key(ctx, "b"), 0);
    assert_string_equal(gguf_get_val_str(ctx, gguf_find_key(ctx, "a")), "new");
    /* Its own value as the new one. */
    gguf_set_val_str(ctx, "a", gguf_get_val_str(ctx, 1));
    assert_string_equal(gguf_get_val_str(ctx, 1), "new");
    assert_int_equal(gguf_remove_key(ctx, "b"), 0);
    assert_int_equal(gguf_remove_key(ctx, "b"), -1);
    assert_int_equal(gguf_find_key(ctx, "a"), 0);
    gguf_free(ctx);
}

/* The name that says which key goes is the key's own. */
static void
a_key_is_removed_by_its_own_name(void **state)
{
    struct gguf_context *ctx = gguf_init_empty();

    (void)state;
    gguf_set_val_u32(ctx, "general.alignment", 64);
    gguf_set_val_u32(ctx, "other", 1);
    assert_int_equal(gguf_remove_key(ctx, gguf_get_key(ctx, 0)), 0);
    assert_int_equal(gguf_get_alignment(ctx), 32);
    assert_int_equal(gguf_get_n_kv(ctx), 1);
    assert_string_equal(gguf_get_key(ctx, 0), "other");
    gguf_free(ctx);
}

static void
offsets_follow_types_and_alignment(void **state)
{
    const struct ggml_init_params params = { 1 << 16, NULL, true };
    struct ggml_context *own = ggml_init(params);
    struct gguf_context *ctx = gguf_init_empty();

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct ggml_tensor *t = ggml_new_tensor_1d(own, GGML_TYPE_F32, 33);

        ggml_format_name(t, "t%d", i);
        gguf_add_tensor(ctx, t);
    }
    assert_int_equal(gguf_get_tensor_offset(ctx, 2), 2 * 160);
    gguf_set_tensor_type(ctx, "t0", GGML_TYPE_F16);
    assert_int_equal(gguf_get_tensor_size(ctx, 0), 66);
    assert_int_equal(gguf_get_tensor_offset(ctx, 1), 96);
    assert_int_equal(gguf_get_tensor_offset(ctx, 2), 96 + 160);
    gguf_set_val_u32(ctx, "general.alignment", 256);
    assert_int_equal(gguf_get_tensor_offset(ctx, 2), 512);
    gguf_remove_key(ctx, "general.alignment");
    assert_int_equal(gguf_get_alignment(ctx), 32);
    assert_int_equal(gguf_get_tensor_offset(ctx, 2), 96 + 160);
    assert_int_equal(errors_logged(), 0);

    /* M07, M06: refused, nothing changed. */
    gguf_set_tensor_type(ctx, "t0", GGML_TYPE_Q4_0);
    gguf_set_tensor_type(ctx, "no such", GGML_TYPE_F16);
    gguf_set_tensor_data(ctx, "no such", params.mem_buffer);
    gguf_add_tensor(ctx, ggml_get_first_tensor(own));
    gguf_add_tensor(ctx, NULL);
    assert_int_equal(errors_logged(), 5);
    assert_int_equal(gguf_get_tensor_type(ctx, 0), GGML_TYPE_F16);
    assert_int_equal(gguf_get_n_tensors(ctx), 3);
    gguf_free(ctx);
    ggml_free(own);
}

/* M01 to M05, M09 */
static void
misuse_is_answered_and_logged(void **state)
{
    struct bytes b = { NULL, 0, 0 };
    struct ggml_context *tensors;
    struct gguf_context *ctx = everything(&b, &tensors);
    const int64_t text = gguf_find_key(ctx, "text");
    const int64_t texts = gguf_find_key(ctx, "texts");
    const int64_t array = gguf_find_key(ctx, "array.4");
    const char *word = "x";

    (void)state;
    errors_logged();
    assert_null(gguf_get_key(ctx, -1));
    assert_null(gguf_get_key(ctx, 28));
    assert_int_equal(gguf_get_kv_type(ctx, 28), GGUF_TYPE_COUNT);
    assert_int_equal(gguf_get_arr_n(ctx, -1), 0);
    assert_null(gguf_get_tensor_name(ctx, 5));
    assert_int_equal(gguf_get_tensor_size(ctx, -1), 0);
    assert_int_equal(gguf_get_tensor_offset(ctx, 5), 0);
    assert_int_equal(gguf_get_tensor_type(ctx, 5), GGML_TYPE_COUNT);
    assert_int_equal(errors_logged(), 8);
    assert_int_equal(gguf_get_val_u32(ctx, text), 0);
    assert_int_equal(gguf_get_val_u32(ctx, array), 0);
    assert_null(gguf_get_val_str(ctx, array));
    assert_null(gguf_get_val_data(ctx, text));
    assert_int_equal(gguf_get_arr_type(ctx, text), GGUF_TYPE_COUNT);
    assert_null(gguf_get_arr_data(ctx, texts));
    assert_null(gguf_get_arr_str(ctx, array, 0));
    assert_null(gguf_get_arr_str(ctx, texts, 3));
    assert_int_equal(errors_logged(), 8);
    gguf_set_val_u32(ctx, "general.alignment", 0);
    gguf_set_val_u32(ctx, "general.alignment", 24);
    gguf_set_val_u64(ctx, "general.alignment", 32);
    gguf_set_arr_str(ctx, "general.alignment", &word, 1);
    gguf_set_val_u32(ctx, "", 1);
    gguf_set_arr_data(ctx, "k", GGUF_TYPE_STRING, &word, 1);
    gguf_set_arr_data(ctx, "k", GGUF_TYPE_ARRAY, &word, 1);
    gguf_set_arr_data(ctx, "k", (enum gguf_type)99, &word, 1);
    assert_int_equal(errors_logged(), 8);
    assert_int_equal(gguf_get_alignment(ctx), 64);
    assert_int_equal(gguf_get_n_kv(ctx), 28);
    assert_null(gguf_type_name((enum gguf_type)-1));
    assert_null(gguf_type_name(GGUF_TYPE_COUNT));
    assert_string_equal(gguf_type_name(GGUF_TYPE_FLOAT64), "f64");
    gguf_free(NULL);
    gguf_free(ctx);
    ggml_free(tensors);
    bytes_free(&b);
}

static void
keys_that_are_not_there_have_no_value(void **state)
{
    struct gguf_context *ctx = gguf_init_empty();

    (void)state;
    errors_logged();
    assert_int_equal(gguf_get_arr_type(ctx, 0), GGUF_TYPE_COUNT);
    assert_null(gguf_get_arr_data(ctx, 0));
    assert_null(gguf_get_arr_str(ctx, 0, 0));
    assert_null(gguf_get_val_data(ctx, 0));
    assert_null(gguf_get_val_str(ctx, 0));
    assert_int_equal(gguf_get_val_u8(ctx, 0), 0);
    assert_int_equal(errors_logged(), 6);
    assert_string_equal(last_error(), "gguf: key 0 of 0\n");
    gguf_set_arr_data(ctx, "two", GGUF_TYPE_UINT8, "\1\2", 2);
    gguf_set_val_u32(ctx, "one", 7);
    assert_int_equal(*(const uint32_t *)gguf_get_val_data(ctx, 1), 7);
    assert_int_equal(errors_logged(), 0);
    assert_null(gguf_get_val_data(ctx, 0));
    assert_null(gguf_get_val_str(ctx, 1));
    assert_int_equal(errors_logged(), 2);
    gguf_free(ctx);
}

static void
nothing_is_read_without_a_context(void **state)
{
    (void)state;
    errors_logged();
    assert_int_equal(gguf_get_version(NULL), 0);
    assert_int_equal(gguf_get_alignment(NULL), 0);
    assert_int_equal(gguf_get_data_offset(NULL), 0);
    assert_int_equal(gguf_get_n_kv(NULL), 0);
    assert_int_equal(gguf_get_n_tensors(NULL), 0);
    assert_int_equal(gguf_find_key(NULL, "k"), -1);
    assert_int_equal(gguf_find_tensor(NULL, "t"), -1);
    assert_int_equal(gguf_remove_key(NULL, "k"), -1);
    assert_null(gguf_get_key(NULL, 0));
    assert_null(gguf_get_tensor_name(NULL, 0));
    assert_int_equal(gguf_get_meta_size(NULL), 0);
    assert_false(gguf_write_to_file(NULL, scratch_file(), true));
    assert_int_equal(errors_logged(), 12);
    assert_string_equal(last_error(), "gguf: no context or no file name\n");
}

static void
nothing_is_set_without_what_it_needs(void **state)
{
    const char *words[] = { "a", NULL };
    struct gguf_context *ctx = gguf_init_empty();
    unsigned char head[64] = { 7 };

    (void)state;
    errors_logged();
    assert_int_equal(gguf_find_key(ctx, NULL), -1);
    assert_int_equal(gguf_find_tensor(ctx, NULL), -1);
    gguf_set_val_u8(NULL, "k", 1);
    gguf_set_val_u8(ctx, NULL, 1);
    gguf_set_val_str(ctx, "k", NULL);
    gguf_set_arr_data(ctx, "k", GGUF_TYPE_UINT8, NULL, 1);
    gguf_set_arr_str(ctx, "k", NULL, 1);
    gguf_set_arr_str(ctx, "k", words, 2);
    gguf_set_kv(NULL, ctx);
    gguf_set_kv(ctx, NULL);
    gguf_add_tensor(NULL, NULL);
    gguf_set_tensor_type(NULL, "t", GGML_TYPE_F32);
    gguf_set_tensor_type(ctx, NULL, GGML_TYPE_F32);
    gguf_set_tensor_data(NULL, "t", NULL);
    gguf_set_tensor_data(ctx, NULL, NULL);
    gguf_get_meta_data(NULL, head);
    gguf_get_meta_data(ctx, NULL);
    assert_false(gguf_write_to_file(ctx, NULL, true));
    assert_int_equal(errors_logged(), 18);
    assert_int_equal(head[0], 7);
    assert_int_equal(gguf_get_n_kv(ctx), 0);
    /* Nothing of an array is all right. */
    gguf_set_arr_data(ctx, "none", GGUF_TYPE_UINT8, NULL, 0);
    gguf_set_arr_str(ctx, "no words", NULL, 0);
    assert_int_equal(errors_logged(), 0);
    assert_int_equal(gguf_get_arr_n(ctx, 0), 0);
    assert_int_equal(gguf_get_arr_n(ctx, 1), 0);
    gguf_free(ctx);
}

/* The largest tensors that there can be, whose places no number can say. */
static void
sizes_that_overflow_are_refused(void **state)
{
    const struct ggml_init_params params = { 1 << 16, NULL, true };
    const int64_t most = (int64_t)((SIZE_MAX - 15) / 4);
    struct ggml_context *own = ggml_init(params);
    struct ggml_tensor *t = ggml_new_tensor_1d(own, GGML_TYPE_F32, most);
    struct ggml_tensor *half[2];
    struct gguf_context *ctx = gguf_init_empty();

    (void)state;
    ggml_set_name(t, "all");
    for (int i = 0; i < 2; i++) {
        half[i] = ggml_new_tensor_1d(own, GGML_TYPE_F16, most - 12);
        ggml_format_name(half[i], "half %d", i);
    }
    errors_logged();
    gguf_add_tensor(ctx, t);
    assert_int_equal(errors_logged(), 1);
    assert_string_equal(last_error(), "gguf: the tensors' sizes overflow\n");
    assert_int_equal(gguf_get_n_tensors(ctx), 0);
    assert_false(gguf_write_to_file(ctx, scratch_file(), true));
    gguf_free(ctx);

    /* Aligned to 16 bytes, it fits. */
    ctx = gguf_init_empty();
    gguf_set_val_u32(ctx, "general.alignment", 16);
    gguf_add_tensor(ctx, t);
    assert_int_equal(gguf_get_n_tensors(ctx), 1);
    errors_logged();
    gguf_add_tensor(ctx, half[0]);
    assert_int_equal(gguf_get_n_tensors(ctx), 1);
    assert_int_equal(errors_logged(), 1);
    gguf_set_val_u32(ctx, "general.alignment", 64);
    assert_int_equal(errors_logged(), 1);
    assert_int_equal(gguf_get_alignment(ctx), 16);
    assert_int_equal(gguf_get_val_u32(ctx, 0), 16);
    gguf_set_val_u32(ctx, "general.alignment", 8);
    assert_int_equal(errors_logged(), 0);
    assert_int_equal(gguf_get_alignment(ctx), 8);
    gguf_free(ctx);

    ctx = gguf_init_empty();
    gguf_set_val_u32(ctx, "general.alignment", 16);
    gguf_add_tensor(ctx, t);
    assert_int_equal(gguf_remove_key(ctx, "general.alignment"), 0);
    assert_int_equal(errors_logged(), 1);
    assert_false(gguf_write_to_file(ctx, scratch_file(), true));
    gguf_free(ctx);

    ctx = gguf_init_empty();
    gguf_add_tensor(ctx, half[0]);
    gguf_add_tensor(ctx, half[1]);
    assert_int_equal(gguf_get_n_tensors(ctx), 2);
    errors_logged();
    gguf_set_tensor_type(ctx, "half 0", GGML_TYPE_F32);
    assert_int_equal(errors_logged(), 1);
    assert_int_equal(gguf_get_tensor_type(ctx, 0), GGML_TYPE_F16);
    gguf_free(ctx);
    ggml_free(own);
}

/* M08 */
static void
what_cannot_be_written_is_refused(void **state)
{
    const struct ggml_init_params params = { 1 << 16, NULL, true };
    struct ggml_context *own = ggml_init(params);
    struct ggml_tensor *t = ggml_new_tensor_2d(own, GGML_TYPE_F32, 4, 2);
    struct gguf_context *ctx = gguf_init_empty();

    (void)state;
    ggml_set_name(t, "t");
    gguf_add_tensor(ctx, t);
    remove_scratch_file();
    assert_false(gguf_write_to_file(ctx, scratch_file(), false));
    assert_int_equal(access(scratch_file(), F_OK), -1);
    assert_false(gguf_write_to_file(ctx, "no/such/folder/x", true));
    gguf_free(ctx);
    ctx = gguf_init_empty();
    t = ggml_transpose(own, t);
    t->data = own;
    gguf_add_tensor(ctx, t);
    assert_false(gguf_write_to_file(ctx, scratch_file(), false));
    assert_int_equal(errors_logged(), 3);
    if (access("/dev/full", W_OK) == 0)
        assert_false(gguf_write_to_file(ctx, "/dev/full", true));
    errors_logged();
    gguf_free(ctx);
    ggml_free(own);
}

/* More than what stdio keeps: the first writing fails, and others follow. */
static void
a_full_device_is_noticed_while_writing(void **state)
{
    const struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *own = ggml_init(params);
    struct gguf_context *ctx = gguf_init_empty();

    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        gguf_free(ctx);
        ggml_free(own);
        skip();
    }
    for (int i = 0; i < 3; i++) {
        struct ggml_tensor *t = ggml_new_tensor_1d(own, GGML_TYPE_F32, 50000);

        ggml_format_name(t, "t%d", i);
        gguf_add_tensor(ctx, ggml_set_zero(t));
    }
    errors_logged();
    assert_false(gguf_write_to_file(ctx, "/dev/full", false));
    assert_int_equal(errors_logged(), 1);
    gguf_free(ctx);
    ggml_free(own);
}

/* Of a buffer of the host, of none, and of nothing. */
static void
data_is_written_from_where_it_lies(void **state)
{
    const struct ggml_init_params params = { 1 << 16, NULL, true };
    struct ggml_context *own = ggml_init(params), *read;
    struct ggml_tensor *t = ggml_new_tensor_1d(own, GGML_TYPE_I8, 4);
    struct ggml_tensor *none = ggml_new_tensor_1d(own, GGML_TYPE_I8, 0);
    struct gguf_context *ctx = gguf_init_empty();
    ggml_backend_buffer_t buffer =
        ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(), 64);

    (void)state;
    errors_logged();
    ggml_set_name(t, "t");
    ggml_set_name(none, "none");
    ggml_backend_tensor_alloc(buffer, t, ggml_backend_buffer_get_base(buffer));
    ggml_backend_tensor_set(t, "salt", 0, 4);
    gguf_add_tensor(ctx, none);
    gguf_add_tensor(ctx, t);
    assert_true(gguf_write_to_file(ctx, scratch_file(), false));
    gguf_free(ctx);
    ctx = gguf_init_from_file(scratch_file(),
                              (struct gguf_init_params){ false, &read });
    assert_int_equal(errors_logged(), 0);
    assert_int_equal(gguf_get_n_tensors(ctx), 2);
    assert_memory_equal(ggml_get_tensor(read, "t")->data, "salt", 4);
    gguf_free(ctx);
    ggml_free(read);
    ggml_backend_buffer_free(buffer);
    ggml_free(own);
}

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
without_memory_a_key_stays_as_it_was(void **state)
{
    static const char *words[] = { "a", "b" };

    (void)state;
    for (int n = 0; n < 6; n++) {
        struct gguf_context *ctx = gguf_init_empty();
        struct countdown countdown = { n };

        gb_mem_set_fault(fail_one, &countdown);
        gguf_set_arr_str(ctx, "words", words, 2);
        gb_mem_set_fault(NULL, NULL);
        if (countdown.left < 0)
            assert_int_equal(gguf_get_n_kv(ctx), 0);
        else
            assert_string_equal(gguf_get_arr_str(ctx, 0, 1), "b");
        /* A file without what was to be in it is never written. */
        remove_scratch_file();
        assert_int_equal(gguf_write_to_file(ctx, scratch_file(), false),
                         countdown.left >= 0);
        assert_int_equal(access(scratch_file(), F_OK),
                         countdown.left < 0 ? -1 : 0);
        gguf_free(ctx);
    }
    errors_logged();
}

static void
without_memory_a_number_is_not_there(void **state)
{
    int n_failed = 0;

    (void)state;
    for (int n = 0; n < 6; n++) {
        struct gguf_context *ctx = gguf_init_empty();
        struct countdown countdown = { n };

        gb_mem_set_fault(fail_one, &countdown);
        gguf_set_val_u32(ctx, "number", 5);
        gb_mem_set_fault(NULL, NULL);
        n_failed += countdown.left < 0;
        assert_int_equal(gguf_get_n_kv(ctx), countdown.left >= 0);
        assert_int_equal(errors_logged(), countdown.left < 0);
        gguf_free(ctx);
    }
    assert_in_range(n_failed, 2, 5);
}

static void
without_memory_nothing_is_written(void **state)
{
    struct gguf_context *ctx = gguf_init_empty();
    struct countdown countdown = { 0 };

    (void)state;
    errors_logged();
    remove_scratch_file();
    gb_mem_set_fault(fail_one, &countdown);
    assert_false(gguf_write_to_file(ctx, scratch_file(), true));
    gb_mem_set_fault(NULL, NULL);
    assert_int_equal(errors_logged(), 1);
    assert_string_equal(last_error(), "gguf: no memory for writing\n");
    assert_int_equal(access(scratch_file(), F_OK), -1);
    gguf_free(ctx);
}

static void
without_memory_for_a_tensor_nothing_is_written(void **state)
{
    const struct ggml_init_params params = { 1 << 16, NULL, false };
    struct ggml_context *own = ggml_init(params);
    struct ggml_tensor *t = ggml_new_tensor_1d(own, GGML_TYPE_F32, 4);
    int n_failed = 0;

    (void)state;
    ggml_set_zero(t);
    for (int n = 0; n < 4; n++) {
        struct gguf_context *ctx = gguf_init_empty();
        struct countdown countdown = { n };

        gb_mem_set_fault(fail_one, &countdown);
        gguf_add_tensor(ctx, t);
        gb_mem_set_fault(NULL, NULL);
        n_failed += countdown.left < 0;
        remove_scratch_file();
        assert_int_equal(gguf_write_to_file(ctx, scratch_file(), false),
                         countdown.left >= 0);
        gguf_free(ctx);
    }
    assert_in_range(n_failed, 1, 3);
    errors_logged();
    ggml_free(own);
}

static void
read_fails(ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor,
           void *data, size_t offset, size_t size)
{
    (void)buffer;
    (void)offset;
    memset(data, 0, size);
    ggmlbackend_fail(GGML_STATUS_FAILED, "%s: lost", tensor->name);
}

static void
data_that_a_device_does_not_give_is_noticed(void **state)
{
    const struct ggml_init_params params = { 1 << 16, NULL, true };
    struct ggml_context *own = ggml_init(params);
    struct ggml_tensor *t = ggml_new_tensor_1d(own, GGML_TYPE_F32, 4);
    struct ggml_backend_buffer_type type = *ggml_backend_cpu_buffer_type();
    struct gguf_context *ctx = gguf_init_empty();
    ggml_backend_buffer_t buffer;

    (void)state;
    type.iface.is_host = NULL;
    buffer = ggml_backend_buft_alloc_buffer(&type, 4096);
    buffer->buft = &type;
    buffer->iface.get_tensor = read_fails;
    ggml_backend_tensor_alloc(buffer, t, ggml_backend_buffer_get_base(buffer));
    gguf_add_tensor(ctx, t);
    assert_true(gguf_write_to_file(ctx, scratch_file(), true));
    assert_false(gguf_write_to_file(ctx, scratch_file(), false));
    assert_int_equal(errors_logged(), 1);
    gguf_free(ctx);
    ggml_backend_buffer_free(buffer);
    ggml_free(own);
}

static int
begin(void **state)
{
    (void)state;
    watch_log();
    return 0;
}

static int
end(void **state)
{
    (void)state;
    remove_scratch_file();
    return 0;
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_the_file),
        cmocka_unit_test(odd_values_are_kept),
        cmocka_unit_test(loaded_data_lies_in_one_blob),
        cmocka_unit_test(what_is_written_is_what_was_read),
        cmocka_unit_test(numbers_in_files_are_little_endian),
        cmocka_unit_test(a_file_made_from_nothing_reads_back),
        cmocka_unit_test(strings_are_a_length_and_any_bytes),
        cmocka_unit_test(dimensions_of_length_zero_are_kept),
        cmocka_unit_test(setting_a_key_again_moves_it_to_the_end),
        cmocka_unit_test(a_key_is_removed_by_its_own_name),
        cmocka_unit_test(offsets_follow_types_and_alignment),
        cmocka_unit_test(misuse_is_answered_and_logged),
        cmocka_unit_test(keys_that_are_not_there_have_no_value),
        cmocka_unit_test(nothing_is_read_without_a_context),
        cmocka_unit_test(nothing_is_set_without_what_it_needs),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(a_full_device_is_noticed_while_writing),
        cmocka_unit_test(data_is_written_from_where_it_lies),
        cmocka_unit_test(what_cannot_be_written_is_refused),
        cmocka_unit_test(without_memory_a_key_stays_as_it_was),
        cmocka_unit_test(without_memory_a_number_is_not_there),
        cmocka_unit_test(without_memory_nothing_is_written),
        cmocka_unit_test(without_memory_for_a_tensor_nothing_is_written),
        cmocka_unit_test(data_that_a_device_does_not_give_is_noticed),
    };

    return cmocka_run_group_tests_name("values and files", tests, begin, end);
}
