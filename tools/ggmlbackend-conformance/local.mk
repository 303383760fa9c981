# SPDX-License-Identifier: MIT
# ggmlbackend-conformance: operations against a reference.
bin_PROGRAMS += ggmlbackend-conformance
ggmlbackend_conformance_SOURCES = \
	%D%/cases-attention.c \
	%D%/cases-chains.c \
	%D%/cases-copies.c \
	%D%/cases-elements.c \
	%D%/cases-far.c \
	%D%/cases-images.c \
	%D%/cases-layout.c \
	%D%/cases-networks.c \
	%D%/cases-products.c \
	%D%/cases-sequences.c \
	%D%/cases-single.c \
	%D%/cases-types.c \
	%D%/main.c \
	%D%/options.def \
	%D%/reference-elements.c \
	%D%/reference-images.c \
	%D%/reference-layout.c \
	%D%/reference-networks.c \
	%D%/reference-products.c \
	%D%/reference-sequences.c \
	%D%/reference.c \
	%D%/reference.h \
	%D%/suite.c \
	%D%/suite.h \
	%D%/values.c \
	%D%/values.h
ggmlbackend_conformance_CPPFLAGS = $(TOOL_CPPFLAGS)
ggmlbackend_conformance_LDADD = $(TOOL_LDADD)
