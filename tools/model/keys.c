/* SPDX-License-Identifier: MIT */
/*
 * model/keys.c - typed reading of a GGUF file's keys.
 */
#include "tools/model/keys.h"

#include "tools/common/tool.h"

#include "ggmlbackend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_SIZE 128

/*
 * The id of NAME, whose whole name goes into FULL; -1 when it is not there.
 * False when that is an error.
 */
static bool
find(const struct keys *keys, const char *name, enum keys_need need,
     char full[NAME_SIZE], int64_t *id)
{
    snprintf(full, NAME_SIZE, "%s%s", name[0] == '.' ? keys->arch : "", name);
    *id = gguf_find_key(keys->gguf, full);
    if (*id < 0 && need == KEYS_NEEDED)
        return tool_error("the file has no key %s", full);
    return true;
}

/* Number I of the integers of TYPE at DATA; false for other types. */
static bool
integer_at(enum gguf_type type, const void *data, size_t i, int64_t *value)
{
    uint64_t large;

    switch (type) {
    case GGUF_TYPE_UINT8: *value = ((const uint8_t *)data)[i]; return true;
    case GGUF_TYPE_INT8: *value = ((const int8_t *)data)[i]; return true;
    case GGUF_TYPE_UINT16: *value = ((const uint16_t *)data)[i]; return true;
    case GGUF_TYPE_INT16: *value = ((const int16_t *)data)[i]; return true;
    case GGUF_TYPE_UINT32: *value = ((const uint32_t *)data)[i]; return true;
    case GGUF_TYPE_INT32: *value = ((const int32_t *)data)[i]; return true;
    case GGUF_TYPE_INT64: *value = ((const int64_t *)data)[i]; return true;
    case GGUF_TYPE_UINT64:
        large = ((const uint64_t *)data)[i];
        *value = large > INT64_MAX ? INT64_MAX : (int64_t)large;
        return true;
    default: return false;
    }
}

/* The value of an integer of any type; false for other types. */
static bool
integer_of(const struct gguf_context *gguf, int64_t id, int64_t *value)
{
    const enum gguf_type type = gguf_get_kv_type(gguf, id);

    return type != GGUF_TYPE_ARRAY && type != GGUF_TYPE_STRING &&
        integer_at(type, gguf_get_val_data(gguf, id), 0, value);
}

static bool
is_between(const char *name, int64_t value, int64_t min, int64_t max)
{
    return (value >= min && value <= max) ||
        tool_error("key %s is %lld, not between %lld and %lld", name,
                   (long long)value, (long long)min, (long long)max);
}

bool
keys_int(const struct keys *keys, const char *name, enum keys_need need,
         int64_t min, int64_t max, int64_t *value)
{
    char full[NAME_SIZE];
    int64_t id, found;

    if (!find(keys, name, need, full, &id))
        return false;
    if (id < 0)
        return true;
    if (!integer_of(keys->gguf, id, &found))
        return tool_error("key %s is not a whole number", full);
    if (!is_between(full, found, min, max))
        return false;
    *value = found;
    return true;
}

/* The array at ID, named FULL, has to have N elements; its type. */
static bool
begin_array(const struct keys *keys, const char *full, int64_t id, int64_t n,
            enum gguf_type *type)
{
    const size_t n_found = gguf_get_arr_n(keys->gguf, id);

    *type = gguf_get_arr_type(keys->gguf, id);
    if (n_found != (size_t)n)
        return tool_error("key %s has %zu elements for %lld layers", full,
                          n_found, (long long)n);
    return true;
}

/* Number I of the array at ID, which is of TYPE and has so many. */
static bool
element(const struct keys *keys, const char *full, int64_t id,
        enum gguf_type type, int64_t i, int64_t min, int64_t max,
        int64_t *value)
{
    char name[NAME_SIZE + 32];

    snprintf(name, sizeof(name), "%s[%lld]", full, (long long)i);
    if (type == GGUF_TYPE_STRING || type == GGUF_TYPE_ARRAY ||
        !integer_at(type, gguf_get_arr_data(keys->gguf, id), (size_t)i, value))
        return tool_error("key %s is not a whole number", name);
    return is_between(name, *value, min, max);
}

bool
keys_ints(const struct keys *keys, const char *name, enum keys_need need,
          int64_t min, int64_t max, int64_t *at, size_t step, int64_t n)
{
    char full[NAME_SIZE];
    enum gguf_type type;
    int64_t id, value = 0;
    bool is_array;

    if (!find(keys, name, need, full, &id))
        return false;
    if (id < 0)
        return true;
    is_array = gguf_get_kv_type(keys->gguf, id) == GGUF_TYPE_ARRAY;
    if (is_array ? !begin_array(keys, full, id, n, &type)
                 : !keys_int(keys, name, need, min, max, &value))
        return false;
    for (int64_t i = 0; i < n; i++) {
        if (is_array && !element(keys, full, id, type, i, min, max, &value))
            return false;
        *at = value;
        at = (int64_t *)(void *)((char *)at + step);
    }
    return true;
}

bool
keys_is_array(const struct keys *keys, const char *name)
{
    char full[NAME_SIZE];
    int64_t id;

    return find(keys, name, KEYS_OPTIONAL, full, &id) && id >= 0 &&
        gguf_get_kv_type(keys->gguf, id) == GGUF_TYPE_ARRAY;
}

bool
keys_flags(const struct keys *keys, const char *name, bool *at, size_t step,
           int64_t n)
{
    char full[NAME_SIZE];
    enum gguf_type type;
    int64_t id, value;

    if (!find(keys, name, KEYS_NEEDED, full, &id) ||
        !begin_array(keys, full, id, n, &type))
        return false;
    for (int64_t i = 0; i < n; i++) {
        /* What is true or false takes a byte of the file. */
        const enum gguf_type as =
            type == GGUF_TYPE_BOOL ? GGUF_TYPE_INT8 : type;

        if (!element(keys, full, id, as, i, 0, 1, &value))
            return false;
        *at = value != 0;
        at = (bool *)(void *)((char *)at + step);
    }
    return true;
}

bool
keys_real(const struct keys *keys, const char *name, enum keys_need need,
          double min, double max, double *value)
{
    char full[NAME_SIZE];
    int64_t id;
    double found;

    if (!find(keys, name, need, full, &id))
        return false;
    if (id < 0)
        return true;
    if (gguf_get_kv_type(keys->gguf, id) == GGUF_TYPE_FLOAT32)
        found = gguf_get_val_f32(keys->gguf, id);
    else if (gguf_get_kv_type(keys->gguf, id) == GGUF_TYPE_FLOAT64)
        found = gguf_get_val_f64(keys->gguf, id);
    else
        return tool_error("key %s is not a real number", full);
    if (!isfinite(found) || found < min || found > max)
        return tool_error("key %s is %g, not between %g and %g", full, found,
                          min, max);
    *value = found;
    return true;
}

bool
keys_bool(const struct keys *keys, const char *name, enum keys_need need,
          bool *value)
{
    char full[NAME_SIZE];
    int64_t id;

    if (!find(keys, name, need, full, &id))
        return false;
    if (id < 0)
        return true;
    if (gguf_get_kv_type(keys->gguf, id) != GGUF_TYPE_BOOL)
        return tool_error("key %s is not true or false", full);
    *value = gguf_get_val_bool(keys->gguf, id);
    return true;
}

bool
keys_string(const struct keys *keys, const char *name, enum keys_need need,
            const char **value)
{
    char full[NAME_SIZE];
    const char *text;
    int64_t id;

    if (!find(keys, name, need, full, &id))
        return false;
    if (id < 0)
        return true;
    if (gguf_get_kv_type(keys->gguf, id) != GGUF_TYPE_STRING)
        return tool_error("key %s is not a string", full);
    text = gguf_get_val_str(keys->gguf, id);
    if (strlen(text) != ggmlbackend_gguf_string_size(keys->gguf, id, 0))
        return tool_error("key %s is a text with a zero byte", full);
    *value = text;
    return true;
}

bool
keys_array(const struct keys *keys, const char *name, enum keys_need need,
           enum gguf_type type, int64_t *id, size_t *n)
{
    char full[NAME_SIZE];

    *n = 0;
    if (!find(keys, name, need, full, id))
        return false;
    if (*id < 0)
        return true;
    if (gguf_get_kv_type(keys->gguf, *id) != GGUF_TYPE_ARRAY ||
        gguf_get_arr_type(keys->gguf, *id) != type)
        return tool_error("key %s is not an array of %s", full,
                          gguf_type_name(type));
    *n = gguf_get_arr_n(keys->gguf, *id);
    return true;
}
