/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/estimate.c - how long a dispatch takes on a slow card of its
 * kind.
 */
#include "backends/vulkan/device/estimate.h"

/*
 * Not the fastest cards, nor measured ones: about the slowest that have a driver
 * for Vulkan 1.2, with what our shaders make of them.  A watchdog wakes after
 * twenty times GB_VK_MOST_NS, so a card may be slower still.
 */
struct speed {
    uint64_t bytes;      /* of memory, in a microsecond */
    uint64_t operations; /* in a microsecond, of all work groups */
    int64_t groups;      /* that are needed to keep all of the card busy */
};

/* A core of a discrete card, where their number is known: an eighth of what the
 * slowest has at most.  The table's card has eight, and a card without a number is
 * taken for that. */
enum { CORE_BYTES = 5000, CORE_OPERATIONS = 50000, LEAST_CORES = 8 };

/* The start of a dispatch, and the barrier before it. */
enum { START_NS = 10000 };

static struct speed
speed_of(const struct gb_vk_card *card)
{
    const uint32_t more =
        card->cores > LEAST_CORES ? card->cores - LEAST_CORES : 0;

    switch ((int)card->type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return (struct speed){ 50000 + more * (uint64_t)CORE_BYTES,
                               400000 + more * (uint64_t)CORE_OPERATIONS,
                               64 + more };
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return (struct speed){ 5000, 4000, 2 };
    }
    return (struct speed){ 10000, 50000, 16 };
}

uint64_t
gb_vk_estimate(
    const struct gb_vk_card *card, uint64_t bytes, uint64_t operations,
    int64_t n_groups)
{
    const struct speed speed = speed_of(card);
    const uint64_t busy =
        (uint64_t)(n_groups < speed.groups ? n_groups : speed.groups);

    return START_NS + bytes * 1000 / speed.bytes +
           operations / (speed.operations * busy / (uint64_t)speed.groups) *
               1000;
}
