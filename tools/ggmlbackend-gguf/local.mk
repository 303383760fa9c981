# SPDX-License-Identifier: MIT
# ggmlbackend-gguf: shows, checks and converts files.
bin_PROGRAMS += ggmlbackend-gguf
ggmlbackend_gguf_SOURCES = \
	%D%/check.c \
	%D%/convert.c \
	%D%/main.c \
	%D%/model.c \
	%D%/model.h \
	%D%/options.def \
	%D%/show.c
ggmlbackend_gguf_CPPFLAGS = $(TOOL_CPPFLAGS)
ggmlbackend_gguf_LDADD = $(TOOL_LDADD)
