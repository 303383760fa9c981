/* SPDX-License-Identifier: MIT */
/*
 * gguf/value.c - typed values: getting and setting.
 */
#include "config.h"

#include "lib/gguf/context.h"

#include "ggmlbackend.h"

#include "lib/base/checked.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <string.h>

/* Copies pair ID's single value of TYPE to OUT, or leaves OUT as it is. */
static void
get(const struct gguf_context *ctx, int64_t id, enum gguf_type type, void *out)
{
    const struct gb_gguf_pair *pair = gb_gguf_pair_at(ctx, id);

    if (pair == NULL)
        return;
    GB_NEED_VOID(pair->type == type && pair->n == 1,
                 "gguf: key '%s' is %zu of %s, not one %s", pair->key, pair->n,
                 gguf_type_name(pair->type), gguf_type_name(type));
    memcpy(out, pair->data, gb_gguf_type_size(type));
}

/* What a key is set to: N elements at DATA, numbers or pointers to strings. */
struct value {
    enum gguf_type type;
    bool is_array;
    const void *data;
    size_t n;
    bool is_of_pair; /* strings are a pair's, so that their sizes are known */
};

static size_t
size_of_string(const struct value *value, size_t i)
{
    char *const *strings = value->data;

    return value->is_of_pair ? gb_gguf_string_size(strings, i)
                             : strlen(strings[i]);
}

/* Copies the strings of VALUE into PAIR. */
static bool
copy_strings(struct gb_gguf_pair *pair, const struct value *value)
{
    char *const *texts = value->data;
    size_t bytes = GB_GGUF_GAP;
    char *at;

    for (size_t i = 0; i < value->n; i++) {
        if (!gb_add_size(bytes, size_of_string(value, i), &bytes) ||
            !gb_add_size(bytes, GB_GGUF_GAP, &bytes))
            return false;
    }
    pair->data = at = gb_mem_zalloc(bytes, 1);
    pair->strings = gb_mem_zalloc(value->n + 1, sizeof(*pair->strings));
    if (at == NULL || pair->strings == NULL)
        return false;
    for (size_t i = 0; i < value->n; i++) {
        const size_t size = size_of_string(value, i);

        pair->strings[i] = at;
        memcpy(at, texts[i], size);
        at += size + GB_GGUF_GAP;
    }
    pair->strings[value->n] = at;
    return true;
}

static bool
copy_numbers(struct gb_gguf_pair *pair, const void *data, size_t n)
{
    const size_t size = gb_gguf_type_size(pair->type);
    unsigned char *bytes = gb_mem_zalloc(n + 1, size);

    pair->data = bytes;
    if (bytes == NULL)
        return false;
    if (n > 0)
        memcpy(bytes, data, n * size);
    if (pair->type == GGUF_TYPE_BOOL) {
        for (size_t i = 0; i < n; i++)
            bytes[i] = bytes[i] != 0;
    }
    return true;
}

/*
 * Sets KEY to VALUE, behind all other keys.  A failure leaves the context as it
 * was.
 */
static void
set(struct gguf_context *ctx, const char *key, const struct value *value)
{
    struct gb_gguf_pair pair = { .type = value->type,
                                 .is_array = value->is_array,
                                 .n = value->n };
    bool is_alignment;
    size_t before, wanted;
    int64_t old;

    GB_NEED_VOID(ctx != NULL && key != NULL, "gguf: no context or no key");
    GB_NEED_VOID(key[0] != '\0', "gguf: a key cannot be empty");
    before = wanted = ctx->alignment;
    is_alignment = strcmp(key, GGUF_KEY_GENERAL_ALIGNMENT) == 0;

    /* The new pair is whole before the old one goes, so the old one may be
     * where the new one's data comes from. */
    pair.key = gb_mem_strdup(key);
    if (pair.key == NULL || !(value->type == GGUF_TYPE_STRING
                                  ? copy_strings(&pair, value)
                                  : copy_numbers(&pair, value->data, value->n)))
        goto no_memory;
    if (is_alignment && !gb_gguf_is_alignment(&pair, &wanted)) {
        gb_precondition("gguf: %s takes one u32, a power of two", key);
        goto clear;
    }
    if (is_alignment && !gb_gguf_align(ctx, wanted)) {
        gb_precondition("gguf: the tensors' sizes overflow");
        ctx->is_incomplete = true;
        goto clear;
    }
    old = gguf_find_key(ctx, pair.key);
    if (old >= 0)
        gb_gguf_pair_remove(ctx, (size_t)old);
    /* Where an old one was there is room. */
    if (gb_gguf_pair_add(ctx, &pair))
        return;
    if (is_alignment)
        gb_gguf_align(ctx, before);

no_memory:
    gb_fail(GGML_STATUS_ALLOC_FAILED, "gguf: no memory for key '%s'", key);
    ctx->is_incomplete = true;
clear:
    gb_gguf_pair_clear(&pair);
}

static void
set_one(struct gguf_context *ctx, const char *key, enum gguf_type type,
        const void *value)
{
    set(ctx, key, &(struct value){ .type = type, .data = value, .n = 1 });
}

const char *
gguf_get_key(const struct gguf_context *ctx, int64_t key_id)
{
    const struct gb_gguf_pair *pair = gb_gguf_pair_at(ctx, key_id);

    return pair != NULL ? pair->key : NULL;
}

enum gguf_type
gguf_get_kv_type(const struct gguf_context *ctx, int64_t key_id)
{
    const struct gb_gguf_pair *pair = gb_gguf_pair_at(ctx, key_id);

    if (pair == NULL)
        return GGUF_TYPE_COUNT;
    return pair->is_array ? GGUF_TYPE_ARRAY : pair->type;
}

enum gguf_type
gguf_get_arr_type(const struct gguf_context *ctx, int64_t key_id)
{
    const struct gb_gguf_pair *pair = gb_gguf_pair_at(ctx, key_id);

    if (pair == NULL)
        return GGUF_TYPE_COUNT;
    GB_NEED_OR(GGUF_TYPE_COUNT, pair->is_array, "gguf: key '%s' is no array",
               pair->key);
    return pair->type;
}

size_t
gguf_get_arr_n(const struct gguf_context *ctx, int64_t key_id)
{
    const struct gb_gguf_pair *pair = gb_gguf_pair_at(ctx, key_id);

    return pair != NULL ? pair->n : 0;
}

const void *
gguf_get_arr_data(const struct gguf_context *ctx, int64_t key_id)
{
    const struct gb_gguf_pair *pair = gb_gguf_pair_at(ctx, key_id);

    if (pair == NULL)
        return NULL;
    GB_NEED_OR(NULL, pair->type != GGUF_TYPE_STRING,
               "gguf: key '%s' has strings, which are asked for one by one",
               pair->key);
    return pair->data;
}

const char *
gguf_get_arr_str(const struct gguf_context *ctx, int64_t key_id, size_t i)
{
    const struct gb_gguf_pair *pair = gb_gguf_pair_at(ctx, key_id);

    if (pair == NULL)
        return NULL;
    GB_NEED_OR(NULL, pair->type == GGUF_TYPE_STRING && i < pair->n,
               "gguf: key '%s' has no string %zu", pair->key, i);
    return pair->strings[i];
}

size_t
ggmlbackend_gguf_string_size(const struct gguf_context *ctx, int64_t key_id,
                             size_t i)
{
    const struct gb_gguf_pair *pair = gb_gguf_pair_at(ctx, key_id);

    if (pair == NULL)
        return 0;
    GB_NEED_OR(0, pair->type == GGUF_TYPE_STRING && i < pair->n,
               "gguf: key '%s' has no string %zu", pair->key, i);
    return gb_gguf_string_size(pair->strings, i);
}

const void *
gguf_get_val_data(const struct gguf_context *ctx, int64_t key_id)
{
    const struct gb_gguf_pair *pair = gb_gguf_pair_at(ctx, key_id);

    if (pair == NULL)
        return NULL;
    GB_NEED_OR(NULL, pair->type != GGUF_TYPE_STRING && pair->n == 1,
               "gguf: key '%s' is not one number", pair->key);
    return pair->data;
}

const char *
gguf_get_val_str(const struct gguf_context *ctx, int64_t key_id)
{
    const struct gb_gguf_pair *pair = gb_gguf_pair_at(ctx, key_id);

    if (pair == NULL)
        return NULL;
    GB_NEED_OR(NULL, pair->type == GGUF_TYPE_STRING && pair->n == 1,
               "gguf: key '%s' is not one string", pair->key);
    return pair->strings[0];
}

uint8_t
gguf_get_val_u8(const struct gguf_context *ctx, int64_t key_id)
{
    uint8_t value = 0;

    get(ctx, key_id, GGUF_TYPE_UINT8, &value);
    return value;
}

int8_t
gguf_get_val_i8(const struct gguf_context *ctx, int64_t key_id)
{
    int8_t value = 0;

    get(ctx, key_id, GGUF_TYPE_INT8, &value);
    return value;
}

uint16_t
gguf_get_val_u16(const struct gguf_context *ctx, int64_t key_id)
{
    uint16_t value = 0;

    get(ctx, key_id, GGUF_TYPE_UINT16, &value);
    return value;
}

int16_t
gguf_get_val_i16(const struct gguf_context *ctx, int64_t key_id)
{
    int16_t value = 0;

    get(ctx, key_id, GGUF_TYPE_INT16, &value);
    return value;
}

uint32_t
gguf_get_val_u32(const struct gguf_context *ctx, int64_t key_id)
{
    uint32_t value = 0;

    get(ctx, key_id, GGUF_TYPE_UINT32, &value);
    return value;
}

int32_t
gguf_get_val_i32(const struct gguf_context *ctx, int64_t key_id)
{
    int32_t value = 0;

    get(ctx, key_id, GGUF_TYPE_INT32, &value);
    return value;
}

float
gguf_get_val_f32(const struct gguf_context *ctx, int64_t key_id)
{
    float value = 0;

    get(ctx, key_id, GGUF_TYPE_FLOAT32, &value);
    return value;
}

uint64_t
gguf_get_val_u64(const struct gguf_context *ctx, int64_t key_id)
{
    uint64_t value = 0;

    get(ctx, key_id, GGUF_TYPE_UINT64, &value);
    return value;
}

int64_t
gguf_get_val_i64(const struct gguf_context *ctx, int64_t key_id)
{
    int64_t value = 0;

    get(ctx, key_id, GGUF_TYPE_INT64, &value);
    return value;
}

double
gguf_get_val_f64(const struct gguf_context *ctx, int64_t key_id)
{
    double value = 0;

    get(ctx, key_id, GGUF_TYPE_FLOAT64, &value);
    return value;
}

bool
gguf_get_val_bool(const struct gguf_context *ctx, int64_t key_id)
{
    uint8_t value = 0;

    get(ctx, key_id, GGUF_TYPE_BOOL, &value);
    return value != 0;
}

void
gguf_set_val_u8(struct gguf_context *ctx, const char *key, uint8_t val)
{
    set_one(ctx, key, GGUF_TYPE_UINT8, &val);
}

void
gguf_set_val_i8(struct gguf_context *ctx, const char *key, int8_t val)
{
    set_one(ctx, key, GGUF_TYPE_INT8, &val);
}

void
gguf_set_val_u16(struct gguf_context *ctx, const char *key, uint16_t val)
{
    set_one(ctx, key, GGUF_TYPE_UINT16, &val);
}

void
gguf_set_val_i16(struct gguf_context *ctx, const char *key, int16_t val)
{
    set_one(ctx, key, GGUF_TYPE_INT16, &val);
}

void
gguf_set_val_u32(struct gguf_context *ctx, const char *key, uint32_t val)
{
    set_one(ctx, key, GGUF_TYPE_UINT32, &val);
}

void
gguf_set_val_i32(struct gguf_context *ctx, const char *key, int32_t val)
{
    set_one(ctx, key, GGUF_TYPE_INT32, &val);
}

void
gguf_set_val_f32(struct gguf_context *ctx, const char *key, float val)
{
    set_one(ctx, key, GGUF_TYPE_FLOAT32, &val);
}

void
gguf_set_val_u64(struct gguf_context *ctx, const char *key, uint64_t val)
{
    set_one(ctx, key, GGUF_TYPE_UINT64, &val);
}

void
gguf_set_val_i64(struct gguf_context *ctx, const char *key, int64_t val)
{
    set_one(ctx, key, GGUF_TYPE_INT64, &val);
}

void
gguf_set_val_f64(struct gguf_context *ctx, const char *key, double val)
{
    set_one(ctx, key, GGUF_TYPE_FLOAT64, &val);
}

void
gguf_set_val_bool(struct gguf_context *ctx, const char *key, bool val)
{
    const uint8_t byte = val;

    set_one(ctx, key, GGUF_TYPE_BOOL, &byte);
}

void
gguf_set_val_str(struct gguf_context *ctx, const char *key, const char *val)
{
    GB_NEED_VOID(val != NULL, "gguf: no string");
    set_one(ctx, key, GGUF_TYPE_STRING, &val);
}

void
gguf_set_arr_data(struct gguf_context *ctx, const char *key,
                  enum gguf_type type, const void *data, size_t n)
{
    GB_NEED_VOID(gb_gguf_type_size(type) > 0,
                 "gguf: an array of type %d is not made of numbers", (int)type);
    GB_NEED_VOID(data != NULL || n == 0, "gguf: no data");
    set(ctx, key, &(struct value){ type, true, data, n, false });
}

void
gguf_set_arr_str(struct gguf_context *ctx, const char *key, const char **data,
                 size_t n)
{
    GB_NEED_VOID(data != NULL || n == 0, "gguf: no strings");
    for (size_t i = 0; i < n; i++)
        GB_NEED_VOID(data[i] != NULL, "gguf: string %zu is NULL", i);
    set(ctx, key, &(struct value){ GGUF_TYPE_STRING, true, data, n, false });
}

void
gguf_set_kv(struct gguf_context *ctx, const struct gguf_context *src)
{
    GB_NEED_VOID(ctx != NULL && src != NULL, "gguf: no context");
    if (ctx == src)
        return;
    for (size_t i = 0; i < src->n_pairs; i++) {
        const struct gb_gguf_pair *pair = &src->pairs[i];
        const bool is_text = pair->type == GGUF_TYPE_STRING;

        const struct value value = {
            .type = pair->type,
            .is_array = pair->is_array,
            .data = is_text ? (const void *)pair->strings : pair->data,
            .n = pair->n,
            .is_of_pair = is_text,
        };

        set(ctx, pair->key, &value);
    }
}
