/* SPDX-License-Identifier: MIT */
/*
 * hip/reg.h - the registration of the HIP backend, as others see it.
 *
 * The sources that it shares with CUDA's say gb_cuda_reg (device/reg.h).  They are
 * compiled with names.h, which the makefile makes: all that the linker sees is
 * called gb_hip_ there, so that one library can have both backends.
 */
#ifndef GB_HIP_REG_H
#define GB_HIP_REG_H

#include "ggml-backend-impl.h"

ggml_backend_reg_t gb_hip_reg(void);

#endif
