/* SPDX-License-Identifier: MIT */
/*
 * common/json.h - what tools need beside jansson's own calls.
 *
 * The makers never answer NULL: what cannot be represented or allocated is a
 * JSON null, so results go straight into json_object_set_new.
 */
#ifndef TOOLS_COMMON_JSON_H
#define TOOLS_COMMON_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A string of any bytes; what is not UTF-8 becomes U+FFFD, byte by byte. */
json_t *tool_json_string(const char *text, size_t size);

/* A number; null for infinities and NaN, which JSON does not have. */
json_t *tool_json_real(double value);

/* N whole numbers; N numbers. */
json_t *tool_json_ints(const int32_t *values, size_t n);
json_t *tool_json_floats(const float *values, size_t n);

/*
 * Write JSON and a newline to stdout and release it; false, after a message,
 * when that failed or JSON is NULL.
 */
bool tool_json_print(json_t *json);

#endif
