/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/check.h - calls of the driver, with their failures told.
 */
#ifndef GB_CUDA_DEVICE_CHECK_H
#define GB_CUDA_DEVICE_CHECK_H

#include "backends/cuda/device/card.h"
#include "backends/cuda/driver/errors.h"

#include "ggmlbackend.h"

/*
 * The status of the call that gave RESULT.  A failure is logged with the call's
 * name, and has the card failed unless it left the card as it was.
 */
enum ggml_status gb_cuda_check(
    struct gb_cuda_card *card, int result, enum gb_cuda_call call);

/* The same where something is given back: a warning, and no more. */
void gb_cuda_check_cleanup(
    struct gb_cuda_card *card, int result, enum gb_cuda_call call);

/* GB_CUDA(card, stream_create, (&stream, flags)) */
#define GB_CUDA(card, id, arguments) \
    gb_cuda_check(card, (card)->driver->id arguments, GB_CUDA_CALL_##id)

#define GB_CUDA_CLEANUP(card, id, arguments)                    \
    gb_cuda_check_cleanup(card, (card)->driver->id arguments,   \
                          GB_CUDA_CALL_##id)

/* Returns the status of a call, unless it is success. */
#define GB_CUDA_TRY(card, id, arguments)                                  \
    do {                                                                  \
        const enum ggml_status gb_status = GB_CUDA(card, id, arguments);  \
                                                                          \
        if (gb_status != GGML_STATUS_SUCCESS)                             \
            return gb_status;                                             \
    } while (0)

#endif
