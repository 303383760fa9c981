/* SPDX-License-Identifier: MIT */
/*
 * cpu/device/features.c - ggml_cpu_has_…: one question of the interface a
 * feature.
 *
 * The answers are those of isa/machine.h: what processor and system offer, not
 * what the kernels in use were compiled for.
 */
#include "config.h"

#include "backends/cpu/isa/machine.h"

#include "ggml-cpu.h"

int
ggml_cpu_has_sse3(void)
{
    return gb_cpu_has(GB_CPU_SSE3);
}

int
ggml_cpu_has_ssse3(void)
{
    return gb_cpu_has(GB_CPU_SSSE3);
}

int
ggml_cpu_has_avx(void)
{
    return gb_cpu_has(GB_CPU_AVX);
}

int
ggml_cpu_has_avx_vnni(void)
{
    return gb_cpu_has(GB_CPU_AVX_VNNI);
}

int
ggml_cpu_has_avx2(void)
{
    return gb_cpu_has(GB_CPU_AVX2);
}

int
ggml_cpu_has_f16c(void)
{
    return gb_cpu_has(GB_CPU_F16C);
}

int
ggml_cpu_has_fma(void)
{
    return gb_cpu_has(GB_CPU_FMA);
}

int
ggml_cpu_has_avx512(void)
{
    return gb_cpu_has(GB_CPU_AVX512);
}

int
ggml_cpu_has_avx512_vbmi(void)
{
    return gb_cpu_has(GB_CPU_AVX512_VBMI);
}

int
ggml_cpu_has_avx512_vnni(void)
{
    return gb_cpu_has(GB_CPU_AVX512_VNNI);
}

int
ggml_cpu_has_avx512_bf16(void)
{
    return gb_cpu_has(GB_CPU_AVX512_BF16);
}

int
ggml_cpu_has_amx_int8(void)
{
    return gb_cpu_has(GB_CPU_AMX_INT8);
}

int
ggml_cpu_has_neon(void)
{
    return gb_cpu_has(GB_CPU_NEON);
}

int
ggml_cpu_has_arm_fma(void)
{
    return gb_cpu_has(GB_CPU_ARM_FMA);
}

int
ggml_cpu_has_fp16_va(void)
{
    return gb_cpu_has(GB_CPU_FP16_VA);
}

int
ggml_cpu_has_dotprod(void)
{
    return gb_cpu_has(GB_CPU_DOTPROD);
}

int
ggml_cpu_has_matmul_int8(void)
{
    return gb_cpu_has(GB_CPU_MATMUL_INT8);
}

int
ggml_cpu_has_sve(void)
{
    return gb_cpu_has(GB_CPU_SVE);
}

int
ggml_cpu_get_sve_cnt(void)
{
    return gb_cpu_machine()->sve_bytes;
}

int
ggml_cpu_has_sme(void)
{
    return gb_cpu_has(GB_CPU_SME);
}

int
ggml_cpu_has_riscv_v(void)
{
    return gb_cpu_has(GB_CPU_RISCV_V);
}

int
ggml_cpu_has_vsx(void)
{
    return gb_cpu_has(GB_CPU_VSX);
}

int
ggml_cpu_has_vxe(void)
{
    return gb_cpu_has(GB_CPU_VXE);
}

int
ggml_cpu_has_wasm_simd(void)
{
    return gb_cpu_has(GB_CPU_WASM_SIMD);
}

/* Kernels of another project, which this library does not have. */
int
ggml_cpu_has_llamafile(void)
{
    return 0;
}
