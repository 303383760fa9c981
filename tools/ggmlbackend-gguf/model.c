/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-gguf/model.c - a GGUF file, mapped or read tensor by tensor.
 */
#include "tools/ggmlbackend-gguf/model.h"

#include "tools/common/file-order.h"
#include "tools/common/tool.h"

#include <stdlib.h>
#include <string.h>

/* Room for the data of any tensor. */
static bool
make_room(struct model *model)
{
    size_t size = 1;

    for (int64_t i = 0; i < gguf_get_n_tensors(model->gguf); i++)
        if (!model_is_cut(model, i) &&
            gguf_get_tensor_size(model->gguf, i) > size)
            size = gguf_get_tensor_size(model->gguf, i);
    model->copy = malloc(size);
    return model->copy != NULL ||
        tool_error("%s: no memory for a tensor of %zu bytes",
                   model->input.path, size);
}

bool
model_open(struct model *model, const char *path, bool may_map)
{
    const struct gguf_init_params params = { true, &model->tensors };

    memset(model, 0, sizeof(*model));
    if (!input_open(&model->input, path))
        return false;
    tool_forget_reason();
    model->gguf = gguf_init_from_file(path, params);
    if (model->gguf == NULL)
        tool_error("%s: %s", path, tool_reason());
    else if ((may_map && FILE_ORDER_IS_MEMORY && input_map(&model->input)) ||
             make_room(model))
        return true;
    model_close(model);
    return false;
}

void
model_close(struct model *model)
{
    gguf_free(model->gguf);
    ggml_free(model->tensors);
    free(model->copy);
    input_close(&model->input);
    memset(model, 0, sizeof(*model));
}

/* Where the data of tensor I begins in the file. */
static size_t
start_of(const struct model *model, int64_t i)
{
    return gguf_get_data_offset(model->gguf) +
        gguf_get_tensor_offset(model->gguf, i);
}

bool
model_is_cut(const struct model *model, int64_t i)
{
    const size_t start = gguf_get_data_offset(model->gguf);
    const size_t offset = gguf_get_tensor_offset(model->gguf, i);

    return offset > SIZE_MAX - start ||
        !input_has(&model->input, start + offset,
                   gguf_get_tensor_size(model->gguf, i));
}

const uint8_t *
model_data(struct model *model, int64_t i)
{
    const size_t size = gguf_get_tensor_size(model->gguf, i);

    if (model->input.bytes != NULL)
        return (const uint8_t *)model->input.bytes + start_of(model, i);
    if (!input_read(&model->input, start_of(model, i), model->copy, size))
        return NULL;
    file_order_swap(gguf_get_tensor_type(model->gguf, i), model->copy, size);
    return model->copy;
}

const struct ggml_tensor *
model_tensor(const struct model *model, int64_t i)
{
    return ggml_get_tensor(model->tensors,
                           gguf_get_tensor_name(model->gguf, i));
}
