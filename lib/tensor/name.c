/* SPDX-License-Identifier: MIT */
/*
 * tensor/name.c - names, formatted names, finding by name.
 */
#include "config.h"

#include "lib/tensor/name.h"

#include "lib/base/status.h"
#include "lib/tensor/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *
ggml_get_name(const struct ggml_tensor *tensor)
{
    GB_NEED_OR("", tensor != NULL, "get_name: the tensor is NULL");
    return tensor->name;
}

struct ggml_tensor *
ggml_set_name(struct ggml_tensor *tensor, const char *name)
{
    size_t length;

    GB_NEED_OR(tensor, tensor != NULL && name != NULL,
               "set_name: the tensor or the name is NULL");
    length = strnlen(name, sizeof(tensor->name) - 1);
    memmove(tensor->name, name, length); /* NAME may be a part of the old one */
    tensor->name[length] = '\0';
    return tensor;
}

struct ggml_tensor *
ggml_format_name(struct ggml_tensor *tensor, const char *fmt, ...)
{
    char name[GGML_MAX_NAME];
    va_list args;

    GB_NEED_OR(tensor, tensor != NULL && fmt != NULL,
               "format_name: the tensor or the format is NULL");
    /* Formatted beside its place: the old name may be among the values. */
    va_start(args, fmt);
    vsnprintf(name, sizeof(name), fmt, args);
    va_end(args);
    return ggml_set_name(tensor, name);
}

size_t
gb_name_add(struct ggml_tensor *tensor, size_t length, const char *text,
            size_t size)
{
    const size_t left = sizeof(tensor->name) - 1 - length;

    if (size > left)
        size = left;
    memcpy(tensor->name + length, text, size);
    tensor->name[length + size] = '\0';
    return length + size;
}

size_t
gb_name_add_name(struct ggml_tensor *tensor, size_t length,
                 const struct ggml_tensor *src)
{
    return gb_name_add(tensor, length, src->name,
                       strnlen(src->name, sizeof(src->name)));
}

void
gb_name_number(struct ggml_tensor *tensor, const char *prefix, int number)
{
    char digits[3 * sizeof(number)]; /* a byte has less than three */
    size_t first = sizeof(digits);

    do {
        digits[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    gb_name_add(tensor, gb_name_add(tensor, 0, prefix, strlen(prefix)),
                digits + first, sizeof(digits) - first);
}

struct ggml_tensor *
ggml_get_tensor(struct ggml_context *ctx, const char *name)
{
    struct ggml_tensor *tensor;

    GB_NEED_OR(NULL, ctx != NULL && name != NULL,
               "get_tensor: the context or the name is NULL");
    tensor = ggml_get_first_tensor(ctx);
    while (tensor != NULL && strcmp(tensor->name, name) != 0)
        tensor = ggml_get_next_tensor(ctx, tensor);
    return tensor;
}
