/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/proc.c - functions that only this backend has, by name.
 */
#include "backends/cuda/device/proc.h"

#include "backends/cuda/device/limits.h"
#include "backends/cuda/device/pinned.h"
#include "backends/cuda/device/split-buffer.h"
#include "backends/cuda/device/state.h"
#include "backends/cuda/images.h"

#include <stdio.h>
#include <string.h>

static void
write_variants(char *text, size_t size)
{
    size_t n = 0;

    for (int i = 0; i < gb_cuda_device_count(); i++) {
        struct gb_cuda_card *card = gb_cuda_device_at(i)->card;

        n += (size_t)snprintf(
            text + n, size - n, "%s%s", i > 0 ? "," : "",
            gb_cuda_variant_name(gb_cuda_card_limits(card).variant));
    }
}

void
gb_cuda_features_init(struct gb_cuda_features *features)
{
    struct ggml_backend_feature *row = features->rows;

    write_variants(features->variants, sizeof(features->variants));
    *row++ = (struct ggml_backend_feature){ "ARCHS", gb_cuda_image_archs };
    *row++ = (struct ggml_backend_feature){ "VARIANTS", features->variants };
    if (gb_cuda_device_at(0)->card->records_graphs)
        *row++ = (struct ggml_backend_feature){ "USE_GRAPHS", "1" };
    *row = (struct ggml_backend_feature){ "PEER_MAX_BATCH_SIZE", "128" };
}

static struct ggml_backend_feature *
get_features(ggml_backend_reg_t reg)
{
    (void)reg;
    return gb_cuda_features()->rows;
}

static const struct ggml_backend_feature *
get_properties(ggml_backend_dev_t dev)
{
    const struct gb_cuda_device *device = gb_cuda_device_of(dev);

    return device != NULL ? device->properties : NULL;
}

/* ---- names ---- */

struct named_function {
    const char *name;
    void *function;
};

static const struct named_function functions[] = {
    { "ggml_backend_get_features", (void *)get_features },
    { "ggml_backend_register_host_buffer", (void *)gb_cuda_register_host },
    { "ggml_backend_set_abort_callback", (void *)gb_cuda_set_abort_callback },
    { "ggml_backend_split_buffer_type", (void *)gb_cuda_split_buffer_type },
    { "ggml_backend_unregister_host_buffer", (void *)gb_cuda_unregister_host },
    { "ggmlbackend_dev_get_properties", (void *)get_properties },
    { "ggmlbackend_dev_get_state", (void *)gb_cuda_get_state },
    { "ggmlbackend_dev_measure_limits", (void *)gb_cuda_measure_limits },
};

void *
gb_cuda_proc_address(ggml_backend_reg_t reg, const char *name)
{
    (void)reg;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].function;
    }
    return NULL;
}
