/* SPDX-License-Identifier: MIT */
/*
 * cuda/driver/errors.h - what a driver's results mean.
 */
#ifndef GB_CUDA_DRIVER_ERRORS_H
#define GB_CUDA_DRIVER_ERRORS_H

#include "backends/cuda/driver/driver.h"

enum gb_cuda_call {
#define GB_DRIVER_CALL(need, id, cuda, hip, parameters, arguments) \
    GB_CUDA_CALL_##id,
#include "backends/cuda/driver/driver.def"
#undef GB_DRIVER_CALL
    GB_CUDA_CALL_COUNT
};

/* The driver's name of an entry point: "cuInit". */
const char *gb_cuda_call_name(enum gb_cuda_call call);

/* Where gb_cuda_error has the driver's own words from. */
void gb_cuda_errors_use(const struct gb_cuda_driver *driver);

/*
 * Does RESULT leave the card as it was, so that other calls can succeed?  All
 * other failures stay until the context is gone.
 */
bool gb_cuda_is_harmless(int result);

/*
 * Of calls about a kernel's code: does RESULT say that the card cannot have it,
 * now or ever?
 */
bool gb_cuda_is_misfit(int result);

#endif
