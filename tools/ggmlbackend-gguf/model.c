/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-gguf/model.c - a GGUF file, mapped.
 */
#include "tools/ggmlbackend-gguf/model.h"

#include "tools/common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
map(struct model *model)
{
    const int fd = open(model->path, O_RDONLY);
    struct stat info;
    void *bytes;

    if (fd < 0)
        return tool_error("%s: %s", model->path, strerror(errno));
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) {
        close(fd);
        return tool_error("%s: not a file that can be mapped", model->path);
    }
    bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return tool_error("%s: %s", model->path, strerror(errno));
    model->bytes = bytes;
    model->size = (size_t)info.st_size;
    return true;
}

bool
model_open(struct model *model, const char *path)
{
    const struct gguf_init_params params = { true, &model->tensors };

    memset(model, 0, sizeof(*model));
    model->path = path;
    tool_forget_reason();
    model->gguf = gguf_init_from_file(path, params);
    if (model->gguf == NULL)
        return tool_error("%s: %s", path, tool_reason());
    if (map(model))
        return true;
    model_close(model);
    return false;
}

void
model_close(struct model *model)
{
    gguf_free(model->gguf);
    ggml_free(model->tensors);
    if (model->bytes != NULL)
        munmap((void *)(uintptr_t)model->bytes, model->size);
    memset(model, 0, sizeof(*model));
}

const uint8_t *
model_data(const struct model *model, int64_t i)
{
    const size_t start = gguf_get_data_offset(model->gguf);
    const size_t offset = gguf_get_tensor_offset(model->gguf, i);
    const size_t size = gguf_get_tensor_size(model->gguf, i);

    if (start > model->size || offset > model->size - start ||
        size > model->size - start - offset)
        return NULL;
    return model->bytes + start + offset;
}

const struct ggml_tensor *
model_tensor(const struct model *model, int64_t i)
{
    return ggml_get_tensor(model->tensors,
                           gguf_get_tensor_name(model->gguf, i));
}
