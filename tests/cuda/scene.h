/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/scene.h - one node on the emulated card, in cases of emulated.h.
 */
#ifndef GB_TESTS_CUDA_SCENE_H
#define GB_TESTS_CUDA_SCENE_H

#include "tests/cuda/emulated.h"

/* The node's tensors are in ctx, up to eight. */
struct scene {
    ggml_backend_t backend;
    struct ggml_context *ctx;
    ggml_backend_buffer_t buffer;
};

struct scene scene_begin(void);
/* The tensors that there are now get their places on the card. */
void scene_place(struct scene *scene);
/* All bytes of a tensor. */
void scene_set(struct ggml_tensor *tensor, const void *data);
/* NODE, whose bytes come into RESULT. */
void scene_compute(struct scene *scene, struct ggml_tensor *node, void *result);
/* No object of the driver's lives afterwards, and nothing was reported. */
void scene_end(struct scene *scene);

#endif
