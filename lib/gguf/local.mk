# SPDX-License-Identifier: MIT
# lib/gguf: the file format.
libcore_la_SOURCES += \
	%D%/context.c \
	%D%/context.h \
	%D%/index.c \
	%D%/index.h \
	%D%/read.c \
	%D%/source.c \
	%D%/source.h \
	%D%/value.c \
	%D%/write.c
