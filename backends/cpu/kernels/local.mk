# SPDX-License-Identifier: MIT
# backends/cpu/kernels: inner loops, in the groups of kernels/api/variant.h.
libcpu_la_SOURCES += \
	%D%/api/attention.h \
	%D%/api/divide.h \
	%D%/api/format.h \
	%D%/api/gemm.h \
	%D%/api/kernels.def \
	%D%/api/kernels.h \
	%D%/api/micro-kernels.def \
	%D%/api/packing.h \
	%D%/api/repacked.h \
	%D%/api/scores.h \
	%D%/api/variant-name.h \
	%D%/api/variant.h

cpu_floats_sources += \
	%D%/attention/decode.c \
	%D%/attention/prefill.c \
	%D%/elementwise/arith.c \
	%D%/elementwise/convert.c \
	%D%/elementwise/optimize.c \
	%D%/elementwise/recurrent.c \
	%D%/elementwise/reduce.c \
	%D%/elementwise/rope.c \
	%D%/elementwise/softmax.c \
	%D%/elementwise/transpose.c \
	%D%/elementwise/unary.c \
	%D%/format/floats.c \
	%D%/format/quantize.c \
	%D%/gemm/skinny-float.c

cpu_pairs_sources += \
	%D%/gemm/float-blocking.c \
	%D%/gemm/float.c \
	%D%/gemm/pack-floats.c \
	%D%/gemm/pairs-speed.c

cpu_bytes_sources += \
	%D%/format/q2k-q3k.c \
	%D%/format/q4k-q5k.c \
	%D%/format/q5.c \
	%D%/format/q6k.c \
	%D%/format/q8.c \
	%D%/format/q8k.c \
	%D%/format/ternary.c \
	%D%/format/unpack.c \
	%D%/gemm/int8.c \
	%D%/gemm/pack-activations.c \
	%D%/gemm/pack-panels.c \
	%D%/gemm/pack-super-blocks.c \
	%D%/gemm/skinny-int8.c

cpu_shuffles_sources += \
	%D%/format/iq1.c \
	%D%/format/iq2.c \
	%D%/format/iq3.c \
	%D%/format/iq4.c \
	%D%/format/q4.c

cpu_tiles_sources += \
	%D%/gemm/tiles.c

cpu_variant_sources += \
	%D%/api/prototypes.h \
	%D%/elementwise/long-sum.h \
	%D%/elementwise/map.h \
	%D%/format/bits.h \
	%D%/format/codebook.h \
	%D%/format/float-types.h \
	%D%/format/format-kernels.h \
	%D%/format/formats.c \
	%D%/format/formats.def \
	%D%/format/formats.h \
	%D%/format/gemv.h \
	%D%/format/interleave.h \
	%D%/format/reader.h \
	%D%/format/repacked.def \
	%D%/format/repacked.h \
	%D%/format/windows.h \
	%D%/gemm/dispatch.c \
	%D%/gemm/float.h \
	%D%/gemm/int8.h \
	%D%/gemm/pack.h \
	%D%/gemm/panel.h \
	%D%/gemm/q8.h \
	%D%/gemm/tiles.h \
	%D%/table.c
