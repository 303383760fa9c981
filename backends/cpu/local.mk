# SPDX-License-Identifier: MIT
# The CPU backend.  kernels/ is built once a variant: the same files, another
# -DGB_VARIANT and other flags.  What a variant has in common with a lesser one
# is taken from there, see kernels/api/variant.h.
noinst_LTLIBRARIES += libcpu.la
libcpu_la_SOURCES =
libcpu_la_LIBADD = libcpu_generic.la
cpu_floats_sources =
cpu_pairs_sources =
cpu_bytes_sources =
cpu_variant_sources =

include backends/cpu/api/local.mk
include backends/cpu/device/local.mk
include backends/cpu/isa/local.mk
include backends/cpu/kernels/local.mk
include backends/cpu/ops/local.mk
include backends/cpu/plan/local.mk
include backends/cpu/pool/local.mk
include backends/cpu/simd/local.mk

noinst_LTLIBRARIES += libcpu_generic.la
libcpu_generic_la_SOURCES = \
	$(cpu_floats_sources) $(cpu_pairs_sources) \
	$(cpu_bytes_sources) $(cpu_variant_sources)
libcpu_generic_la_CPPFLAGS = \
	$(AM_CPPFLAGS) -DGB_VARIANT=generic -DGB_SIMD_GENERIC
libcpu_generic_la_CFLAGS = $(AM_CFLAGS) $(KERNEL_CFLAGS)

if ISA_AVX2
noinst_LTLIBRARIES += libcpu_avx2.la
libcpu_la_LIBADD += libcpu_avx2.la
libcpu_avx2_la_SOURCES = \
	$(cpu_floats_sources) $(cpu_pairs_sources) \
	$(cpu_bytes_sources) $(cpu_variant_sources)
libcpu_avx2_la_CPPFLAGS = \
	$(AM_CPPFLAGS) -DGB_VARIANT=avx2 -DGB_SIMD_AVX2
libcpu_avx2_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_AVX2) $(KERNEL_CFLAGS)
endif

if ISA_AVX2_VNNI
noinst_LTLIBRARIES += libcpu_avx2_vnni.la
libcpu_la_LIBADD += libcpu_avx2_vnni.la
libcpu_avx2_vnni_la_SOURCES = \
	$(cpu_bytes_sources) $(cpu_variant_sources)
libcpu_avx2_vnni_la_CPPFLAGS = \
	$(AM_CPPFLAGS) -DGB_VARIANT=avx2_vnni -DGB_SIMD_AVX2 \
	-DGB_FLOATS=avx2
libcpu_avx2_vnni_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_AVX2_VNNI) $(KERNEL_CFLAGS)
endif

if ISA_AVX512
noinst_LTLIBRARIES += libcpu_avx512.la
libcpu_la_LIBADD += libcpu_avx512.la
libcpu_avx512_la_SOURCES = \
	$(cpu_floats_sources) $(cpu_pairs_sources) \
	$(cpu_bytes_sources) $(cpu_variant_sources)
libcpu_avx512_la_CPPFLAGS = \
	$(AM_CPPFLAGS) -DGB_VARIANT=avx512 -DGB_SIMD_AVX512
libcpu_avx512_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_AVX512) $(KERNEL_CFLAGS)
endif

if ISA_AVX512_VNNI
noinst_LTLIBRARIES += libcpu_avx512_vnni.la
libcpu_la_LIBADD += libcpu_avx512_vnni.la
libcpu_avx512_vnni_la_SOURCES = \
	$(cpu_bytes_sources) $(cpu_variant_sources)
libcpu_avx512_vnni_la_CPPFLAGS = \
	$(AM_CPPFLAGS) -DGB_VARIANT=avx512_vnni -DGB_SIMD_AVX512 \
	-DGB_FLOATS=avx512
libcpu_avx512_vnni_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_AVX512_VNNI) $(KERNEL_CFLAGS)
endif

if ISA_AVX512_BF16
noinst_LTLIBRARIES += libcpu_avx512_bf16.la
libcpu_la_LIBADD += libcpu_avx512_bf16.la
libcpu_avx512_bf16_la_SOURCES = \
	$(cpu_pairs_sources) $(cpu_variant_sources)
libcpu_avx512_bf16_la_CPPFLAGS = \
	$(AM_CPPFLAGS) -DGB_VARIANT=avx512_bf16 -DGB_SIMD_AVX512 \
	-DGB_FLOATS=avx512 -DGB_PAIRS=avx512_bf16 -DGB_BYTES=avx512_vnni
libcpu_avx512_bf16_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_AVX512_BF16) $(KERNEL_CFLAGS)
endif

if ISA_NEON
noinst_LTLIBRARIES += libcpu_neon.la
libcpu_la_LIBADD += libcpu_neon.la
libcpu_neon_la_SOURCES = \
	$(cpu_floats_sources) $(cpu_pairs_sources) \
	$(cpu_bytes_sources) $(cpu_variant_sources)
libcpu_neon_la_CPPFLAGS = \
	$(AM_CPPFLAGS) -DGB_VARIANT=neon -DGB_SIMD_NEON
libcpu_neon_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_NEON) $(KERNEL_CFLAGS)
endif

if ISA_DOTPROD
noinst_LTLIBRARIES += libcpu_dotprod.la
libcpu_la_LIBADD += libcpu_dotprod.la
libcpu_dotprod_la_SOURCES = \
	$(cpu_bytes_sources) $(cpu_variant_sources)
libcpu_dotprod_la_CPPFLAGS = \
	$(AM_CPPFLAGS) -DGB_VARIANT=dotprod -DGB_SIMD_NEON \
	-DGB_FLOATS=neon
libcpu_dotprod_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_DOTPROD) $(KERNEL_CFLAGS)
endif

if ISA_I8MM
noinst_LTLIBRARIES += libcpu_i8mm.la
libcpu_la_LIBADD += libcpu_i8mm.la
libcpu_i8mm_la_SOURCES = \
	$(cpu_bytes_sources) $(cpu_variant_sources)
libcpu_i8mm_la_CPPFLAGS = \
	$(AM_CPPFLAGS) -DGB_VARIANT=i8mm -DGB_SIMD_NEON \
	-DGB_FLOATS=neon
libcpu_i8mm_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_I8MM) $(KERNEL_CFLAGS)
endif

if ISA_SVE
noinst_LTLIBRARIES += libcpu_sve.la
libcpu_la_LIBADD += libcpu_sve.la
libcpu_sve_la_SOURCES = \
	$(cpu_floats_sources) $(cpu_pairs_sources) \
	$(cpu_bytes_sources) $(cpu_variant_sources)
libcpu_sve_la_CPPFLAGS = \
	$(AM_CPPFLAGS) -DGB_VARIANT=sve -DGB_SIMD_NEON
libcpu_sve_la_CFLAGS = $(AM_CFLAGS) $(CFLAGS_SVE) $(KERNEL_CFLAGS)
endif
