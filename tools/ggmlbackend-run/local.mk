# SPDX-License-Identifier: MIT
# ggmlbackend-run: text from a GGUF model.
bin_PROGRAMS += ggmlbackend-run
ggmlbackend_run_SOURCES = \
	%D%/chat.c \
	%D%/chat.h \
	%D%/chat-form.c \
	%D%/chat-form.h \
	%D%/chat-forms.def \
	%D%/chat-templates.def \
	%D%/converse.c \
	%D%/converse.h \
	%D%/generate.c \
	%D%/generate.h \
	%D%/interrupt.c \
	%D%/interrupt.h \
	%D%/main.c \
	%D%/merge.c \
	%D%/merge.h \
	%D%/options.c \
	%D%/options.def \
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
ggmlbackend_run_LDADD = libmodel.la $(TOOL_LDADD) $(PCRE2_LIBS)
