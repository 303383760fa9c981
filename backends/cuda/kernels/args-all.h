/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-all.h - the argument structs of all kernels of kernels.def.
 */
#ifndef GB_CUDA_KERNELS_ARGS_ALL_H
#define GB_CUDA_KERNELS_ARGS_ALL_H

#include "backends/cuda/kernels/args-attention.h"
#include "backends/cuda/kernels/args-binary.h"
#include "backends/cuda/kernels/args-conv.h"
#include "backends/cuda/kernels/args-generate.h"
#include "backends/cuda/kernels/args-getrows.h"
#include "backends/cuda/kernels/args-im2col.h"
#include "backends/cuda/kernels/args-limits.h"
#include "backends/cuda/kernels/args-loss.h"
#include "backends/cuda/kernels/args-mask.h"
#include "backends/cuda/kernels/args-matmul.h"
#include "backends/cuda/kernels/args-move.h"
#include "backends/cuda/kernels/args-norm.h"
#include "backends/cuda/kernels/args-outprod.h"
#include "backends/cuda/kernels/args-pool.h"
#include "backends/cuda/kernels/args-quantize.h"
#include "backends/cuda/kernels/args-recurrent.h"
#include "backends/cuda/kernels/args-reduce.h"
#include "backends/cuda/kernels/args-rope.h"
#include "backends/cuda/kernels/args-route.h"
#include "backends/cuda/kernels/args-slices.h"
#include "backends/cuda/kernels/args-softmax.h"
#include "backends/cuda/kernels/args-sort.h"
#include "backends/cuda/kernels/args-unary.h"
#include "backends/cuda/kernels/args-window.h"

#endif
