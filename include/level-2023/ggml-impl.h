/* SPDX-License-Identifier: MIT */
/*
 * level-2023/ggml-impl.h - ggml-impl.h for backends of 2023.
 */
#ifndef GGML_LEVEL_2023_IMPL_H
#define GGML_LEVEL_2023_IMPL_H

#include "ggml.h"

#include "../ggml-impl.h"

#endif
