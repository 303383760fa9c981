/* SPDX-License-Identifier: MIT */
/*
 * common/json.c - what tools need beside jansson's own calls.
 */
#include "tools/common/json.h"

#include "lib/base/utf8.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Why the document that is being made is not whole; NULL when it is. */
static const char *flaw;

static void
note(int result)
{
    if (result != 0 && flaw == NULL)
        flaw = "no memory";
}

/* TEXT as UTF-8, terminated, its bytes in *USED; NULL without memory. */
static char *
clean(const char *text, size_t size, size_t *used)
{
    char *out = size < SIZE_MAX / 3 ? malloc(size * 3 + 1) : NULL;
    size_t n;

    *used = 0;
    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < size; i += n == 0 ? 1 : n) {
        n = gb_utf8_length(text + i, size - i);
        memcpy(out + *used, n == 0 ? "\xef\xbf\xbd" : text + i,
               n == 0 ? 3 : n);
        *used += n == 0 ? 3 : n;
    }
    out[*used] = '\0';
    return out;
}

json_t *
tool_json_string(const char *text, size_t size)
{
    size_t used;
    char *bytes = clean(text, size, &used);
    json_t *json = bytes == NULL ? NULL : json_stringn_nocheck(bytes, used);

    free(bytes);
    return json;
}

json_t *
tool_json_text(const char *text)
{
    return text == NULL ? json_null() : tool_json_string(text, strlen(text));
}

json_t *
tool_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *
tool_json_unsigned(uint64_t value)
{
    char digits[32];

    if (value <= INT64_MAX)
        return json_integer((json_int_t)value);
    snprintf(digits, sizeof(digits), "%" PRIu64, value);
    return json_string(digits);
}

json_t *
tool_json_ints(const int32_t *values, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++)
        tool_json_add(array, json_integer(values[i]));
    return array;
}

json_t *
tool_json_floats(const float *values, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++)
        tool_json_add(array, tool_json_real(values[i]));
    return array;
}

void
tool_json_put(json_t *object, const char *key, json_t *value)
{
    size_t used;
    char *name = clean(key, strlen(key), &used);

    if (name == NULL) {
        json_decref(value);
        note(-1);
        return;
    }
    note(json_object_set_new_nocheck(object, name, value));
    free(name);
}

void
tool_json_put_once(json_t *object, const char *key, json_t *value)
{
    const size_t n = json_object_size(object);

    tool_json_put(object, key, value);
    if (json_object_size(object) == n && flaw == NULL)
        flaw = "two keys differ only in what is not UTF-8";
}

void
tool_json_add(json_t *array, json_t *value)
{
    note(json_array_append_new(array, value));
}

/*
 * The document as text; NULL when it is not whole.  Not by json_dumps: in some
 * releases it leaves out a key when its memory cannot grow, without a word.
 */
static char *
document(json_t *json, size_t *size)
{
    /* Some terminals take C1 control characters as commands. */
    const size_t flags = JSON_REAL_PRECISION(9) |
        (isatty(STDOUT_FILENO) == 1 ? JSON_ENSURE_ASCII : 0);
    char *text;

    note(json == NULL);
    if (flaw != NULL)
        return NULL;
    *size = json_dumpb(json, NULL, 0, flags);
    text = *size == 0 ? NULL : malloc(*size);
    if (text != NULL && json_dumpb(json, text, *size, flags) == *size)
        return text;
    free(text);
    note(-1);
    return NULL;
}

bool
tool_json_print(json_t *json)
{
    size_t size;
    char *text = document(json, &size);
    const char *why = flaw;
    bool is_written = text != NULL;

    flaw = NULL;
    json_decref(json);
    if (text != NULL &&
        (fwrite(text, 1, size, stdout) != size || putchar('\n') == EOF))
        is_written = tool_error("JSON was not written: %s", strerror(errno));
    else if (text == NULL)
        tool_error("JSON was not written: %s", why);
    free(text);
    return is_written;
}
