# SPDX-License-Identifier: MIT
# lib/type: data types and quantised formats.
libcore_la_SOURCES += \
	%D%/blocks.h \
	%D%/format.h \
	%D%/grid-iq1.c \
	%D%/grid-iq1.def \
	%D%/grid-iq2-s.def \
	%D%/grid-iq2-xs.def \
	%D%/grid-iq2-xxs.def \
	%D%/grid-iq2.c \
	%D%/grid-iq3-s.def \
	%D%/grid-iq3-xxs.def \
	%D%/grid-iq3.c \
	%D%/grid-snap.c \
	%D%/grid.c \
	%D%/grid.h \
	%D%/half.c \
	%D%/half.h \
	%D%/iq-signed.c \
	%D%/iq-signed.h \
	%D%/iq.h \
	%D%/iq1.c \
	%D%/iq2.c \
	%D%/iq3.c \
	%D%/iq4.c \
	%D%/iq4.h \
	%D%/k-affine.c \
	%D%/k-affine.h \
	%D%/k-scales.h \
	%D%/pack.h \
	%D%/q2k.c \
	%D%/q3k.c \
	%D%/q4.c \
	%D%/q4k.c \
	%D%/q5.c \
	%D%/q5k.c \
	%D%/q6k.c \
	%D%/q8.c \
	%D%/q8k.c \
	%D%/quantize.c \
	%D%/search.c \
	%D%/search.h \
	%D%/tq.c \
	%D%/type.c \
	%D%/type.def \
	%D%/type.h \
	%D%/validate.c
