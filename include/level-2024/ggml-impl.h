/* SPDX-License-Identifier: MIT */
/*
 * level-2024/ggml-impl.h - ggml-impl.h for backends of 2024-10.
 */
#ifndef GGML_LEVEL_2024_IMPL_H
#define GGML_LEVEL_2024_IMPL_H

#include "ggml.h"

#include "../ggml-impl.h"

#endif
