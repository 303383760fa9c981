/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/params.h - reading a node's parameters.
 *
 * Parameters that are not tensors stand in op_params, an array of 32-bit words:
 * integers as they are, floats as their bits.  Which word has which one is said
 * at the builders (lib/op).
 */
#ifndef GB_CPU_OPS_PARAMS_H
#define GB_CPU_OPS_PARAMS_H

#include "ggml.h"

#include <stdint.h>
#include <string.h>

/* Word number WORD of NODE's parameters as an integer. */
static inline int32_t
gb_cpu_param_i32(const struct ggml_tensor *node, int word)
{
    return node->op_params[word];
}

/* The same word as a float.  It is copied by bytes: reading an integer through
 * a pointer to float is undefined in C. */
static inline float
gb_cpu_param_f32(const struct ggml_tensor *node, int word)
{
    float value;

    memcpy(&value, &node->op_params[word], sizeof(value));
    return value;
}

#endif
