# SPDX-License-Identifier: MIT
# lib/op: what operations there are, and building their nodes.
libcore_la_SOURCES += \
	%D%/arith.c \
	%D%/attention.c \
	%D%/build.c \
	%D%/build.h \
	%D%/conv.c \
	%D%/copy.c \
	%D%/custom.c \
	%D%/diag.c \
	%D%/generate.c \
	%D%/loss.c \
	%D%/matmul.c \
	%D%/norm.c \
	%D%/op.c \
	%D%/op.h \
	%D%/ops.def \
	%D%/pool.c \
	%D%/recurrent.c \
	%D%/reduce.c \
	%D%/resize.c \
	%D%/rope.c \
	%D%/rows.c \
	%D%/softmax.c \
	%D%/sort.c \
	%D%/subview.c \
	%D%/unary.c \
	%D%/unary.def \
	%D%/view.c \
	%D%/window.c
