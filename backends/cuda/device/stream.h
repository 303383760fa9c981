/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/stream.h - a stream, and waiting for it.
 *
 * All functions are called in the card's context.
 */
#ifndef GB_CUDA_DEVICE_STREAM_H
#define GB_CUDA_DEVICE_STREAM_H

#include "backends/cuda/device/card.h"

#include "ggml.h"

/* Work in its order, and the event with which its end is waited for. */
struct gb_cuda_queue {
    gb_cuda_stream stream;
    gb_cuda_event end;
};

/* On failure nothing is left. */
enum ggml_status gb_cuda_queue_init(
    struct gb_cuda_card *card, struct gb_cuda_queue *queue);
void gb_cuda_queue_clear(
    struct gb_cuda_card *card, struct gb_cuda_queue *queue);

/* Wait until all work of QUEUE is done; its failure is the status. */
enum ggml_status gb_cuda_queue_wait(
    struct gb_cuda_card *card, struct gb_cuda_queue *queue);

/* The same before something goes, without a word about failures. */
void gb_cuda_queue_drain(
    struct gb_cuda_card *card, struct gb_cuda_queue *queue);

/* An event for waits of streams and of the host. */
enum ggml_status gb_cuda_event_make(
    struct gb_cuda_card *card, gb_cuda_event *event);

/* Have the host wait for what EVENT was last recorded behind. */
enum ggml_status gb_cuda_event_await(
    struct gb_cuda_card *card, gb_cuda_event event);

#endif
