# SPDX-License-Identifier: MIT
# The simulated device, for tests: a library to link in, and a module to load,
# which is installed with the tests alone.
noinst_LTLIBRARIES += libsim.la
libsim_la_SOURCES = \
	%D%/backend.c \
	%D%/buffer.c \
	%D%/config.c \
	%D%/device.c \
	%D%/graph.c \
	%D%/graph.h \
	%D%/members.def \
	%D%/queue.c \
	%D%/queue.h \
	%D%/reg.c \
	%D%/sim.h \
	%D%/state.h

if MODULES
# Without -rpath libtool would make an archive of it.
noinst_LTLIBRARIES += libggml-sim.la
libggml_sim_la_SOURCES = %D%/module.c
libggml_sim_la_LIBADD = libsim.la $(GB_LIBRARY)
libggml_sim_la_LDFLAGS = \
	-module -avoid-version -shared -no-undefined -rpath $(testsdir) \
	-export-symbols-regex '^ggml_backend_(init|score)$$'
endif
