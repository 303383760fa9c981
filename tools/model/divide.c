/* SPDX-License-Identifier: MIT */
/*
 * model/divide.c - a model's weights on several devices.
 *
 * A weight that two devices use lies on both: the table of embeddings where it
 * is the output as well, and the frequencies of RoPE, which all layers read.
 */
#include "tools/model/divide.h"

#include "tools/model/weights.h"

/* The copy of FROM in the part that ARG is. */
static struct ggml_tensor *
describe_in(void *arg, struct ggml_tensor *from)
{
    const struct part *part = arg;

    return ggml_set_name(ggml_dup_tensor(part->ctx, from), from->name);
}

static void
replace(struct ggml_tensor **member, struct part *part)
{
    *member = describe_in(part, *member);
}

bool
model_divide(struct model *model)
{
    const int64_t n_layer = model->hparams.n_layer;
    const size_t n_tensors =
        (size_t)n_layer * WEIGHTS_A_LAYER + WEIGHTS_BESIDE;
    const bool is_tied = model->output == model->token_embd;
    struct part *first, *last;

    model->parts = parts_new(model->devices, n_tensors);
    if (model->parts == NULL)
        return false;
    for (int64_t il = 0; il < n_layer; il++) {
        struct layer *layer = &model->layers[il];

        layer->device = devices_of_layer(model->devices, il, n_layer);
        weights_of_layer(layer, describe_in, &model->parts[layer->device]);
    }
    first = &model->parts[model->layers[0].device];
    last = &model->parts[model->layers[n_layer - 1].device];
    replace(&model->token_embd, first);
    replace(&model->output_norm, last);
    if (is_tied && first == last)
        model->output = model->token_embd;
    else
        replace(&model->output, last);
    return true;
}
