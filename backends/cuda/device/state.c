/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/state.c - how a card is just now: clocks, power, who uses it.
 *
 * A card that has nothing to do is slow on purpose, which is no reason.
 */
#include "backends/cuda/device/state.h"

#include "backends/cuda/driver/monitor.h"

#include <stddef.h>
#include <string.h>

/* Room for one figure. */
#define LEAST_SIZE offsetof(struct ggmlbackend_dev_state, max_clock)

static uint32_t
slowed_by(unsigned long long reasons)
{
    static const struct {
        unsigned long long reasons;
        uint32_t by;
    } rows[] = {
        { GB_CUDA_MONITOR_POWER_CAP | GB_CUDA_MONITOR_POWER_BRAKE,
          GGMLBACKEND_SLOWED_BY_POWER },
        { GB_CUDA_MONITOR_HEAT | GB_CUDA_MONITOR_HARDWARE_HEAT,
          GGMLBACKEND_SLOWED_BY_HEAT },
        { GB_CUDA_MONITOR_CLOCKS_SET, GGMLBACKEND_SLOWED_BY_SETTING },
    };
    uint32_t by = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if ((reasons & rows[i].reasons) != 0)
            by |= rows[i].by;
    }
    if (by == 0 && (reasons & ~(unsigned long long)GB_CUDA_MONITOR_IDLE) != 0)
        by = GGMLBACKEND_SLOWED_BY_OTHER;
    return by;
}

uint32_t
gb_cuda_slowed_by(const struct gb_cuda_card *card)
{
    struct gb_cuda_monitor_state found;

    return gb_cuda_monitor_state(card->pci, &found)
               ? slowed_by(found.reasons) : 0;
}

bool
gb_cuda_get_state(ggml_backend_dev_t dev, struct ggmlbackend_dev_state *state)
{
    const struct gb_cuda_device *device = gb_cuda_device_of(dev);
    struct gb_cuda_monitor_state found;
    struct ggmlbackend_dev_state now;

    if (device == NULL || state->size < LEAST_SIZE ||
        !gb_cuda_monitor_state(device->card->pci, &found))
        return false;
    now = (struct ggmlbackend_dev_state){
        .size = state->size,
        .clock = found.clock * 1e6,
        .max_clock = found.max_clock * 1e6,
        .memory_clock = found.memory_clock * 1e6,
        .power = found.power * 1e-3,
        .max_power = found.max_power * 1e-3,
        .temperature = found.temperature,
        .slowed = slowed_by(found.reasons),
        .n_processes = found.n_processes,
    };
    memcpy(state, &now,
           state->size < sizeof(now) ? state->size : sizeof(now));
    return true;
}
