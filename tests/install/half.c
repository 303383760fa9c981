/* SPDX-License-Identifier: MIT */
/*
 * install/half.c - one half of a program that has two libraries.
 *
 * It is compiled twice, with another library's headers and -DHALF=first or
 * -DHALF=second; its source knows nothing of that but HALF.
 */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>
#include <gguf.h>

#include "half.h"

#define PASTE(half, name) half##_##name
#define EXPAND(half, name) PASTE(half, name)
#define OF_HALF(name) EXPAND(HALF, name)

static int messages;

static void
count(enum ggml_log_level level, const char *text, void *user_data)
{
    (void)level;
    (void)text;
    (void)user_data;
    messages++;
}

/* 2 + 3, or 0 when something failed. */
static float
sum(ggml_backend_t backend)
{
    const struct ggml_init_params params = { 1024 * 1024, NULL, true };
    const float numbers[2] = { 2.0f, 3.0f };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);
    struct ggml_tensor *b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);
    struct ggml_tensor *both = ggml_add(ctx, a, b);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_buffer_t buffer;
    float result = 0.0f;

    ggml_build_forward_expand(graph, both);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    ggml_backend_tensor_set(a, &numbers[0], 0, sizeof(float));
    ggml_backend_tensor_set(b, &numbers[1], 0, sizeof(float));
    if (ggml_backend_graph_compute(backend, graph) == GGML_STATUS_SUCCESS)
        ggml_backend_tensor_get(both, &result, 0, sizeof(float));
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
    return result;
}

float
OF_HALF(sum)(void)
{
    ggml_backend_t backend;
    float result;

    ggml_log_set(count, NULL);
    ggml_backend_load_all();
    backend = ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, NULL);
    if (backend == NULL)
        return 0.0f;
    result = sum(backend);
    ggml_backend_free(backend);
    return result;
}

int
OF_HALF(messages)(void)
{
    return messages;
}

void
OF_HALF(fail)(void)
{
    const struct gguf_init_params params = { true, NULL };

    gguf_free(gguf_init_from_file("/nowhere/at-all.gguf", params));
}

any_function
OF_HALF(function)(void)
{
    return (any_function)ggml_add;
}
