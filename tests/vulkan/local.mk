# SPDX-License-Identifier: MIT
# tests/vulkan: the Vulkan backend on lavapipe, Mesa's driver for the CPU, where that
# is installed (Debian: mesa-vulkan-drivers), and under the validation layer, where
# that is (vulkan-validationlayers).
vulkan_scripts = \
	%D%/blocks.sh \
	%D%/conformance.sh \
	%D%/cut.sh \
	%D%/devices.sh \
	%D%/duplicates.sh \
	%D%/edited.sh \
	%D%/functions.sh \
	%D%/fuse.sh \
	%D%/listing.sh \
	%D%/memory.sh \
	%D%/model.sh \
	%D%/module.sh \
	%D%/pipelines.sh \
	%D%/ranges.sh \
	%D%/recording.sh \
	%D%/report.sh \
	%D%/shaders.sh \
	%D%/shim.sh
check_SCRIPTS += $(vulkan_scripts)
EXTRA_DIST += $(vulkan_scripts) %D%/assisted.sh %D%/coopmat.sh %D%/lavapipe.sh %D%/spirv.awk

# Cooperative matrices, on a lavapipe of its own in the folder COOPMAT.
COOPMAT = coopmat
check-vulkan-coopmat: all tests/vulkan/functions-cases$(EXEEXT) \
		tests/vulkan/ranges-cases$(EXEEXT)
	top_srcdir='$(srcdir)' top_builddir=. $(SHELL) $(srcdir)/%D%/coopmat.sh '$(COOPMAT)'
phony_targets += check-vulkan-coopmat

# NAME.sh runs NAME-cases: a script and a program of one name would have one log, and
# but one of them would run.

# On the device that blocks.sh brings.
check_PROGRAMS += tests/vulkan/blocks-cases
tests_vulkan_blocks_cases_SOURCES = %D%/blocks.c
tests_vulkan_blocks_cases_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_blocks_cases_LDADD = $(BLACK_LDADD) -lm

check_PROGRAMS += tests/vulkan/cachefile
tests_vulkan_cachefile_SOURCES = %D%/cachefile.c backends/vulkan/device/cachefile.c
tests_vulkan_cachefile_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_cachefile_LDADD = $(BLACK_LDADD)

# On the device that cut.sh brings.
check_PROGRAMS += tests/vulkan/cut-cases
tests_vulkan_cut_cases_SOURCES = %D%/cut.c %D%/one-node.c %D%/one-node.h
tests_vulkan_cut_cases_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_cut_cases_LDADD = $(BLACK_LDADD)

# On the device that devices.sh brings.
check_PROGRAMS += tests/vulkan/device
tests_vulkan_device_SOURCES = %D%/device.c
tests_vulkan_device_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_device_LDADD = $(BLACK_LDADD)

# On the device that edited.sh brings.
check_PROGRAMS += tests/vulkan/edited-cases
tests_vulkan_edited_cases_SOURCES = %D%/edited.c
tests_vulkan_edited_cases_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_edited_cases_LDADD = $(BLACK_LDADD)

check_PROGRAMS += tests/vulkan/estimate
tests_vulkan_estimate_SOURCES = %D%/estimate.c backends/vulkan/device/estimate.c
tests_vulkan_estimate_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_estimate_LDADD = $(BLACK_LDADD)

# On the device that functions.sh brings.
check_PROGRAMS += tests/vulkan/functions-cases
tests_vulkan_functions_cases_SOURCES = %D%/functions.c
tests_vulkan_functions_cases_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_functions_cases_LDADD = $(BLACK_LDADD) -lm

# On the device that fuse.sh brings.
check_PROGRAMS += tests/vulkan/fuse-cases
tests_vulkan_fuse_cases_SOURCES = %D%/fuse.c $(fuse_graphs)
tests_vulkan_fuse_cases_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_fuse_cases_LDADD = $(BLACK_LDADD)

# Of the rows of operations alone.
if !VULKAN_NO
check_PROGRAMS += tests/vulkan/groups
tests_vulkan_groups_SOURCES = %D%/groups.c
tests_vulkan_groups_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_groups_LDADD = backends/vulkan/libhost.la $(gpu_libraries) $(BLACK_LDADD) -lm
endif

# On the device that pipelines.sh brings.
check_PROGRAMS += tests/vulkan/pipelines-cases
tests_vulkan_pipelines_cases_SOURCES = %D%/pipelines.c
tests_vulkan_pipelines_cases_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_pipelines_cases_LDADD = $(BLACK_LDADD) -lm

# On the device that recording.sh brings.
check_PROGRAMS += tests/vulkan/recording-cases
tests_vulkan_recording_cases_SOURCES = %D%/recording.c
tests_vulkan_recording_cases_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_recording_cases_LDADD = $(BLACK_LDADD) -lm

# On the shim, which they open themselves.
if MODULES
if VULKAN_MODULE
vulkan_shimmed = %D%/shimmed.c %D%/shimmed.h
check_PROGRAMS += tests/vulkan/cards
tests_vulkan_cards_SOURCES = %D%/cards.c $(vulkan_shimmed)
tests_vulkan_cards_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_cards_LDADD = $(BLACK_LDADD)
check_PROGRAMS += tests/vulkan/neighbours
tests_vulkan_neighbours_SOURCES = %D%/neighbours.c $(vulkan_shimmed)
tests_vulkan_neighbours_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_neighbours_LDADD = $(BLACK_LDADD)

if TOOLS
check_PROGRAMS += tests/vulkan/model-failures
tests_vulkan_model_failures_SOURCES = %D%/model-failures.c $(vulkan_shimmed) \
	tests/cuda/outcome.c \
	tests/cuda/outcome.h \
	tests/cuda/tiny-model.c \
	tests/cuda/tiny-model.h
tests_vulkan_model_failures_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_vulkan_model_failures_LDADD = libmodel.la libtools.la $(BLACK_LDADD) $(JANSSON_LIBS)
endif
endif
endif

# On the device that ranges.sh brings.
check_PROGRAMS += tests/vulkan/ranges-cases
tests_vulkan_ranges_cases_SOURCES = %D%/ranges.c %D%/one-node.c %D%/one-node.h
tests_vulkan_ranges_cases_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_ranges_cases_LDADD = $(BLACK_LDADD) -lm

# On the device that memory.sh brings.
check_PROGRAMS += tests/vulkan/memory-cases
tests_vulkan_memory_cases_SOURCES = %D%/memory.c
tests_vulkan_memory_cases_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_memory_cases_LDADD = $(BLACK_LDADD)

# White box: without a device.
if !VULKAN_NO
check_PROGRAMS += tests/vulkan/parts
tests_vulkan_parts_SOURCES = %D%/parts.c
tests_vulkan_parts_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_parts_LDADD = backends/vulkan/libhost.la $(gpu_libraries) $(BLACK_LDADD) -lm
endif

# All cases, with each size of subgroups and without each feature; each call that fails;
# GPU-assisted validation; and, where there is clang, the address sanitizer.
vulkan_long = $(vulkan_scripts) %D%/assisted.sh $(filter %D%/cards% %D%/model-failures% \
	%D%/neighbours%,$(check_PROGRAMS))
check-vulkan-long: all
	GGMLBACKEND_TEST_ALL=1 $(MAKE) check TESTS='$(vulkan_long)'
	if command -v clang >/dev/null; then $(SHELL) '$(srcdir)/build-aux/check-vulkan-asan'; fi
phony_targets += check-vulkan-long

# What lavapipe made of shaders, which takes a minute where it is not kept.
mostlyclean-local:
	rm -rf %D%/cache
