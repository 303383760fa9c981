/* SPDX-License-Identifier: MIT */
/*
 * common/json.c - what tools need beside jansson's own calls.
 */
#include "tools/common/json.h"

#include "lib/base/utf8.h"
#include "tools/common/tool.h"

#include <stdlib.h>
#include <string.h>

static json_t *
or_null(json_t *json)
{
    return json == NULL ? json_null() : json;
}

json_t *
tool_json_string(const char *text, size_t size)
{
    char *clean = malloc(size * 3 + 1);
    size_t used = 0, n;
    json_t *json;

    if (clean == NULL)
        return json_null();
    for (size_t i = 0; i < size; i += n == 0 ? 1 : n) {
        n = gb_utf8_length(text + i, size - i);
        memcpy(clean + used, n == 0 ? "\xef\xbf\xbd" : text + i,
               n == 0 ? 3 : n);
        used += n == 0 ? 3 : n;
    }
    json = json_stringn_nocheck(clean, used);
    free(clean);
    return or_null(json);
}

json_t *
tool_json_real(double value)
{
    return or_null(json_real(value));
}

json_t *
tool_json_ints(const int32_t *values, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; array != NULL && i < n; i++)
        json_array_append_new(array, json_integer(values[i]));
    return or_null(array);
}

json_t *
tool_json_floats(const float *values, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; array != NULL && i < n; i++)
        json_array_append_new(array, tool_json_real(values[i]));
    return or_null(array);
}

bool
tool_json_print(json_t *json)
{
    bool is_written;

    is_written = json != NULL &&
        json_dumpf(json, stdout, JSON_REAL_PRECISION(9)) == 0 &&
        putchar('\n') != EOF;
    json_decref(json);
    return is_written || tool_error("standard output: JSON was not written");
}
