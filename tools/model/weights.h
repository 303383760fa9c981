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

#endif
