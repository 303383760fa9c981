/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/tables.c - codebooks of data types in a card's memory.
 */
#include "backends/vulkan/device/tables.h"

#include "backends/vulkan/device/transfer.h"
#include "backends/vulkan/ops/tables.h"

#include "ggmlbackend.h"

#include <stdlib.h>

/* A context's own; those without a size are not there yet. */
struct gb_vk_tables {
    struct gb_vk_memory items[GB_VK_TABLE_COUNT];
};

static enum ggml_status
make(struct gb_vk_context *context, int table)
{
    struct gb_vk_memory *item = &context->tables->items[table];
    size_t n_words;
    const uint32_t *words = gb_vk_table_data(table, &n_words);
    enum ggml_status status = gb_vk_memory_new(context, GB_VK_MEMORY_DEVICE,
                                               n_words * sizeof(*words), item);

    if (status != GGML_STATUS_SUCCESS)
        return status;
    status = gb_vk_copy_in(context, item, 0, words, item->size);
    if (status != GGML_STATUS_SUCCESS)
        gb_vk_memory_free(context, item);
    return status;
}

static enum ggml_status
make_locked(struct gb_vk_context *context, int table)
{
    if (context->tables == NULL)
        context->tables = calloc(1, sizeof(*context->tables));
    if (context->tables == NULL)
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "%s: no memory for tables",
                                context->card->label);
    return context->tables->items[table].size > 0 ? GGML_STATUS_SUCCESS
                                                  : make(context, table);
}

bool
gb_vk_table(struct gb_vk_context *context, int table, VkBuffer *buffer,
            size_t *offset, size_t *size)
{
    enum ggml_status status;

    pthread_mutex_lock(&context->tables_lock);
    status = make_locked(context, table);
    pthread_mutex_unlock(&context->tables_lock);
    if (status != GGML_STATUS_SUCCESS)
        return false;
    *buffer = context->tables->items[table].buffer;
    *offset = 0;
    *size = context->tables->items[table].size;
    return true;
}

void
gb_vk_tables_free(struct gb_vk_context *context)
{
    for (int i = 0; context->tables != NULL && i < GB_VK_TABLE_COUNT; i++)
        if (context->tables->items[i].size > 0)
            gb_vk_memory_free(context, &context->tables->items[i]);
    free(context->tables);
    context->tables = NULL;
}
