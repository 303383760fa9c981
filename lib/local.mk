# SPDX-License-Identifier: MIT
# The core, and the library made of it and the built-in backends.
noinst_LTLIBRARIES += libcore.la
libcore_la_SOURCES =
libcore_la_LIBADD =

include lib/base/local.mk
include lib/type/local.mk
include lib/tensor/local.mk
include lib/op/local.mk
include lib/graph/local.mk
include lib/gguf/local.mk
include lib/backend/local.mk
include lib/alloc/local.mk
include lib/copy/local.mk
include lib/loader/local.mk
include lib/trace/local.mk
include lib/sched/local.mk
include lib/levels/local.mk

lib_LTLIBRARIES += libggmlbackend.la
libggmlbackend_la_SOURCES =
libggmlbackend_la_LIBADD = libcore.la libcpu.la
libggmlbackend_la_LDFLAGS = \
	-version-info $(GB_LIBTOOL_VERSION) -no-undefined $(GB_BSYMBOLIC)
EXTRA_libggmlbackend_la_DEPENDENCIES = %D%/libggmlbackend.map
EXTRA_DIST += %D%/libggmlbackend.map
if VERSION_SCRIPT
libggmlbackend_la_LDFLAGS += \
	'-Wl,--version-script=$(srcdir)/%D%/libggmlbackend.map'
else
libggmlbackend_la_LDFLAGS += -export-symbols-regex '^(ggml|gguf)'
endif
