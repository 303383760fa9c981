/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-gguf/model.c - a model's files, mapped or read tensor by tensor.
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

    for (int64_t i = 0; i < model->n_tensors; i++)
        if (!model_is_cut(model, i) &&
            ggml_nbytes(model_tensor(model, i)) > size)
            size = ggml_nbytes(model_tensor(model, i));
    model->copy = malloc(size);
    return model->copy != NULL ||
        tool_error("%s: no memory for a tensor of %zu bytes",
                   model->files.parts[0].path, size);
}

bool
model_open(struct model *model, const char *path, bool may_map)
{
    memset(model, 0, sizeof(*model));
    if (!model_files_open(&model->files, path))
        return false;
    model->gguf = model->files.gguf;
    model->n_tensors = gguf_get_n_tensors(model->gguf);
    if ((may_map && FILE_ORDER_IS_MEMORY && model_files_map(&model->files)) ||
        make_room(model))
        return true;
    model_close(model);
    return false;
}

void
model_close(struct model *model)
{
    model_files_close(&model->files);
    free(model->copy);
    memset(model, 0, sizeof(*model));
}

bool
model_is_cut(const struct model *model, int64_t i)
{
    return model_place_is_cut(&model->files.places[i]);
}

const uint8_t *
model_data(struct model *model, int64_t i)
{
    const struct model_place *place = &model->files.places[i];
    const size_t size = ggml_nbytes(place->tensor);

    if (model->copy == NULL)
        return model_place_data(place);
    if (!model_place_read(place, 0, model->copy, size))
        return NULL;
    file_order_swap(place->tensor->type, model->copy, size);
    return model->copy;
}

const struct ggml_tensor *
model_tensor(const struct model *model, int64_t i)
{
    return model->files.places[i].tensor;
}

const char *
model_path(const struct model *model, int64_t i)
{
    return model->files.places[i].part->path;
}
