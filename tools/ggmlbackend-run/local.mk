# SPDX-License-Identifier: MIT
# Text from a GGUF model.  The model itself, tokens in and logits out, is shared with
# ggmlbackend-bench.
noinst_LTLIBRARIES += librunmodel.la
librunmodel_la_SOURCES = \
	%D%/arch.c \
	%D%/arch.h \
	%D%/array.c \
	%D%/array.h \
	%D%/device.c \
	%D%/device.h \
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
	%D%/weights.c \
	%D%/weights.h
librunmodel_la_CPPFLAGS = $(TOOL_CPPFLAGS)

bin_PROGRAMS += ggmlbackend-run
ggmlbackend_run_SOURCES = \
	%D%/chat.c \
	%D%/chat.h \
	%D%/generate.c \
	%D%/generate.h \
	%D%/main.c \
	%D%/merge.c \
	%D%/merge.h \
	%D%/options.c \
	%D%/options.h \
	%D%/perplexity.c \
	%D%/perplexity.h \
	%D%/pretokenize.c \
	%D%/pretokenize.h \
	%D%/report.c \
	%D%/report.h \
	%D%/sample.c \
	%D%/sample.h \
	%D%/tokenizer-bpe.c \
	%D%/tokenizer-spm.c \
	%D%/tokenizer.c \
	%D%/tokenizer.h \
	%D%/vocab.c \
	%D%/vocab.h
ggmlbackend_run_CPPFLAGS = $(TOOL_CPPFLAGS)
ggmlbackend_run_LDADD = librunmodel.la $(TOOL_LDADD) $(PCRE2_LIBS)
