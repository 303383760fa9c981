/* SPDX-License-Identifier: MIT */
/*
 * model/weights.h - which tensors a model must have, and of which shapes.
 */
#ifndef TOOLS_MODEL_WEIGHTS_H
#define TOOLS_MODEL_WEIGHTS_H

#include "tools/model/model.h"

#include <stdbool.h>

/*
 * Find each weight among model->tensors, check its shape and type, and set
 * n_vocab and the members for weights.  False after a message.
 */
bool weights_find(struct model *model);

/* Weights that a layer may have, and those of a model beside its layers. */
enum { WEIGHTS_A_LAYER = 18, WEIGHTS_BESIDE = 3 };

/* What a weight of a layer is replaced by. */
typedef struct ggml_tensor *(*weights_replace_fn)(void *arg,
                                                  struct ggml_tensor *from);

/* Let each weight that LAYER has be what REPLACE makes of it. */
void weights_of_layer(struct layer *layer, weights_replace_fn replace,
                      void *arg);

#endif
