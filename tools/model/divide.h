/* SPDX-License-Identifier: MIT */
/*
 * model/divide.h - a model's weights on several devices.
 */
#ifndef TOOLS_MODEL_DIVIDE_H
#define TOOLS_MODEL_DIVIDE_H

#include "tools/model/model.h"

#include <stdbool.h>

/*
 * Describe each weight once more, in the part of the device that uses it, and
 * let the model use these, which have no memory yet.  The embeddings are used on
 * the device of the first layer, the output on that of the last one.  False
 * after a message.
 */
bool model_divide(struct model *model);

#endif
