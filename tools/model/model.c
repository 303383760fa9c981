/* SPDX-License-Identifier: MIT */
/*
 * model/model.c - a model's files: its sizes, and its weights on devices.
 */
#include "tools/model/model.h"

#include "tools/common/file-order.h"
#include "tools/common/progress.h"
#include "tools/common/tool.h"
#include "tools/model/array.h"
#include "tools/model/divide.h"
#include "tools/model/weights.h"

#include <stdlib.h>
#include <string.h>

/* Bytes copied to a device between two looks at the progress bar: whole numbers
 * of every type. */
#define COPY_STEP ((size_t)1 << 22)

static bool
check_data(const struct model *model)
{
    const struct model_files *files = &model->files;
    const int64_t n = gguf_get_n_tensors(files->gguf);

    for (int64_t id = 0; id < n; id++)
        if (model_place_is_cut(&files->places[id]))
            return tool_error("%s: tensor %s: ends beyond the file's %zu bytes",
                              files->places[id].part->path,
                              files->places[id].tensor->name,
                              files->places[id].part->input.size);
    return true;
}

/* Can the device compute on the mapping, and on each tensor where it is? */
static bool
can_map(const struct model *model, const struct device *device)
{
    const size_t alignment = ggml_backend_buft_get_alignment(device->buft);
    const int64_t n = gguf_get_n_tensors(model->gguf);
    struct ggml_backend_dev_props props;

    ggml_backend_dev_get_props(device->dev, &props);
    if (!props.caps.buffer_from_host_ptr || !FILE_ORDER_IS_MEMORY)
        return false;
    for (int64_t id = 0; id < n; id++)
        if ((uintptr_t)model_place_data(&model->files.places[id]) % alignment !=
            0)
            return false;
    return true;
}

/* Makes a buffer of the mapping of each part that has tensors. */
static bool
make_buffers(struct model *model, const struct device *device)
{
    for (int i = 0; i < model->files.n_parts; i++) {
        const struct model_part *part = &model->files.parts[i];

        if (part->input.bytes == NULL)
            continue;
        model->buffers[i] = ggml_backend_dev_buffer_from_host_ptr(
            device->dev, part->input.bytes, part->input.size,
            ggml_get_max_tensor_size(part->tensors));
        if (model->buffers[i] == NULL)
            return tool_error("the mapped file cannot be used: %s",
                              tool_reason());
    }
    return true;
}

static bool
place_in_mapping(struct model *model, const struct device *device)
{
    const struct model_files *files = &model->files;
    const int64_t n = gguf_get_n_tensors(files->gguf);

    if (!make_buffers(model, device))
        return false;
    for (int64_t id = 0; id < n; id++) {
        const struct model_place *place = &files->places[id];

        if (ggml_backend_tensor_alloc(model->buffers[place->part - files->parts],
                                      place->tensor, model_place_data(place)) !=
            GGML_STATUS_SUCCESS)
            return tool_error("tensor %s: %s", place->tensor->name,
                              tool_reason());
    }
    model->is_mapped = true;
    return true;
}

/* What copies of weights share. */
struct copying {
    struct model *model;
    char *piece; /* room for COPY_STEP bytes */
    struct progress bar;
    uint64_t done;
};

/* Copy the data of T. */
static bool
copy_tensor(struct copying *c, struct ggml_tensor *t)
{
    const struct model *model = c->model;
    const struct model_place *place = model_files_find(&model->files, t->name);
    const size_t size = ggml_nbytes(t);

    for (size_t at = 0; at < size; at += COPY_STEP) {
        const size_t left = size - at;
        const size_t part = left < COPY_STEP ? left : COPY_STEP;

        if (!model_place_read(place, at, c->piece, part))
            return false;
        file_order_swap(t->type, c->piece, part);
        ggml_backend_tensor_set(t, c->piece, at, part);
        if (tool_has_reason())
            return tool_error("tensor %s: %s", t->name, tool_reason());
        c->done += part;
        progress_update(&c->bar, c->done);
    }
    return true;
}

/* The data of all tensors of CTX, which have their places. */
static bool
copy_tensors(struct copying *c, struct ggml_context *ctx)
{
    struct ggml_tensor *t;

    for (t = ggml_get_first_tensor(ctx); t != NULL;
         t = ggml_get_next_tensor(ctx, t))
        if (!copy_tensor(c, t))
            return false;
    return true;
}

static bool
no_memory_on(const struct device *device)
{
    return tool_error("no memory for the weights on %s: %s",
                      ggml_backend_dev_name(device->dev), tool_reason());
}

/* Memory for all weights, where they are. */
static bool
allocate(struct model *model)
{
    const struct devices *devices = model->devices;

    if (model->parts == NULL) {
        model->buffers[0] = ggml_backend_alloc_ctx_tensors_from_buft(
            model->tensors, devices->at[0].buft);
        return model->buffers[0] != NULL || no_memory_on(&devices->at[0]);
    }
    for (int i = 0; i < devices->n; i++)
        if (!part_allocate(&model->parts[i], &devices->at[i]))
            return no_memory_on(&devices->at[i]);
    return true;
}

static bool
copy_to_devices(struct model *model)
{
    struct copying c = { .model = model };
    bool is_done = true;

    if (!allocate(model))
        return false;
    c.piece = new_zeroed(1, COPY_STEP);
    if (c.piece == NULL)
        return false;
    progress_begin(&c.bar, "loading", model_files_size(&model->files));
    if (model->parts == NULL)
        is_done = copy_tensors(&c, model->tensors);
    else
        for (int i = 0; is_done && i < model->devices->n; i++)
            is_done = copy_tensors(&c, model->parts[i].ctx);
    progress_end(&c.bar);
    free(c.piece);
    return is_done;
}

static void
mark(ggml_backend_buffer_t buffer)
{
    if (buffer != NULL)
        ggml_backend_buffer_set_usage(buffer,
                                      GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
}

static bool
place_weights(struct model *model, bool may_map)
{
    const struct device *device = &model->devices->at[0];
    const bool is_divided = model->devices->n > 1;
    bool is_placed;

    tool_forget_reason();
    if (is_divided && !model_divide(model))
        return false;
    may_map = may_map && !is_divided && model_files_map(&model->files);
    if (may_map && can_map(model, device)) {
        is_placed = place_in_mapping(model, device);
    } else {
        model_files_unmap(&model->files);
        is_placed = copy_to_devices(model);
    }
    if (!is_placed)
        return false;
    for (int i = 0; i < model->files.n_parts; i++)
        mark(model->buffers[i]);
    for (int i = 0; is_divided && i < model->devices->n; i++)
        mark(model->parts[i].buffer);
    return true;
}

static bool
open_files(struct model *model, const char *path)
{
    if (!model_files_open(&model->files, path))
        return false;
    model->gguf = model->files.gguf;
    model->tensors = model->files.tensors;
    model->buffers =
        new_zeroed((size_t)model->files.n_parts, sizeof(*model->buffers));
    return model->buffers != NULL;
}

bool
model_open(struct model *model, const char *path,
           const struct devices *devices, bool may_map)
{
    memset(model, 0, sizeof(*model));
    model->devices = devices;
    if (open_files(model, path) && check_data(model) &&
        hparams_read(&model->hparams, model->gguf) && weights_find(model) &&
        place_weights(model, may_map))
        return true;
    model_close(model);
    return false;
}

void
model_close(struct model *model)
{
    free(model->layers);
    hparams_clear(&model->hparams);
    ggml_backend_buffer_free(model->copies_buffer);
    ggml_free(model->copies);
    for (int i = 0; model->buffers != NULL && i < model->files.n_parts; i++)
        ggml_backend_buffer_free(model->buffers[i]);
    free(model->buffers);
    if (model->parts != NULL)
        parts_free(model->parts, model->devices->n);
    model_files_close(&model->files);
    memset(model, 0, sizeof(*model));
}

const struct device *
model_last_device(const struct model *model)
{
    const int64_t n_layer = model->hparams.n_layer;

    return &model->devices->at[model->layers[n_layer - 1].device];
}
