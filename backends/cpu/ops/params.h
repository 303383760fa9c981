/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/params.h - reading a node's parameters.
 */
#ifndef GB_CPU_OPS_PARAMS_H
#define GB_CPU_OPS_PARAMS_H

#include "ggml.h"

#include <stdint.h>
#include <string.h>

static inline int32_t
gb_cpu_param_i32(const struct ggml_tensor *node, int word)
{
    return node->op_params[word];
}

static inline float
gb_cpu_param_f32(const struct ggml_tensor *node, int word)
{
    float value;

    memcpy(&value, &node->op_params[word], sizeof(value));
    return value;
}

#endif
