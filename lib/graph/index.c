/* SPDX-License-Identifier: MIT */
/*
 * graph/index.c - tensors numbered in the order in which they are first met.
 *
 * The tensors by number, and beside them a table with open addressing that has
 * the numbers and is never more than half full.
 */
#include "config.h"

#include "lib/graph/index.h"

#include "lib/base/mem.h"

#include <string.h>

/* Numbers stay far from the end of an int32_t. */
static const int64_t most_tensors = INT32_C(1) << 29;

/* Write the number into the first free slot where the tensor is looked for. */
static void
enter(struct gb_index *index, int32_t number)
{
    const struct ggml_tensor *tensor = index->tensors[number];
    size_t i = gb_index_home(index, tensor);

    while (index->slots[i] != 0)
        i = gb_index_next(index, tensor, i);
    index->slots[i] = number + 1;
}

/* Room for MAX_TENSORS; what is in the list stays, and is entered again. */
static bool
make_room(struct gb_index *index, int64_t max_tensors)
{
    struct ggml_tensor **tensors;
    size_t n_slots = 16;
    int32_t *slots;

    if (max_tensors > most_tensors)
        return false;
    while (n_slots < 2 * (size_t)max_tensors)
        n_slots *= 2;
    slots = gb_mem_zalloc(n_slots, sizeof(*slots));
    if (slots == NULL)
        return false;
    tensors = gb_mem_realloc(index->tensors, n_slots / 2, sizeof(*tensors));
    if (tensors == NULL) {
        gb_mem_free(slots);
        return false;
    }
    gb_mem_free(index->slots);
    index->slots = slots;
    index->n_slots = n_slots;
    index->tensors = tensors;
    index->max_tensors = (int32_t)(n_slots / 2);
    for (int32_t i = 0; i < index->n_tensors; i++)
        enter(index, i);
    return true;
}

bool
gb_index_reset(struct gb_index *index, int64_t n_tensors)
{
    index->n_tensors = 0;
    if (n_tensors > index->max_tensors || index->slots == NULL)
        return make_room(index, n_tensors);
    memset(index->slots, 0, index->n_slots * sizeof(*index->slots));
    return true;
}

int32_t
gb_index_add_new(struct gb_index *index, struct ggml_tensor *tensor)
{
    const int32_t number = index->n_tensors;

    if (number == index->max_tensors &&
        !make_room(index, 2 * (int64_t)index->max_tensors))
        return -1;
    index->tensors[number] = tensor;
    index->n_tensors = number + 1;
    enter(index, number);
    return number;
}

void
gb_index_clear(struct gb_index *index)
{
    gb_mem_free(index->tensors);
    gb_mem_free(index->slots);
    memset(index, 0, sizeof(*index));
}
