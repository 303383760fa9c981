/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/transfer.h - blocking copies, done when a call returns.
 *
 * They run in the card's copy stream and wait for no backend's.  All functions
 * are called in the card's context, by any thread.
 */
#ifndef GB_CUDA_DEVICE_TRANSFER_H
#define GB_CUDA_DEVICE_TRANSFER_H

#include "backends/cuda/device/card.h"

#include "ggml.h"

enum ggml_status gb_cuda_copy_to_card(
    struct gb_cuda_card *card, gb_cuda_address to, const void *from,
    size_t size);
enum ggml_status gb_cuda_copy_to_host(
    struct gb_cuda_card *card, void *to, gb_cuda_address from, size_t size);
enum ggml_status gb_cuda_copy_on_card(
    struct gb_cuda_card *card, gb_cuda_address to, gb_cuda_address from,
    size_t size);
enum ggml_status gb_cuda_fill(
    struct gb_cuda_card *card, gb_cuda_address to, uint8_t value, size_t size);

/*
 * The copy stream, for work of others between the two calls, NAME on the
 * timeline; NULL when it cannot be had.
 */
struct gb_cuda_queue *gb_cuda_transfer_begin(struct gb_cuda_card *card);
void gb_cuda_transfer_end(struct gb_cuda_card *card, const char *name);

/*
 * Give stream and pinned memory back, before the context goes; or let them go
 * with it.
 */
void gb_cuda_transfer_clear(struct gb_cuda_card *card);
void gb_cuda_transfer_forget(struct gb_cuda_card *card);

#endif
