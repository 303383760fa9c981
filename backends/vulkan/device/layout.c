/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/layout.c - which dispatches share a command buffer.
 */
#include "backends/vulkan/device/layout.h"

#include "ggmlbackend.h"

#include <stdlib.h>

/* Dispatches between two that move on are recorded with them, if they are so
 * few: a command buffer costs more. */
enum { GAP = 3 };

struct layout {
    struct gb_vk_recording *recording;
    const struct gb_vk_pace *pace;
    int64_t most_groups; /* of a row of a grid */
    bool has_room;
};

/* In how many parts D is dispatched: rows of a grid, as equal as they can be. */
static int
parts_of(const struct layout *layout, const struct gb_vk_dispatch *d)
{
    const uint64_t most_ns = layout->pace->most_ns;
    const int64_t wanted = most_ns == UINT64_MAX
                               ? 1 : (int64_t)((d->ns - 1) / most_ns + 1);
    const int64_t at_least = layout->pace->parts;
    const int64_t n = wanted > at_least ? wanted : at_least;
    int64_t of_part;

    if (n == 1)
        return 1;
    of_part = (d->n_groups + n - 1) / n;
    if (of_part > layout->most_groups)
        of_part = layout->most_groups;
    return (int)((d->n_groups + of_part - 1) / of_part);
}

static void
add(struct layout *layout, const struct gb_vk_chunk *chunk)
{
    struct gb_vk_recording *recording = layout->recording;

    if (recording->n_chunks == recording->room_chunks) {
        const size_t room = 2 * recording->room_chunks + 16;
        struct gb_vk_chunk *moved =
            realloc(recording->chunks, room * sizeof(*moved));

        layout->has_room &= moved != NULL;
        if (moved == NULL)
            return;
        recording->chunks = moved;
        recording->room_chunks = room;
    }
    recording->chunks[recording->n_chunks++] = *chunk;
}

/* Does D go into the last chunk, which has D's neighbour, with IS_MOVING like
 * it? */
static bool
joins(const struct layout *layout, const struct gb_vk_dispatch *d,
      bool is_moving)
{
    const struct gb_vk_recording *recording = layout->recording;
    const struct gb_vk_chunk *last;

    if (recording->n_chunks == 0 || d->is_moving != is_moving)
        return false;
    last = &recording->chunks[recording->n_chunks - 1];
    return last->n_parts == 1 && d->ns <= layout->pace->most_ns &&
           last->n < (recording->n_chunks == 1 ? layout->pace->first
                                               : layout->pace->chunk) &&
           last->ns <= layout->pace->most_ns - d->ns;
}

static void
place(struct layout *layout, size_t i)
{
    struct gb_vk_recording *recording = layout->recording;
    struct gb_vk_dispatch *d = &recording->plan.dispatches[i];
    const int n_parts = parts_of(layout, d);

    if (n_parts == 1 && i > 0 && joins(layout, d, d[-1].is_moving)) {
        struct gb_vk_chunk *last = &recording->chunks[recording->n_chunks - 1];

        last->n++;
        last->ns += d->ns;
        d->chunk = recording->n_chunks - 1;
        return;
    }
    d->chunk = recording->n_chunks;
    for (int part = 0; part < n_parts; part++)
        add(layout, &(struct gb_vk_chunk){
            .first = i,
            .n = 1,
            .part = part,
            .n_parts = n_parts,
            .ns = d->ns / (uint64_t)n_parts,
        });
}

static void
place_all(struct layout *layout)
{
    layout->recording->n_chunks = 0;
    for (size_t i = 0;
         i < layout->recording->plan.n_dispatches && layout->has_room; i++)
        place(layout, i);
}

/* The few that stand between two that move on are recorded with them. */
static void
close_gaps(struct gb_vk_plan *plan)
{
    size_t last = SIZE_MAX;

    for (size_t i = 0; i < plan->n_dispatches; i++) {
        if (!plan->dispatches[i].is_moving)
            continue;
        for (size_t k = last; k < i && i - last <= GAP + 1; k++)
            plan->dispatches[k].is_moving = true;
        last = i;
    }
}

static void
open_all(struct gb_vk_plan *plan)
{
    for (size_t i = 0; i < plan->n_dispatches; i++)
        plan->dispatches[i].is_moving = false;
}

enum ggml_status
gb_vk_lay_out(
    struct gb_vk_recording *recording, const struct gb_vk_context *context,
    const struct gb_vk_pace *pace)
{
    struct layout layout = {
        .recording = recording,
        .pace = pace,
        .most_groups = context->card->most_groups[0],
        .has_room = true,
    };

    recording->is_open = false;
    close_gaps(&recording->plan);
    place_all(&layout);
    if (recording->n_chunks > GB_VK_MAX_COMMANDS) {
        open_all(&recording->plan);
        recording->is_open = true;
        place_all(&layout);
    }
    if (layout.has_room)
        return GGML_STATUS_SUCCESS;
    return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                            "%s: no memory for a recording of %zu dispatches",
                            context->card->label,
                            recording->plan.n_dispatches);
}
