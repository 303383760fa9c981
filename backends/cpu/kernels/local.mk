# SPDX-License-Identifier: MIT
# backends/cpu/kernels: inner loops, compiled once a level.
cpu_kernel_sources += \
	%D%/arith.c \
	%D%/attend-few.c \
	%D%/attend.c \
	%D%/block-sum.h \
	%D%/blocks.h \
	%D%/column-few.c \
	%D%/convert.c \
	%D%/dot-iq1.c \
	%D%/dot-iq2.c \
	%D%/dot-iq3.c \
	%D%/dot-iq4.c \
	%D%/dot-q23k.c \
	%D%/dot-q4.c \
	%D%/dot-q45k.c \
	%D%/dot-q5.c \
	%D%/dot-q6k.c \
	%D%/dot-q8.c \
	%D%/dot-real.c \
	%D%/dot-tq.c \
	%D%/few.h \
	%D%/gemm-quads.c \
	%D%/gemm-reals.c \
	%D%/gemm.h \
	%D%/gemm-reals.h \
	%D%/kernels.h \
	%D%/map.h \
	%D%/optimize.c \
	%D%/pack.c \
	%D%/panel.h \
	%D%/product-real.c \
	%D%/product.c \
	%D%/quantize.c \
	%D%/recurrent.c \
	%D%/reduce.c \
	%D%/rope.c \
	%D%/signs.h \
	%D%/softmax.c \
	%D%/table.c \
	%D%/unary.c \
	%D%/vec.c \
	%D%/weights.c \
	%D%/weights.def \
	%D%/weights.h
