# SPDX-License-Identifier: MIT
# The CPU backend.  kernels/ is built once a level: the same files, another
# -DGB_LEVEL and other flags.
noinst_LTLIBRARIES += libcpu.la
libcpu_la_SOURCES =
libcpu_la_LIBADD = libcpu_generic.la
cpu_kernel_sources =

include backends/cpu/api/local.mk
include backends/cpu/device/local.mk
include backends/cpu/isa/local.mk
include backends/cpu/kernels/local.mk
include backends/cpu/ops/local.mk
include backends/cpu/plan/local.mk
include backends/cpu/pool/local.mk
include backends/cpu/simd/local.mk

noinst_LTLIBRARIES += libcpu_generic.la
libcpu_generic_la_SOURCES = $(cpu_kernel_sources)
libcpu_generic_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_LEVEL=generic -DGB_SIMD_GENERIC
libcpu_generic_la_CFLAGS = $(AM_CFLAGS) $(KERNEL_CFLAGS)

if ISA_AVX2
noinst_LTLIBRARIES += libcpu_avx2.la
libcpu_la_LIBADD += libcpu_avx2.la
libcpu_avx2_la_SOURCES = $(cpu_kernel_sources)
libcpu_avx2_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_LEVEL=avx2 -DGB_SIMD_AVX2
libcpu_avx2_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_AVX2) $(KERNEL_CFLAGS)
endif

if ISA_AVX512
noinst_LTLIBRARIES += libcpu_avx512.la
libcpu_la_LIBADD += libcpu_avx512.la
libcpu_avx512_la_SOURCES = $(cpu_kernel_sources)
libcpu_avx512_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_LEVEL=avx512 -DGB_SIMD_AVX512
libcpu_avx512_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_AVX512) $(KERNEL_CFLAGS)
endif

if ISA_AVX512_VNNI
noinst_LTLIBRARIES += libcpu_avx512_vnni.la
libcpu_la_LIBADD += libcpu_avx512_vnni.la
libcpu_avx512_vnni_la_SOURCES = $(cpu_kernel_sources)
libcpu_avx512_vnni_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_LEVEL=avx512_vnni -DGB_SIMD_AVX512
libcpu_avx512_vnni_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_AVX512_VNNI) $(KERNEL_CFLAGS)
endif

if ISA_AVX512_BF16
noinst_LTLIBRARIES += libcpu_avx512_bf16.la
libcpu_la_LIBADD += libcpu_avx512_bf16.la
libcpu_avx512_bf16_la_SOURCES = $(cpu_kernel_sources)
libcpu_avx512_bf16_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_LEVEL=avx512_bf16 -DGB_SIMD_AVX512
libcpu_avx512_bf16_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_AVX512_BF16) $(KERNEL_CFLAGS)
endif
