/* SPDX-License-Identifier: MIT */
/*
 * model/repack.h - weights in a buffer type in which a device computes faster.
 */
#ifndef TOOLS_MODEL_REPACK_H
#define TOOLS_MODEL_REPACK_H

#include "tools/model/model.h"

#include <stdbool.h>

enum repack_mode {
    REPACK_AUTO, /* where a measurement says that it is worth it */
    REPACK_ON,
    REPACK_OFF,
};

/* The mode that TEXT, OPTION's, names: auto, on or off.  False after a
 * message. */
bool repack_mode_read(const char *option, const char *text,
                      enum repack_mode *mode);

/*
 * Copy the weights of products to an extra buffer type of DEVICE, where it has
 * one that takes them; the model then uses the copies.  AUTO does so where one
 * column is multiplied at least a tenth faster, the weights are more than
 * caches hold, and the system has memory to spare; where no extra type is
 * chosen it asks the same of the device's own, if the weights are in a mapped
 * file.  Without memory for the copies, which is said, weights stay where they
 * are.  False, after a message, when a copy failed.
 */
bool model_repack(struct model *model, const struct device *device,
                  enum repack_mode mode);

#endif
