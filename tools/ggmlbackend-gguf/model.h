/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-gguf/model.h - a model's files, mapped or read tensor by tensor.
 */
#ifndef GGUF_TOOL_MODEL_H
#define GGUF_TOOL_MODEL_H

#include "tools/common/model-files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model {
    struct model_files files;
    struct gguf_context *gguf; /* of FILES */
    int64_t n_tensors;
    uint8_t *copy;             /* of a tensor's data, when not mapped */
};

/* Opens PATH, and maps it when it MAY_MAP; false after a message. */
bool model_open(struct model *model, const char *path, bool may_map);
void model_close(struct model *model);

/* True if the file ends before the data of tensor I does. */
bool model_is_cut(const struct model *model, int64_t i);

/*
 * The data of tensor I, which is not cut, as the machine has it, until the next
 * call; NULL after a message.
 */
const uint8_t *model_data(struct model *model, int64_t i);

/* The description of tensor I, and the path of the file that has it. */
const struct ggml_tensor *model_tensor(const struct model *model, int64_t i);
const char *model_path(const struct model *model, int64_t i);

/* The commands; a status to end with. */
int command_show(const char *path, bool json, bool all);
int command_check(const char *path, bool json, bool may_map);
int command_convert(const char *from, const char *to, enum ggml_type type,
                    bool pure, bool may_map);
int command_types(void);

#endif
