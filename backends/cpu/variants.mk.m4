divert(-1)
changequote([, ])
dnl SPDX-License-Identifier: MIT
dnl How make builds a variant.  Automake wants each library spelled out, so m4 makes
dnl variants.mk of this file and the list: in autogen.sh, and in make when one of them
dnl has changed.  The result is in the tarball.
dnl
dnl Why m4: configure has to read the list as well, a row is a call of a macro for
dnl both, and whoever has autoconf has m4.  A table with a script in awk would need a
dnl parser and a second way into configure.  Rules that configure itself writes
dnl would have to do what automake does: dependencies on headers, dist, libtool.

define([own], [ifelse([$1], [$2], [ \
	$3])])

define([tiles], [ifelse([$1], [], [], [ \
	-DGB_TILES=$1])])

dnl The kernels, but for the groups that are another variant's, and what
dnl tests/cpu/simd has to be compiled with the variant's flags.
define([GB_CPU_VARIANT], [
cpu_$1_flags = $9
if VARIANT_$1
noinst_LTLIBRARIES += libcpu_$1.la
libcpu_la_LIBADD += libcpu_$1.la
libcpu_$1_la_SOURCES =own([$4], [$1], [$(cpu_floats_sources)])dnl
own([$5], [$1], [$(cpu_pairs_sources)])dnl
own([$6], [$1], [$(cpu_bytes_sources)])dnl
own([$7], [$1], [$(cpu_shuffles_sources)])dnl
own([$8], [$1], [$(cpu_tiles_sources)]) \
	$(cpu_variant_sources)
libcpu_$1_la_CPPFLAGS = \
	$(AM_CPPFLAGS) -DGB_VARIANT=$1 -DGB_SIMD_$3 \
	-DGB_FLOATS=$4 -DGB_PAIRS=$5 -DGB_BYTES=$6 -DGB_SHUFFLES=$7[]tiles([$8])
libcpu_$1_la_CFLAGS = $(AM_CFLAGS) $(cpu_$1_flags) $(KERNEL_CFLAGS)

if TESTS_CMOCKA
check_LTLIBRARIES += libsimd_$1.la
simd_levels += libsimd_$1.la
libsimd_$1_la_SOURCES = \
	$(simd_integers_sources)own([$4], [$1], [$(simd_words_sources)])
libsimd_$1_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_VARIANT=$1 -DGB_SIMD_$3[]tiles([$8])
libsimd_$1_la_CFLAGS = $(AM_CFLAGS) $(cpu_$1_flags) $(KERNEL_CFLAGS)
endif
endif
])
divert(0)dnl
# SPDX-License-Identifier: MIT
# Made of variants.m4 by variants.mk.m4: change those.
