# SPDX-License-Identifier: MIT
# ggmlbackend-gguf: shows, checks and converts files.
bin_PROGRAMS += ggmlbackend-gguf
ggmlbackend_gguf_SOURCES = \
	%D%/check.c \
	%D%/convert.c \
	%D%/held.c \
	%D%/held.h \
	%D%/main.c \
	%D%/model.c \
	%D%/model.h \
	%D%/options.def \
	%D%/show.c \
	%D%/types.c \
	%D%/types.h
ggmlbackend_gguf_CPPFLAGS = $(TOOL_CPPFLAGS)
ggmlbackend_gguf_LDADD = $(TOOL_LDADD)
