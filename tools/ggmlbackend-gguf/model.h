/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-gguf/model.h - a GGUF file, mapped or read tensor by tensor.
 */
#ifndef GGUF_TOOL_MODEL_H
#define GGUF_TOOL_MODEL_H

#include "tools/common/input.h"

#include "gguf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model {
    struct input input;
    struct gguf_context *gguf;
    struct ggml_context *tensors; /* descriptions, without data */
    uint8_t *copy;                /* of a tensor's data, when not mapped */
};

/* Opens PATH, and maps it when it MAY_MAP; false after a message. */
bool model_open(struct model *model, const char *path, bool may_map);
void model_close(struct model *model);

/* Does the file end before the data of tensor I does? */
bool model_is_cut(const struct model *model, int64_t i);

/*
 * The data of tensor I, which is not cut, as the machine has it, until the next
 * call; NULL after a message.
 */
const uint8_t *model_data(struct model *model, int64_t i);

/* The description of tensor I. */
const struct ggml_tensor *model_tensor(const struct model *model, int64_t i);

/* The commands; a status to end with. */
int command_show(const char *path, bool json, bool all);
int command_check(const char *path, bool json, bool may_map);
int command_convert(const char *from, const char *to, const char *type_name,
                    bool pure, bool may_map);
int command_types(void);

#endif
