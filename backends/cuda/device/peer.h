/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/peer.h - copies from card to card.
 *
 * A pair is used only after a pattern came back right through it, both ways:
 * behind some bridges and in some virtual machines such copies are told to
 * work, and give other bytes.
 */
#ifndef GB_CUDA_DEVICE_PEER_H
#define GB_CUDA_DEVICE_PEER_H

#include "backends/cuda/device/context.h"

/*
 * Can memory be copied between the two cards without the host's?  The first
 * question about a pair tries it.  Any thread.
 */
bool gb_cuda_peer_works(
    const struct gb_cuda_hold *a, const struct gb_cuda_hold *b);

/* A blocking copy; false: not done, as the pair is not to be used. */
bool gb_cuda_peer_copy(
    const struct gb_cuda_hold *to_hold, gb_cuda_address to,
    const struct gb_cuda_hold *from_hold, gb_cuda_address from, size_t size);

#endif
