/* SPDX-License-Identifier: MIT */
/*
 * model/model.c - a GGUF file: its sizes, and its weights on a device.
 */
#include "tools/model/model.h"

#include "tools/common/file-order.h"
#include "tools/common/progress.h"
#include "tools/common/tool.h"
#include "tools/model/array.h"
#include "tools/model/weights.h"

#include <stdlib.h>
#include <string.h>

/* Bytes copied to a device between two looks at the progress bar: whole numbers
 * of every type. */
#define COPY_STEP ((size_t)1 << 22)

static bool
read_index(struct model *model, const char *path)
{
    const struct gguf_init_params params = {
        .no_alloc = true,
        .ctx = &model->tensors,
    };

    tool_forget_reason();
    model->gguf = gguf_init_from_file(path, params);
    if (model->gguf == NULL)
        return tool_error("%s: not a usable GGUF file: %s", path,
                          tool_reason());
    return true;
}

/* Where the data of tensor ID begins in the file, which check_data found in it. */
static size_t
start_of(const struct model *model, int64_t id)
{
    return gguf_get_data_offset(model->gguf) +
        gguf_get_tensor_offset(model->gguf, id);
}

/* The same in the mapping. */
static char *
data_of(const struct model *model, int64_t id)
{
    return (char *)model->input.bytes + start_of(model, id);
}

static bool
check_data(const struct model *model, const char *path)
{
    const size_t start = gguf_get_data_offset(model->gguf);
    const int64_t n = gguf_get_n_tensors(model->gguf);
    const size_t file_size = model->input.size;
    const size_t room = start > file_size ? 0 : file_size - start;

    for (int64_t id = 0; id < n; id++) {
        const char *name = gguf_get_tensor_name(model->gguf, id);
        const size_t offset = gguf_get_tensor_offset(model->gguf, id);
        const size_t size = gguf_get_tensor_size(model->gguf, id);
        const struct ggml_tensor *t = ggml_get_tensor(model->tensors, name);

        if (t == NULL || ggml_nbytes(t) != size)
            return tool_error("%s: tensor %s: its size is not clear", path,
                              name);
        if (offset > room || size > room - offset)
            return tool_error("%s: tensor %s: ends beyond the file's %zu bytes",
                              path, name, file_size);
    }
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
        if ((uintptr_t)data_of(model, id) % alignment != 0)
            return false;
    return true;
}

static bool
place_in_mapping(struct model *model, const struct device *device)
{
    const int64_t n = gguf_get_n_tensors(model->gguf);

    model->buffer = ggml_backend_dev_buffer_from_host_ptr(
        device->dev, model->input.bytes, model->input.size,
        ggml_get_max_tensor_size(model->tensors));
    if (model->buffer == NULL)
        return tool_error("the mapped file cannot be used: %s", tool_reason());
    for (int64_t id = 0; id < n; id++) {
        const char *name = gguf_get_tensor_name(model->gguf, id);

        if (ggml_backend_tensor_alloc(model->buffer,
                                      ggml_get_tensor(model->tensors, name),
                                      data_of(model, id)) !=
            GGML_STATUS_SUCCESS)
            return tool_error("tensor %s: %s", name, tool_reason());
    }
    model->is_mapped = true;
    return true;
}

/* Copy the data of T, tensor ID, through PIECE. */
static bool
copy_tensor(struct model *model, int64_t id, struct ggml_tensor *t, char *piece,
            struct progress *bar, uint64_t *done)
{
    const size_t size = ggml_nbytes(t);

    for (size_t at = 0; at < size; at += COPY_STEP) {
        const size_t left = size - at;
        const size_t part = left < COPY_STEP ? left : COPY_STEP;

        if (!input_read(&model->input, start_of(model, id) + at, piece, part))
            return false;
        file_order_swap(t->type, piece, part);
        ggml_backend_tensor_set(t, piece, at, part);
        if (tool_has_reason())
            return tool_error("tensor %s: %s", t->name, tool_reason());
        *done += part;
        progress_update(bar, *done);
    }
    return true;
}

static bool
copy_to_device(struct model *model, const struct device *device)
{
    const int64_t n = gguf_get_n_tensors(model->gguf);
    struct progress bar;
    uint64_t done = 0;
    bool is_done = true;
    char *piece;

    model->buffer =
        ggml_backend_alloc_ctx_tensors_from_buft(model->tensors, device->buft);
    if (model->buffer == NULL)
        return tool_error("no memory for the weights on %s: %s",
                          ggml_backend_dev_name(device->dev), tool_reason());
    piece = new_zeroed(1, COPY_STEP);
    if (piece == NULL)
        return false;
    progress_begin(&bar, "loading", model->input.size);
    for (int64_t id = 0; is_done && id < n; id++) {
        const char *name = gguf_get_tensor_name(model->gguf, id);

        is_done = copy_tensor(model, id, ggml_get_tensor(model->tensors, name),
                              piece, &bar, &done);
    }
    progress_end(&bar);
    free(piece);
    return is_done;
}

static bool
place_weights(struct model *model, const struct device *device, bool may_map)
{
    bool is_placed;

    tool_forget_reason();
    if (may_map && !input_map(&model->input))
        return false;
    if (may_map && can_map(model, device)) {
        is_placed = place_in_mapping(model, device);
    } else {
        input_unmap(&model->input);
        is_placed = copy_to_device(model, device);
    }
    if (!is_placed)
        return false;
    ggml_backend_buffer_set_usage(model->buffer,
                                  GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    return true;
}

bool
model_open(struct model *model, const char *path, const struct device *device,
           bool may_map)
{
    memset(model, 0, sizeof(*model));
    if (input_open(&model->input, path) && read_index(model, path) &&
        check_data(model, path) &&
        hparams_read(&model->hparams, model->gguf) && weights_find(model) &&
        place_weights(model, device, may_map))
        return true;
    model_close(model);
    return false;
}

void
model_close(struct model *model)
{
    free(model->layers);
    ggml_backend_buffer_free(model->copies_buffer);
    ggml_free(model->copies);
    ggml_backend_buffer_free(model->buffer);
    ggml_free(model->tensors);
    gguf_free(model->gguf);
    input_close(&model->input);
    memset(model, 0, sizeof(*model));
}
