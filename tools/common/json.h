/* SPDX-License-Identifier: MIT */
/*
 * common/json.h - what tools need beside jansson's own calls.
 *
 * A value that could not be made, for want of memory, is NULL.
 * tool_json_put and tool_json_add take it, and remember that the document has a
 * hole: it is not printed.  So nothing in between needs to look.
 */
#ifndef TOOLS_COMMON_JSON_H
#define TOOLS_COMMON_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A string of any bytes; what is not UTF-8 becomes U+FFFD, byte by byte. */
json_t *tool_json_string(const char *text, size_t size);

/* The same for a string that ends with NUL; null for NULL. */
json_t *tool_json_text(const char *text);

/* A number; null for infinities and NaN, which JSON does not have. */
json_t *tool_json_real(double value);

/*
 * A number, and from 2^63 on a string of its digits: most readers, and jansson,
 * have no number that is as large and exact.
 */
json_t *tool_json_unsigned(uint64_t value);

/* N whole numbers; N numbers. */
json_t *tool_json_ints(const int32_t *values, size_t n);
json_t *tool_json_floats(const float *values, size_t n);

/*
 * Set member KEY of OBJECT, in which what is not UTF-8 becomes U+FFFD, and
 * append to ARRAY.  VALUE is released with what it went into.
 */
void tool_json_put(json_t *object, const char *key, json_t *value);
void tool_json_add(json_t *array, json_t *value);

/* Two keys that become the same are no whole document. */
void tool_json_put_once(json_t *object, const char *key, json_t *value);

/*
 * Write JSON and a newline to stdout and release it, all of it or nothing;
 * false, after a message, when that failed, JSON is NULL, or something did not
 * get in since the last time.  On a terminal what is beyond ASCII is written as
 * \uNNNN.
 */
bool tool_json_print(json_t *json);

#endif
