/* SPDX-License-Identifier: MIT */
/*
 * level-2024/ggml.h - ggml.h for backends of 2024-10, which had the CPU's
 * functions and GGUF in it too.
 */
#ifndef GGML_LEVEL_2024_H
#define GGML_LEVEL_2024_H

#ifndef GGML_API_LEVEL
#define GGML_API_LEVEL 202410
#endif
#if GGML_API_LEVEL != 202410
#error "a header of another level was included before"
#endif

#include "../ggml.h"

#include "../gguf.h"

#include "../ggml-cpu.h"

#endif
