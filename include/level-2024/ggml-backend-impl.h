/* SPDX-License-Identifier: MIT */
/*
 * level-2024/ggml-backend-impl.h - ggml-backend-impl.h for backends of 2024-10.
 */
#ifndef GGML_LEVEL_2024_BACKEND_IMPL_H
#define GGML_LEVEL_2024_BACKEND_IMPL_H

#include "ggml.h"

#include "../ggml-backend-impl.h"

#endif
