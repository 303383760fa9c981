/* SPDX-License-Identifier: MIT */
/*
 * model/keys.h - typed reading of a GGUF file's keys.
 *
 * A name that begins with a dot is the architecture's: ".block_count" is read
 * from "llama.block_count".  A key that is there with another type, or outside
 * its limits, is an error: a message, and false.  A key that is not there
 * leaves *VALUE as it is; that is an error only for KEYS_NEEDED.
 */
#ifndef TOOLS_MODEL_KEYS_H
#define TOOLS_MODEL_KEYS_H

#include "gguf.h"

#include <stdbool.h>
#include <stdint.h>

enum keys_need { KEYS_OPTIONAL, KEYS_NEEDED };

struct keys {
    const struct gguf_context *gguf;
    const char *arch; /* NULL before it is known */
};

/* Any integer type of the file. */
bool keys_int(const struct keys *keys, const char *name, enum keys_need need,
              int64_t min, int64_t max, int64_t *value);

/*
 * A number for each of N layers, which the file has once for all of them or as an
 * array of N integers of any type.  AT is the first layer's member of elements
 * that lie STEP bytes apart; where the key is not there they stay as they are.
 */
bool keys_ints(const struct keys *keys, const char *name, enum keys_need need,
               int64_t min, int64_t max, int64_t *at, size_t step, int64_t n);

/* Is the key there, and an array? */
bool keys_is_array(const struct keys *keys, const char *name);

/* N of them that are true or false, 1 or 0; the array has to be there. */
bool keys_flags(const struct keys *keys, const char *name, bool *at,
                size_t step, int64_t n);

/* F32 or F64, finite. */
bool keys_real(const struct keys *keys, const char *name, enum keys_need need,
               double min, double max, double *value);

bool keys_bool(const struct keys *keys, const char *name,
               enum keys_need need, bool *value);

/* The string belongs to the file, and has no zero byte. */
bool keys_string(const struct keys *keys, const char *name,
                 enum keys_need need, const char **value);

/* The id and length of an array of TYPE; id -1 when it is not there. */
bool keys_array(const struct keys *keys, const char *name,
                enum keys_need need, enum gguf_type type, int64_t *id,
                size_t *n);

#endif
