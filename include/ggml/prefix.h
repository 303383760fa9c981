/* SPDX-License-Identifier: MIT */
/*
 * ggml/prefix.h - part of ggml.h: what the linker calls the public names.
 *
 * Here it calls them as they are.  A library that was configured with
 * --with-symbol-prefix installs another file in place of this one, which has a
 * macro for each name.
 */
#ifndef GGML_PREFIX_H
#define GGML_PREFIX_H
#endif
