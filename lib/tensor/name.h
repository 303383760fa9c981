/* SPDX-License-Identifier: MIT */
/*
 * tensor/name.h - names that the library gives, put together without printf:
 * most nodes get one, and a format took longer than all else of a node.
 */
#ifndef GB_TENSOR_NAME_H
#define GB_TENSOR_NAME_H

#include "ggml.h"

/*
 * Put the SIZE bytes of TEXT behind the first LENGTH of TENSOR's name, as far
 * as there is room, and the terminator.  Gives the new length.  TEXT is no part
 * of the name.
 */
size_t gb_name_add(struct ggml_tensor *tensor, size_t length,
                   const char *text, size_t size);

/* The same with all of SRC's name. */
size_t gb_name_add_name(struct ggml_tensor *tensor, size_t length,
                        const struct ggml_tensor *src);

/* Name TENSOR "<prefix><number>"; NUMBER is not negative. */
void gb_name_number(struct ggml_tensor *tensor, const char *prefix, int number);

#endif
