/* SPDX-License-Identifier: MIT */
/*
 * level-2023/ggml-alloc.h - ggml-alloc.h for backends of 2023.
 */
#ifndef GGML_LEVEL_2023_ALLOC_H
#define GGML_LEVEL_2023_ALLOC_H

#include "ggml.h"

#include "../ggml-alloc.h"

#endif
