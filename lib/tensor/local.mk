# SPDX-License-Identifier: MIT
# lib/tensor: contexts and tensors.
libcore_la_SOURCES += \
	%D%/bytes.h \
	%D%/context.c \
	%D%/context.h \
	%D%/name.c \
	%D%/name.h \
	%D%/shape.c \
	%D%/shape.h \
	%D%/size.c \
	%D%/tensor.c \
	%D%/tensor.h \
	%D%/view.c \
	%D%/view.h
