/* SPDX-License-Identifier: MIT */
/*
 * gguf/sweep.c - one good file with a byte, a number or a block of it changed.
 *
 * Whatever comes of it, it is taken or refused; memory tools see the rest.
 */
#include "tests/gguf/bytes.h"
#include "tests/util/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct bytes good;

/* Opens B in one way or another, and looks at everything that is in it. */
static void
survive(const struct bytes *b, enum opening how)
{
    struct ggml_context *tensors;
    struct gguf_context *ctx = open_bytes(b, how, &tensors);

    if (ctx == NULL)
        assert_null(tensors);
    for (int64_t i = 0; ctx != NULL && i < gguf_get_n_kv(ctx); i++) {
        const char *key = gguf_get_key(ctx, i);

        assert_int_equal(gguf_find_key(ctx, key), i);
        for (size_t j = 0; gguf_get_kv_type(ctx, i) == GGUF_TYPE_ARRAY &&
                           gguf_get_arr_type(ctx, i) == GGUF_TYPE_STRING &&
                           j < gguf_get_arr_n(ctx, i);
             j++)
            assert_true(strlen(gguf_get_arr_str(ctx, i, j)) < b->size);
    }
    for (int64_t i = 0; ctx != NULL && i < gguf_get_n_tensors(ctx); i++)
        assert_non_null(gguf_get_tensor_name(ctx, i));
    gguf_free(ctx);
    ggml_free(tensors);
    if (ctx == NULL)
        assert_true(errors_logged() > 0);
}

static void
a_changed_byte_does_no_harm(void **state)
{
    struct bytes b = { NULL, 0, 0 };

    (void)state;
    put_bytes(&b, good.data, good.size);
    for (size_t i = 0; i < b.size; i++) {
        const uint8_t was = good.data[i];
        const uint8_t values[] = { 0x00, 0x01, 0x7F, 0x80, 0xFF,
                                   (uint8_t)(was + 1), (uint8_t)(was - 1) };

        for (size_t j = 0; j < sizeof(values); j++) {
            b.data[i] = values[j];
            survive(&b, (enum opening)((i + j) % N_OPENINGS));
        }
        b.data[i] = was;
    }
    bytes_free(&b);
}

static void
a_changed_number_does_no_harm(void **state)
{
    static const uint64_t values[] = {
        0,          1,         UINT64_C(1) << 31,       UINT32_MAX,
        UINT64_C(1) << 32, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX,
    };
    struct bytes b = { NULL, 0, 0 };

    (void)state;
    put_bytes(&b, good.data, good.size);
    for (size_t i = 8; i + 8 <= b.size && i < 2048; i++) {
        for (size_t j = 0; j < sizeof(values) / sizeof(values[0]); j++) {
            memcpy(b.data + i, &values[j], 8);
            survive(&b, (enum opening)((i + j) % N_OPENINGS));
        }
        memcpy(b.data + i, good.data + i, 8);
    }
    bytes_free(&b);
}

/* One of: a bit flipped, eight bytes overwritten, a block copied, a block gone. */
static void
mutate(struct bytes *b, struct gb_random *random)
{
    const size_t at = gb_random_u64(random) % b->size;
    const size_t left = b->size - at;
    const size_t n = 1 + gb_random_u64(random) % (left < 64 ? left : 64);
    const uint64_t word = gb_random_u64(random);

    switch (gb_random_u64(random) % 4) {
    case 0:
        b->data[at] ^= (unsigned char)(1u << word % 8);
        break;
    case 1:
        memcpy(b->data + at, &word, left < 8 ? left : 8);
        break;
    case 2:
        memmove(b->data + word % (b->size - n + 1), b->data + at, n);
        break;
    default:
        memmove(b->data + at, b->data + at + n, left - n);
        b->size -= n;
        break;
    }
}

static void
random_changes_do_no_harm(void **state)
{
    struct gb_random random;
    struct bytes b = { NULL, 0, 0 };

    (void)state;
    gb_random_init(&random, gb_test_seed(7));
    for (int i = 0; i < 100000; i++) {
        b.size = 0;
        put_bytes(&b, good.data, good.size);
        for (uint64_t n = 1 + gb_random_u64(&random) % 3; n > 0 && b.size > 0;
             n--)
            mutate(&b, &random);
        survive(&b, (enum opening)(i % N_OPENINGS));
    }
    bytes_free(&b);
}

static int
begin(void **state)
{
    (void)state;
    watch_log();
    put_everything(&good);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    bytes_free(&good);
    remove_scratch_file();
    return 0;
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changed_byte_does_no_harm),
        cmocka_unit_test(a_changed_number_does_no_harm),
        cmocka_unit_test(random_changes_do_no_harm),
    };

    return cmocka_run_group_tests_name("changed files", tests, begin, end);
}
