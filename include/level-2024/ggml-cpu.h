/* SPDX-License-Identifier: MIT */
/*
 * level-2024/ggml-cpu.h - ggml-cpu.h for backends of 2024-10.
 */
#ifndef GGML_LEVEL_2024_CPU_H
#define GGML_LEVEL_2024_CPU_H

#include "ggml.h"

#include "../ggml-cpu.h"

#endif
