/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/ring.h - long copies of pageable memory through pinned chunks.
 *
 * All functions are called in the card's context, by one thread at a time for
 * one ring.
 */
#ifndef GB_CUDA_DEVICE_RING_H
#define GB_CUDA_DEVICE_RING_H

#include "backends/cuda/device/stream.h"

enum { GB_CUDA_RING_CHUNKS = 16 };

/* All zero: nothing yet; it gets its memory with the first long copy. */
struct gb_cuda_ring {
    char *memory; /* pinned */
    gb_cuda_event ends[GB_CUDA_RING_CHUNKS]; /* of the last copy of each */
    bool has_no_memory; /* it was asked for, and is not to be had */
};

/*
 * Are SIZE bytes at MEMORY, of the host, worth the ring, and is there one?
 * Pinned memory is copied at once, and so is little.
 */
bool gb_cuda_ring_takes(
    struct gb_cuda_ring *ring, struct gb_cuda_card *card, const void *memory,
    size_t size);

/*
 * Copy behind what is in QUEUE.  All of FROM is read when the call returns; the
 * card may not have it yet.
 */
enum ggml_status gb_cuda_ring_send(
    struct gb_cuda_ring *ring, struct gb_cuda_card *card,
    struct gb_cuda_queue *queue, gb_cuda_address to, const char *from,
    size_t size);

/* The same the other way; all of TO is written when the call returns. */
enum ggml_status gb_cuda_ring_receive(
    struct gb_cuda_ring *ring, struct gb_cuda_card *card,
    struct gb_cuda_queue *queue, char *to, gb_cuda_address from, size_t size);

/* The streams that were copied in are done. */
void gb_cuda_ring_clear(struct gb_cuda_ring *ring, struct gb_cuda_card *card);

#endif
