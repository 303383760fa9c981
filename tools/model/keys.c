/* SPDX-License-Identifier: MIT */
/*
 * model/keys.c - typed reading of a GGUF file's keys.
 */
#include "tools/model/keys.h"

#include "tools/common/tool.h"

#include <math.h>
#include <stdio.h>

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

/* The value of an integer of any type; false for other types. */
static bool
integer_of(const struct gguf_context *gguf, int64_t id, int64_t *value)
{
    uint64_t large;

    switch (gguf_get_kv_type(gguf, id)) {
    case GGUF_TYPE_UINT8: *value = gguf_get_val_u8(gguf, id); return true;
    case GGUF_TYPE_INT8: *value = gguf_get_val_i8(gguf, id); return true;
    case GGUF_TYPE_UINT16: *value = gguf_get_val_u16(gguf, id); return true;
    case GGUF_TYPE_INT16: *value = gguf_get_val_i16(gguf, id); return true;
    case GGUF_TYPE_UINT32: *value = gguf_get_val_u32(gguf, id); return true;
    case GGUF_TYPE_INT32: *value = gguf_get_val_i32(gguf, id); return true;
    case GGUF_TYPE_INT64: *value = gguf_get_val_i64(gguf, id); return true;
    case GGUF_TYPE_UINT64:
        large = gguf_get_val_u64(gguf, id);
        *value = large > INT64_MAX ? INT64_MAX : (int64_t)large;
        return true;
    default: return false;
    }
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
    if (found < min || found > max)
        return tool_error("key %s is %lld, not between %lld and %lld", full,
                          (long long)found, (long long)min, (long long)max);
    *value = found;
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
    int64_t id;

    if (!find(keys, name, need, full, &id))
        return false;
    if (id < 0)
        return true;
    if (gguf_get_kv_type(keys->gguf, id) != GGUF_TYPE_STRING)
        return tool_error("key %s is not a string", full);
    *value = gguf_get_val_str(keys->gguf, id);
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
