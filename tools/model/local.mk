# SPDX-License-Identifier: MIT
# A GGUF model that runs, tokens in and logits out, for ggmlbackend-run and
# ggmlbackend-bench.
noinst_LTLIBRARIES += libmodel.la
libmodel_la_SOURCES = \
	%D%/arch.c \
	%D%/arch.h \
	%D%/array.c \
	%D%/array.h \
	%D%/device.c \
	%D%/device.h \
	%D%/devices.c \
	%D%/devices.h \
	%D%/divide.c \
	%D%/divide.h \
	%D%/engine.c \
	%D%/engine.h \
	%D%/graph.c \
	%D%/graph.h \
	%D%/keys.c \
	%D%/keys.h \
	%D%/kv-cache.c \
	%D%/kv-cache.h \
	%D%/model.c \
	%D%/model.h \
	%D%/repack.c \
	%D%/repack.h \
	%D%/weights.c \
	%D%/weights.h
libmodel_la_CPPFLAGS = $(TOOL_CPPFLAGS)
