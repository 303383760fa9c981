/* SPDX-License-Identifier: MIT */
/*
 * ggml.h - tensors, operations and graphs.
 *
 * The umbrella over the parts in ggml/; nothing else is in it.
 */
#ifndef GGML_H
#define GGML_H
#define GGML_H_PARTS

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ggml/prefix.h"

#include "ggml/level.h"

#include "ggml/base.h"

#include "ggml/type.h"

#include "ggml/tensor.h"

#include "ggml/op.h"

#include "ggml/op-nn.h"

#include "ggml/op-custom.h"

#include "ggml/graph.h"

#if GGML_API_LEVEL < 202410
#include "ggml/cgraph.h"
#endif

#undef GGML_H_PARTS
#endif
