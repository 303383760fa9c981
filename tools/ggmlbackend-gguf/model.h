/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-gguf/model.h - a GGUF file, mapped.
 */
#ifndef GGUF_TOOL_MODEL_H
#define GGUF_TOOL_MODEL_H

#include "gguf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model {
    const char *path;
    struct gguf_context *gguf;
    struct ggml_context *tensors; /* descriptions, without data */
    const uint8_t *bytes;         /* the whole file */
    size_t size;
};

/* Opens and maps PATH; false after a message. */
bool model_open(struct model *model, const char *path);
void model_close(struct model *model);

/* Where tensor I's data lies in the file; NULL when the file ends before its end. */
const uint8_t *model_data(const struct model *model, int64_t i);

/* The description of tensor I. */
const struct ggml_tensor *model_tensor(const struct model *model, int64_t i);

/* The commands; a status to end with. */
int command_show(const char *path, bool json, bool all);
int command_check(const char *path, bool json);
int command_convert(const char *from, const char *to, const char *type_name,
                    bool pure);

#endif
