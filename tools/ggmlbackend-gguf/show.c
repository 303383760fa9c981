/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-gguf/show.c - keys and tensors, for people and for scripts.
 */
#include "tools/common/json.h"
#include "tools/common/text.h"
#include "tools/common/tool.h"
#include "tools/ggmlbackend-gguf/model.h"

#include "ggmlbackend.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Elements of an array, and bytes of a text, that people are shown. */
enum { SHOWN = 6, SHOWN_BYTES = 60 };

static double
number_at(enum gguf_type type, const void *data, size_t i, int64_t *whole)
{
    const uint8_t *at = data;
    union {
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        float f32;
        uint64_t u64;
        int64_t i64;
        double f64;
    } x;
    static const size_t sizes[GGUF_TYPE_COUNT] = { 1, 1, 2, 2, 4, 4, 4,
                                                   1, 0, 0, 8, 8, 8 };

    memset(&x, 0, sizeof(x));
    memcpy(&x, at + i * sizes[type], sizes[type]);
    switch ((int)type) {
    case GGUF_TYPE_UINT8:
    case GGUF_TYPE_BOOL:
        *whole = x.u8;
        break;
    case GGUF_TYPE_UINT16:
        *whole = x.u16;
        break;
    case GGUF_TYPE_UINT32:
        *whole = x.u32;
        break;
    case GGUF_TYPE_INT8:
        *whole = x.i8;
        break;
    case GGUF_TYPE_INT16:
        *whole = x.i16;
        break;
    case GGUF_TYPE_INT32:
        *whole = x.i32;
        break;
    case GGUF_TYPE_FLOAT32:
        return x.f32;
    case GGUF_TYPE_FLOAT64:
        return x.f64;
    default:
        *whole = x.i64;
        break;
    }
    return (double)*whole;
}

static bool
is_real(enum gguf_type type)
{
    return type == GGUF_TYPE_FLOAT32 || type == GGUF_TYPE_FLOAT64;
}

/* A text on one line, cut where it is long. */
static void
print_text(const char *text, size_t size, bool all)
{
    size_t n = all || size < SHOWN_BYTES ? size : SHOWN_BYTES;

    /* Up to where a character begins. */
    while (n > 0 && n < size && (text[n] & 0xc0) == 0x80)
        n--;
    putchar('"');
    text_put(stdout, text, n, "");
    fputs(n < size ? "…\"" : "\"", stdout);
}

static void
print_element(const struct gguf_context *gguf, int64_t key, enum gguf_type type,
              size_t i, bool all)
{
    int64_t whole = 0;
    double real;

    if (type == GGUF_TYPE_STRING) {
        print_text(gguf_get_arr_str(gguf, key, i),
                   ggmlbackend_gguf_string_size(gguf, key, i), all);
        return;
    }
    real = number_at(type, gguf_get_arr_data(gguf, key), i, &whole);
    if (type == GGUF_TYPE_BOOL)
        fputs(whole != 0 ? "true" : "false", stdout);
    else if (is_real(type))
        printf("%.9g", real);
    else if (type == GGUF_TYPE_UINT64)
        printf("%" PRIu64, (uint64_t)whole);
    else
        printf("%" PRId64, whole);
}

static enum gguf_type
element_type(const struct gguf_context *gguf, int64_t key)
{
    const enum gguf_type type = gguf_get_kv_type(gguf, key);

    return type == GGUF_TYPE_ARRAY ? gguf_get_arr_type(gguf, key) : type;
}

static void
print_key(const struct gguf_context *gguf, int64_t key, bool all)
{
    const bool is_array = gguf_get_kv_type(gguf, key) == GGUF_TYPE_ARRAY;
    const enum gguf_type type = element_type(gguf, key);
    const size_t n = gguf_get_arr_n(gguf, key);

    printf("%-44s ", text_quoted(gguf_get_key(gguf, key)));
    if (is_array)
        printf("%s[%zu] ", gguf_type_name(type), n);
    else
        printf("%s ", gguf_type_name(type));
    for (size_t i = 0; i < n && (all || i < SHOWN); i++) {
        if (i > 0)
            fputs(", ", stdout);
        print_element(gguf, key, type, i, all);
    }
    puts(n > SHOWN && !all ? ", …" : "");
}

/* Where the data of tensor I begins in the data section of its file. */
static size_t
offset_of(const struct model *model, int64_t i)
{
    const struct model_place *place = &model->files.places[i];
    const struct gguf_context *part = place->part->gguf;

    return gguf_get_tensor_offset(part,
                                  gguf_find_tensor(part, place->tensor->name));
}

/* The number of the part that has tensor I, from 1. */
static int
part_of(const struct model *model, int64_t i)
{
    return (int)(model->files.places[i].part - model->files.parts) + 1;
}

static void
print_tensor(const struct model *model, int64_t i)
{
    const struct ggml_tensor *t = model_tensor(model, i);
    char shape[96];

    snprintf(shape, sizeof(shape), "[%lld, %lld, %lld, %lld]",
             (long long)t->ne[0], (long long)t->ne[1], (long long)t->ne[2],
             (long long)t->ne[3]);
    printf("%-44s %-8s %-28s %12zu bytes at %zu", text_quoted(t->name),
           ggml_type_name(t->type), shape, ggml_nbytes(t), offset_of(model, i));
    if (model->files.n_parts > 1)
        printf(" of part %d", part_of(model, i));
    putchar('\n');
}

static void
print_files(const struct model *model)
{
    const struct model_part *parts = model->files.parts;
    const int n = model->files.n_parts;

    printf("version %u, alignment %zu, %" PRId64 " keys, %" PRId64 " tensors, ",
           (unsigned)gguf_get_version(parts[0].gguf),
           gguf_get_alignment(parts[0].gguf), gguf_get_n_kv(model->gguf),
           model->n_tensors);
    if (n == 1)
        printf("data at %zu\n", gguf_get_data_offset(parts[0].gguf));
    else
        printf("%d parts\n", n);
    for (int i = 0; n > 1 && i < n; i++)
        printf("part %d: %s, %" PRId64 " tensors, data at %zu\n", i + 1,
               text_quoted(parts[i].path), gguf_get_n_tensors(parts[i].gguf),
               gguf_get_data_offset(parts[i].gguf));
}

static json_t *
json_element(const struct gguf_context *gguf, int64_t key, enum gguf_type type,
             size_t i)
{
    int64_t whole = 0;
    double real;

    if (type == GGUF_TYPE_STRING)
        return tool_json_string(gguf_get_arr_str(gguf, key, i),
                                ggmlbackend_gguf_string_size(gguf, key, i));
    real = number_at(type, gguf_get_arr_data(gguf, key), i, &whole);
    if (type == GGUF_TYPE_BOOL)
        return json_boolean(whole != 0);
    if (type == GGUF_TYPE_UINT64)
        return tool_json_unsigned((uint64_t)whole);
    return is_real(type) ? tool_json_real(real) : json_integer(whole);
}

static json_t *
json_key(const struct gguf_context *gguf, int64_t key)
{
    const enum gguf_type type = element_type(gguf, key);
    json_t *array;

    if (gguf_get_kv_type(gguf, key) != GGUF_TYPE_ARRAY)
        return json_element(gguf, key, type, 0);
    array = json_array();
    for (size_t i = 0; i < gguf_get_arr_n(gguf, key); i++)
        tool_json_add(array, json_element(gguf, key, type, i));
    return array;
}

static json_t *
json_tensor(const struct model *model, int64_t i)
{
    const struct ggml_tensor *t = model_tensor(model, i);
    json_t *root = json_object(), *shape = json_array();

    for (int d = 0; d < GGML_MAX_DIMS; d++)
        tool_json_add(shape, json_integer(t->ne[d]));
    tool_json_put(root, "name", tool_json_text(t->name));
    tool_json_put(root, "type", tool_json_text(ggml_type_name(t->type)));
    tool_json_put(root, "shape", shape);
    tool_json_put(root, "bytes", tool_json_unsigned(ggml_nbytes(t)));
    tool_json_put(root, "offset", tool_json_unsigned(offset_of(model, i)));
    if (model->files.n_parts > 1)
        tool_json_put(root, "part", json_integer(part_of(model, i)));
    return root;
}

/* The files of a model in several parts. */
static json_t *
json_parts(const struct model *model)
{
    json_t *array = json_array();

    for (int i = 0; i < model->files.n_parts; i++) {
        const struct model_part *part = &model->files.parts[i];
        json_t *row = json_object();

        tool_json_put(row, "path", tool_json_text(part->path));
        tool_json_put(row, "data_offset",
                      tool_json_unsigned(gguf_get_data_offset(part->gguf)));
        tool_json_put(row, "tensors",
                      json_integer(gguf_get_n_tensors(part->gguf)));
        tool_json_add(array, row);
    }
    return array;
}

static bool
show_json(const struct model *model)
{
    const struct gguf_context *first = model->files.parts[0].gguf;
    json_t *root = json_object(), *keys = json_object();
    json_t *tensors = json_array();

    for (int64_t i = 0; i < gguf_get_n_kv(model->gguf); i++)
        tool_json_put_once(keys, gguf_get_key(model->gguf, i),
                           json_key(model->gguf, i));
    for (int64_t i = 0; i < model->n_tensors; i++)
        tool_json_add(tensors, json_tensor(model, i));
    tool_json_put(root, "version", json_integer(gguf_get_version(first)));
    tool_json_put(root, "alignment",
                  tool_json_unsigned(gguf_get_alignment(first)));
    tool_json_put(root, "data_offset",
                  tool_json_unsigned(gguf_get_data_offset(first)));
    if (model->files.n_parts > 1)
        tool_json_put(root, "parts", json_parts(model));
    tool_json_put(root, "keys", keys);
    tool_json_put(root, "tensors", tensors);
    return tool_json_print(root);
}

int
command_show(const char *path, bool json, bool all)
{
    struct model model;
    int status = TOOL_OK;

    if (!model_open(&model, path, false))
        return TOOL_FAILED;
    if (json) {
        status = show_json(&model) ? TOOL_OK : TOOL_FAILED;
    } else {
        print_files(&model);
        for (int64_t i = 0; i < gguf_get_n_kv(model.gguf); i++)
            print_key(model.gguf, i, all);
        for (int64_t i = 0; i < model.n_tensors; i++)
            print_tensor(&model, i);
    }
    model_close(&model);
    return status;
}
