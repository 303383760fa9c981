/* SPDX-License-Identifier: MIT */
/*
 * ggml/level.h - part of ggml.h: which names and parameters a client sees.
 */
#ifndef GGML_H_PARTS
#error "include ggml.h instead of its parts"
#endif
#ifndef GGML_LEVEL_H
#define GGML_LEVEL_H

/*
 * The level of the interface that a client was written for, as year and month.
 * A client may define it before it includes a header; this library serves one.
 */
#ifndef GGML_API_LEVEL
#define GGML_API_LEVEL 202503
#endif

#if GGML_API_LEVEL != 202503
#error "GGML_API_LEVEL: this library serves level 202503"
#endif

#endif
