/* SPDX-License-Identifier: MIT */
/*
 * cpu/isa/compiled.h - the features that the compiler assumes in the file that
 * includes this.
 *
 * The compiler's flags differ from variant to variant and define these macros;
 * the constant is therefore another one in each.  A variant's table says by it
 * what a machine must have.  In files outside of kernels/ it is the baseline:
 * what any machine has that runs the library at all, whether the system tells
 * or not.
 */
#ifndef GB_CPU_ISA_COMPILED_H
#define GB_CPU_ISA_COMPILED_H

#include "backends/cpu/isa/features.h"

enum {
    GB_CPU_COMPILED = 0
#ifdef __AVX2__
                      | GB_CPU_BIT(GB_CPU_AVX2)
#endif
#ifdef __AVXVNNI__
                      | GB_CPU_BIT(GB_CPU_AVX_VNNI)
#endif
#ifdef __F16C__
                      | GB_CPU_BIT(GB_CPU_F16C)
#endif
#ifdef __FMA__
                      | GB_CPU_BIT(GB_CPU_FMA)
#endif
#ifdef __BMI2__
                      | GB_CPU_BIT(GB_CPU_BMI2)
#endif
#ifdef __AVX512F__
                      | GB_CPU_BIT(GB_CPU_AVX512)
#endif
#ifdef __AVX512VBMI__
                      | GB_CPU_BIT(GB_CPU_AVX512_VBMI)
#endif
#ifdef __AVX512VNNI__
                      | GB_CPU_BIT(GB_CPU_AVX512_VNNI)
#endif
#ifdef __AVX512BF16__
                      | GB_CPU_BIT(GB_CPU_AVX512_BF16)
#endif
#if defined(__AMX_BF16__) || defined(__AMXBF16__) /* clang up to 15 */
                      | GB_CPU_BIT(GB_CPU_AMX_BF16)
#endif
#ifdef __aarch64__
                      | GB_CPU_BIT(GB_CPU_NEON) | GB_CPU_BIT(GB_CPU_ARM_FMA)
#endif
#ifdef __ARM_FEATURE_DOTPROD
                      | GB_CPU_BIT(GB_CPU_DOTPROD)
#endif
#ifdef __ARM_FEATURE_MATMUL_INT8
                      | GB_CPU_BIT(GB_CPU_MATMUL_INT8)
#endif
#ifdef __ARM_FEATURE_SVE
                      | GB_CPU_BIT(GB_CPU_SVE)
#endif
#ifdef __riscv_v
                      | GB_CPU_BIT(GB_CPU_RISCV_V)
#endif
#ifdef __VSX__
                      | GB_CPU_BIT(GB_CPU_VSX)
#endif
#if defined(__s390x__) && defined(__VX__)
                      | GB_CPU_BIT(GB_CPU_VXE)
#endif
#ifdef __wasm_simd128__
                      | GB_CPU_BIT(GB_CPU_WASM_SIMD)
#endif
};

#endif
