/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/reg.h - the backend's registration.
 */
#ifndef GB_CUDA_DEVICE_REG_H
#define GB_CUDA_DEVICE_REG_H

#include "ggml-backend-impl.h"

/*
 * The registration, the same each time; NULL, with ggmlbackend_not_here told
 * why, where there is no driver or no card that can be used.  Any thread.
 */
ggml_backend_reg_t gb_cuda_reg(void);

#endif
