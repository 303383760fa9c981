# SPDX-License-Identifier: MIT
# ggmlbackend-info: what is there.
bin_PROGRAMS += ggmlbackend-info
ggmlbackend_info_SOURCES = %D%/main.c %D%/options.def
ggmlbackend_info_CPPFLAGS = $(TOOL_CPPFLAGS)
ggmlbackend_info_LDADD = $(TOOL_LDADD)
