/* SPDX-License-Identifier: MIT */
/*
 * level-2024/ggml-alloc.h - ggml-alloc.h for backends of 2024-10.
 */
#ifndef GGML_LEVEL_2024_ALLOC_H
#define GGML_LEVEL_2024_ALLOC_H

#include "ggml.h"

#include "../ggml-alloc.h"

#endif
