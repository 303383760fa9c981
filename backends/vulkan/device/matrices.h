/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/matrices.h - the size of a device's cooperative matrices.
 */
#ifndef GB_VULKAN_DEVICE_MATRICES_H
#define GB_VULKAN_DEVICE_MATRICES_H

#include "backends/vulkan/device/card.h"

/*
 * Set M, N and K in CARD's limits to those of matrices of F16, summed in F32, of
 * which shaders make their tiles with subgroups of limits.subgroup.  False: the
 * device has none, or too little shared memory.
 */
bool gb_vk_matrices_read(struct gb_vk_card *card);

#endif
