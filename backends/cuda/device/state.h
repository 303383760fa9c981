/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/state.h - how a card is just now: clocks, power, who uses it.
 */
#ifndef GB_CUDA_DEVICE_STATE_H
#define GB_CUDA_DEVICE_STATE_H

#include "backends/cuda/device/device.h"

#include "ggmlbackend.h"

/* "ggmlbackend_dev_get_state".  Any thread. */
bool gb_cuda_get_state(
    ggml_backend_dev_t dev, struct ggmlbackend_dev_state *state);

/* GGMLBACKEND_SLOWED_BY_… of CARD; 0 as well where nobody knows. */
uint32_t gb_cuda_slowed_by(const struct gb_cuda_card *card);

#endif
