/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/quantize.c - floats into blocks, and blocks into floats.
 */
#include "backends/cuda/ops/quantize.h"

#include "backends/cuda/kernels/args-quantize.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/formats.h"
#include "backends/cuda/ops/shape.h"

#define THREADS 128 /* of a thread block */

struct conversion {
    enum gb_cuda_kernel kernel;
    int n_blocks; /* that a thread block makes at once; 0: there is no kernel */
};

static const struct conversion quantize[GGML_TYPE_COUNT] = {
#define GB_CUDA_PACKED(TYPE, name, n) \
    [GGML_TYPE_##TYPE] = { GB_CUDA_KERNEL_gb_quantize_##name, n },
#define GB_CUDA_PACKED_BY_TEAM GB_CUDA_PACKED
#include "backends/cuda/kernels/packed.def"
#undef GB_CUDA_PACKED_BY_TEAM
#undef GB_CUDA_PACKED
};

/* A thread has four values. */
static const struct conversion dequantize[GGML_TYPE_COUNT] = {
#define GB_CUDA_FLOATS(TYPE, name, type)
#define GB_CUDA_BLOCKS(TYPE, name) \
    [GGML_TYPE_##TYPE] = { GB_CUDA_KERNEL_gb_dequantize_##name, 1 },
#include "backends/cuda/kernels/formats.def"
#undef GB_CUDA_BLOCKS
#undef GB_CUDA_FLOATS
};

bool
gb_cuda_can_quantize(enum ggml_type type)
{
    return quantize[type].n_blocks > 0;
}

bool
gb_cuda_can_convert_blocks(const struct ggml_tensor *dst,
                           const struct ggml_tensor *src)
{
    const bool is_packing = gb_node_is_float(src->type);
    const struct ggml_tensor *floats = is_packing ? src : dst;
    const struct ggml_tensor *blocks = is_packing ? dst : src;

    if (ggml_nelements(dst) != ggml_nelements(src) ||
        (is_packing ? !gb_cuda_can_quantize(dst->type)
                    : dst->type != GGML_TYPE_F32 ||
                          dequantize[src->type].n_blocks == 0))
        return false;
    return gb_node_has_dense_rows(blocks) && gb_node_has_dense_rows(floats) &&
           gb_node_dense_run(floats) % ggml_blck_size(blocks->type) == 0;
}

/* A tensor of which ne[0] and nb[0] are about blocks. */
static struct gb_cuda_tensor
in_blocks(const struct ggml_tensor *t)
{
    struct gb_cuda_tensor arg = gb_cuda_arg(t);

    arg.ne[0] /= ggml_blck_size(t->type);
    return arg;
}

void
gb_cuda_emit_convert_blocks(struct gb_cuda_emit *emit,
                            const struct ggml_tensor *dst,
                            const struct ggml_tensor *src)
{
    const bool is_packing = gb_node_is_float(src->type);
    const struct conversion *conversion =
        is_packing ? &quantize[dst->type] : &dequantize[src->type];
    const int64_t values = ggml_blck_size(is_packing ? dst->type : src->type);
    const struct gb_cuda_quantize_args args = {
        .dst = is_packing ? in_blocks(dst) : gb_cuda_arg(dst),
        .src = is_packing ? gb_cuda_arg(src) : in_blocks(src),
        .n = ggml_nelements(dst) / values,
        .src_type = is_packing ? (int32_t)gb_cuda_float_of(src->type) : 0,
    };
    const unsigned n_blocks =
        is_packing ? gb_cuda_blocks(args.n, conversion->n_blocks)
                   : gb_cuda_blocks(args.n * (values / 4), THREADS);

    emit->add(emit, conversion->kernel, n_blocks, 0, &args, sizeof(args));
}
