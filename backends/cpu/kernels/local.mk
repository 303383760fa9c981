# SPDX-License-Identifier: MIT
# backends/cpu/kernels: inner loops, in the groups of isa/level.h.
cpu_floats_sources += \
	%D%/arith.c \
	%D%/attend-few.c \
	%D%/attend.c \
	%D%/convert.c \
	%D%/dot-real.c \
	%D%/few-real.c \
	%D%/optimize.c \
	%D%/quantize-blocks.c \
	%D%/recurrent.c \
	%D%/reduce.c \
	%D%/rope.c \
	%D%/softmax.c \
	%D%/turn.c \
	%D%/unary.c

cpu_pairs_sources += \
	%D%/gemm-reals.c \
	%D%/pack.c \
	%D%/product-real.c

cpu_bytes_sources += \
	%D%/blocks.c \
	%D%/column-few.c \
	%D%/dot-iq4.c \
	%D%/dot-q23k.c \
	%D%/dot-q4.c \
	%D%/dot-q45k.c \
	%D%/dot-q5.c \
	%D%/dot-q6k.c \
	%D%/dot-q8.c \
	%D%/dot-tq.c \
	%D%/gemm-few.c \
	%D%/gemm-quads.c \
	%D%/quantize.c

cpu_level_sources += \
	%D%/block-sum.h \
	%D%/block-weight.h \
	%D%/blocks.h \
	%D%/dot-iq1.c \
	%D%/dot-iq2.c \
	%D%/dot-iq3.c \
	%D%/few.h \
	%D%/gemm.h \
	%D%/gemm-reals.h \
	%D%/kernels.h \
	%D%/map.h \
	%D%/panel.h \
	%D%/product.c \
	%D%/real.h \
	%D%/rows.h \
	%D%/signs.h \
	%D%/table.c \
	%D%/turned.h \
	%D%/weights.c \
	%D%/weights.def \
	%D%/weights.h
