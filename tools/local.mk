# SPDX-License-Identifier: MIT
# Programs that are installed.
TOOL_CPPFLAGS = $(AM_CPPFLAGS) $(PCRE2_CFLAGS) $(JANSSON_CFLAGS)
TOOL_LDADD = libtools.la $(GB_LIBRARY) $(JANSSON_LIBS)

if TOOLS
include tools/common/local.mk
include tools/model/local.mk
include tools/ggmlbackend-run/local.mk
include tools/ggmlbackend-bench/local.mk
include tools/ggmlbackend-info/local.mk
include tools/ggmlbackend-gguf/local.mk
include tools/ggmlbackend-conformance/local.mk
endif
