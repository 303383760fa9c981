/* SPDX-License-Identifier: MIT */
/*
 * level-2023/ggml.h - ggml.h for backends of 2023, with the graph struct.
 */
#ifndef GGML_LEVEL_2023_H
#define GGML_LEVEL_2023_H

#ifndef GGML_API_LEVEL
#define GGML_API_LEVEL 202311
#endif
#if GGML_API_LEVEL != 202311
#error "a header of another level was included before"
#endif

#include "../ggml.h"

#endif
