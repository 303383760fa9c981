/* SPDX-License-Identifier: MIT */
/*
 * level-2024/ggml-backend.h - ggml-backend.h for backends of 2024-10.
 */
#ifndef GGML_LEVEL_2024_BACKEND_H
#define GGML_LEVEL_2024_BACKEND_H

#include "ggml.h"

#include "../ggml-backend.h"

#endif
