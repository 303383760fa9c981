/* SPDX-License-Identifier: MIT */
#include <ggml-backend-impl.h>
#include <ggmlbackend.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_freed;

static void
own_free(ggml_backend_buffer_t buffer)
{
    free(buffer->context);
    n_freed++;
}

static void *
own_base(ggml_backend_buffer_t buffer)
{
    return buffer->context;
}

static void
own_set(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor,
        const void *data, size_t offset, size_t size)
{
    (void)buffer;
    memcpy((char *)tensor->data + offset, data, size);
}

static void
own_get(ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor,
        void *data, size_t offset, size_t size)
{
    (void)buffer;
    memcpy(data, (const char *)tensor->data + offset, size);
}

static void
own_clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    memset(buffer->context, value, buffer->size);
}

static const struct ggml_backend_buffer_i own_members = {
    .free_buffer = own_free,
    .get_base = own_base,
    .set_tensor = own_set,
    .get_tensor = own_get,
    .clear = own_clear,
};

int
main(void)
{
    ggml_backend_buffer_type_t type = ggml_backend_cpu_buffer_type();
    void *memory = aligned_alloc(64, 1024);
    ggml_backend_buffer_t parts[2], both;
    size_t size = 0;

    parts[0] = memory != NULL
        ? ggml_backend_buffer_init(type, own_members, memory, 1024) : NULL;
    if (parts[0] == NULL)
        free(memory); /* still ours */
    parts[1] = ggml_backend_buft_alloc_buffer(type, 512);
    both = ggml_backend_multi_buffer_alloc_buffer(parts, 2);
    if (both == NULL) {
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
        ggml_backend_buffer_free(parts[0]);
        ggml_backend_buffer_free(parts[1]);
        return 1;
    }
    ggml_backend_buffer_clear(both, 0);
    ggml_backend_buffer_set_usage(both, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    if (ggml_backend_buffer_get_usage(parts[1]) ==
        GGML_BACKEND_BUFFER_USAGE_WEIGHTS)
        size = ggml_backend_buffer_get_size(both);
    ggml_backend_buffer_free(both); /* and with it both parts */
    printf("%zu bytes, %d parts of ours freed\n", size, n_freed);
    return size == 1024 + 512 && n_freed == 1 ? 0 : 1;
}
