/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/scene.c - one node on the emulated card.
 */
#include "config.h"

#include "tests/cuda/scene.h"

enum { MAX_TENSORS = 8 };

struct scene
scene_begin(void)
{
    struct scene scene = { .ctx = ggml_init((struct ggml_init_params){
                               .mem_size =
                                   MAX_TENSORS * ggml_tensor_overhead() +
                                   ggml_graph_overhead(),
                               .no_alloc = true }) };

    CHECK(scene.ctx != NULL && cuda_load() != NULL);
    scene.backend = ggml_backend_dev_init(cuda_device("CUDA0"), NULL);
    CHECK(scene.backend != NULL);
    return scene;
}

void
scene_place(struct scene *scene)
{
    scene->buffer = ggml_backend_alloc_ctx_tensors(scene->ctx, scene->backend);
    CHECK(scene->buffer != NULL);
}

void
scene_set(struct ggml_tensor *tensor, const void *data)
{
    ggml_backend_tensor_set(tensor, data, 0, ggml_nbytes(tensor));
}

void
scene_compute(struct scene *scene, struct ggml_tensor *node, void *result)
{
    struct ggml_cgraph *graph = ggml_new_graph(scene->ctx);

    ggml_build_forward_expand(graph, node);
    CHECK(ggml_backend_graph_compute(scene->backend, graph) ==
          GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(node, result, 0, ggml_nbytes(node));
}

void
scene_end(struct scene *scene)
{
    ggml_backend_buffer_free(scene->buffer);
    ggml_backend_free(scene->backend);
    ggml_free(scene->ctx);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}
