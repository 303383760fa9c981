# SPDX-License-Identifier: MIT
# make check: cmocka programs and shell scripts, all of them speak TAP.
testsdir = $(libexecdir)/ggmlbackend/tests

# White-box programs link everything with nothing hidden; black-box programs the
# shared library.  libtestutil has lib/base/mem.c once more, with the hook that
# makes allocations fail: a program that uses the hook gets that one.
if TESTS_CMOCKA

check_LTLIBRARIES += libwhite.la libtestutil.la
libwhite_la_SOURCES =
libwhite_la_LIBADD = $(builtin_libraries)
libtestutil_la_SOURCES = lib/base/mem.c
libtestutil_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_FAULT_INJECTION $(CMOCKA_CFLAGS)

WHITE_LDADD = libtestutil.la libwhite.la $(CMOCKA_LIBS)
BLACK_LDADD = libtestutil.la $(GB_LIBRARY) $(CMOCKA_LIBS)
# Tests find files through the environment, by top_srcdir and top_builddir, so that
# they can be installed; a test that is run by hand looks here.
TEST_CPPFLAGS = \
	$(AM_CPPFLAGS) $(CMOCKA_CFLAGS) -DGB_FAULT_INJECTION \
	'-DTEST_SRCDIR="$(srcdir)"'

include tests/util/local.mk
include tests/data/local.mk
include tests/base/local.mk
include tests/type/local.mk
include tests/tensor/local.mk
include tests/op/local.mk
include tests/graph/local.mk
include tests/gguf/local.mk
include tests/backend/local.mk
include tests/alloc/local.mk
include tests/fuse/local.mk
include tests/node/local.mk
include tests/loader/local.mk
include tests/levels/local.mk
include tests/sched/local.mk
include tests/cpu/local.mk
include tests/sim/local.mk
include tests/gpu-emulator/local.mk
include tests/cuda/local.mk
include tests/hip/local.mk
include tests/vulkan/local.mk
include tests/vulkan/shim/local.mk
include tests/abi/local.mk
include tests/trace/local.mk
include tests/tree/local.mk
include tests/tools/local.mk
include tests/fault/local.mk
include tests/mutation/local.mk
include tests/installed/local.mk
include tests/packaging/local.mk

# The core's programs once more under valgrind, and those about threads alone, for a
# build with -fsanitize=thread.  A child that is born among threads has lost what
# they had, which valgrind counts; and it reads modules itself, and ends over damaged
# ones, which the sanitizers' build loads.
valgrind_programs = $(filter-out tests/gguf/sweep tests/loader/fork tests/loader/mutations \
	tests/loader/sim-%,$(filter \
	tests/base/% tests/tensor/% tests/op/% tests/graph/% tests/gguf/% \
	tests/backend/% tests/alloc/% tests/loader/% tests/levels/%,$(check_PROGRAMS)))
check-valgrind: $(check_LTLIBRARIES) $(valgrind_programs)
	$(MAKE) check TESTS='$(valgrind_programs)' \
	    LOG_COMPILER="$(SHELL) '$(srcdir)/build-aux/run-test' valgrind -q \
	        --error-exitcode=9 --leak-check=full --trace-children=no"

thread_programs = $(filter tests/base/% tests/type/first-use tests/loader/% \
	tests/cpu/threads/% tests/cpu/device/% tests/trace/% tests/sim/% \
	tests/backend/pairs tests/backend/faults tests/sched/%,$(check_PROGRAMS)) \
	fuzz/reentry.sh
check-threads: $(check_LTLIBRARIES) $(thread_programs)
	$(MAKE) check TESTS='$(thread_programs)'

# All cases of each level of the CPU kernels.
check-cpu-long:
	GGMLBACKEND_TEST_ALL=1 $(MAKE) check TESTS=tests/tools/conformance.sh

# The tests of what the compiler made, for a build by another one or with a sanitizer:
# what reads sources, pages and tables finds there what it found before, and scripts
# that compile public headers do so by each compiler at hand.
tests_of_sources = $(filter tests/man/%,$(check_SCRIPTS)) \
	$(filter-out %/objects.sh,$(filter tests/tree/%,$(check_SCRIPTS))) \
	$(addprefix tests/abi/,headers.sh uses.sh warnings.sh) \
	$(addprefix tests/cuda/,predictions.sh resources.sh signatures.sh) \
	$(addprefix tests/hip/,names.sh resources.sh signatures.sh) \
	$(addprefix tests/installed/,list.sh runner.sh) \
	$(addprefix tests/vulkan/,module.sh shaders.sh) \
	tests/op/builders.sh $(filter tests/packaging/%,$(check_SCRIPTS)) \
	tests/tools/options.sh
# Those that take long and read no file of the source but scripts: no tarball has them
# otherwise than the folder that it was made in.
tests_without_sources = \
	tests/cpu/ops/attention \
	tests/cpu/ops/matmul \
	tests/fault/each.sh \
	tests/gguf/sweep \
	tests/tools/conformance.sh \
	tests/vulkan/devices.sh \
	tests/vulkan/model.sh \
	tests/vulkan/pipelines.sh
check-compiled:
	$(MAKE) check TESTS='$(filter-out $(tests_of_sources),$(TESTS))'

# What of the sources the tests run: a table, and pages.
coverage:
	$(SHELL) '$(srcdir)/build-aux/coverage' '$(abs_builddir)/coverage'
coverage-cuda:
	$(SHELL) '$(srcdir)/build-aux/coverage' cuda '$(abs_builddir)/coverage-cuda'

phony_targets += check-compiled check-cpu-long check-faults check-threads check-valgrind \
	coverage coverage-cuda

else

check_SCRIPTS += %D%/cmocka.sh

endif

EXTRA_DIST += %D%/cmocka.sh

include tests/install/local.mk
include tests/man/local.mk
