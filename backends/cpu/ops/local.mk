# SPDX-License-Identifier: MIT
# cpu/ops: operations over tensors, one file a family.
libcpu_la_SOURCES += \
	%D%/accumulate.c \
	%D%/activations.c \
	%D%/activations.h \
	%D%/arith.c \
	%D%/attention-decode.c \
	%D%/attention-prefill.c \
	%D%/attention.c \
	%D%/attention.h \
	%D%/check.c \
	%D%/check.h \
	%D%/concat.c \
	%D%/conv.c \
	%D%/copy.c \
	%D%/custom.c \
	%D%/generate.c \
	%D%/get-rows.c \
	%D%/im2col.c \
	%D%/line.c \
	%D%/line.h \
	%D%/loss.c \
	%D%/mask.c \
	%D%/matmul-id.c \
	%D%/matmul.c \
	%D%/norm.c \
	%D%/op.h \
	%D%/optable.c \
	%D%/optable.def \
	%D%/out-prod.c \
	%D%/params.h \
	%D%/place.h \
	%D%/pool2d.c \
	%D%/recurrent.c \
	%D%/reduce.c \
	%D%/repeat.c \
	%D%/resize.c \
	%D%/rope.c \
	%D%/rows.h \
	%D%/slope.h \
	%D%/softmax.c \
	%D%/sort.c \
	%D%/unary.c \
	%D%/walk.c \
	%D%/walk.h \
	%D%/window.c
