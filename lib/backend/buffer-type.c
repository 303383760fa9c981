/* SPDX-License-Identifier: MIT */
/*
 * backend/buffer-type.c - kinds of memory: asking one, taking a buffer of it.
 */
#include "config.h"

#include "ggml-backend-impl.h"

#include "lib/base/status.h"

const char *
ggml_backend_buft_name(ggml_backend_buffer_type_t buft)
{
    GB_NEED_OR(NULL, buft != NULL, "buffer type name: no buffer type");
    return buft->iface.get_name(buft);
}

ggml_backend_buffer_t
ggml_backend_buft_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    static const struct ggml_backend_buffer_i no_members;
    const uint64_t n_failures = gb_failure_count();
    ggml_backend_buffer_t buffer;

    GB_NEED_OR(NULL, buft != NULL, "buffer of %zu bytes: no buffer type", size);
    if (size == 0)
        return ggml_backend_buffer_init(buft, no_members, NULL, 0);

    buffer = buft->iface.alloc_buffer(buft, size);
    /* Who knew why has told it. */
    if (buffer == NULL && gb_failure_count() == n_failures)
        gb_fail(GGML_STATUS_ALLOC_FAILED, "%s: no buffer of %zu bytes",
                ggml_backend_buft_name(buft), size);
    return buffer;
}

size_t
ggml_backend_buft_get_alignment(ggml_backend_buffer_type_t buft)
{
    GB_NEED_OR(0, buft != NULL, "alignment: no buffer type");
    return buft->iface.get_alignment(buft);
}

size_t
ggml_backend_buft_get_max_size(ggml_backend_buffer_type_t buft)
{
    GB_NEED_OR(0, buft != NULL, "largest buffer: no buffer type");
    if (buft->iface.get_max_size == NULL)
        return SIZE_MAX;
    return buft->iface.get_max_size(buft);
}

size_t
ggml_backend_buft_get_alloc_size(
    ggml_backend_buffer_type_t buft, struct ggml_tensor *tensor)
{
    size_t bytes, asked;

    GB_NEED_OR(0, buft != NULL, "room of a tensor: no buffer type");
    GB_NEED_OR(0, tensor != NULL, "room of a tensor: no tensor");

    bytes = ggml_nbytes(tensor);
    if (buft->iface.get_alloc_size == NULL)
        return bytes;

    /* A tensor never gets less than its data needs, whatever a module says. */
    asked = buft->iface.get_alloc_size(buft, tensor);
    return asked > bytes ? asked : bytes;
}

bool
ggml_backend_buft_is_host(ggml_backend_buffer_type_t buft)
{
    GB_NEED_OR(false, buft != NULL, "host memory: no buffer type");
    return buft->iface.is_host != NULL && buft->iface.is_host(buft);
}

ggml_backend_dev_t
ggml_backend_buft_get_device(ggml_backend_buffer_type_t buft)
{
    GB_NEED_OR(NULL, buft != NULL, "device of memory: no buffer type");
    return buft->device;
}
