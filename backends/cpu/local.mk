# SPDX-License-Identifier: MIT
# The CPU backend.  kernels/ is built once a variant: the same files, another
# -DGB_VARIANT and other flags.  What a variant has in common with a lesser one
# is taken from there, see kernels/api/variant.h.
noinst_LTLIBRARIES += libcpu.la
libcpu_la_SOURCES =
libcpu_la_LIBADD =
cpu_floats_sources =
cpu_pairs_sources =
cpu_bytes_sources =
cpu_shuffles_sources =
cpu_tiles_sources =
cpu_variant_sources =

include backends/cpu/api/local.mk
include backends/cpu/device/local.mk
include backends/cpu/isa/local.mk
include backends/cpu/kernels/local.mk
include backends/cpu/ops/local.mk
include backends/cpu/plan/local.mk
include backends/cpu/pool/local.mk
include backends/cpu/repack/local.mk
include backends/cpu/simd/local.mk

# The variants themselves: Makefile.am includes what is made of their list.
EXTRA_DIST += %D%/variants.m4 %D%/variants.mk.m4

$(srcdir)/%D%/variants.mk: $(srcdir)/%D%/variants.mk.m4 $(srcdir)/%D%/variants.m4
	$(AM_V_GEN)m4 $(srcdir)/%D%/variants.mk.m4 $(srcdir)/%D%/variants.m4 >$@.new && \
	mv $@.new $@
