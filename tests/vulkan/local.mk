# SPDX-License-Identifier: MIT
# tests/vulkan: the Vulkan backend on lavapipe, Mesa's driver for the CPU, where that
# is installed (Debian: mesa-vulkan-drivers), and under the validation layer, where
# that is (vulkan-validationlayers).
vulkan_scripts = \
	%D%/blocks.sh \
	%D%/conformance.sh \
	%D%/cut.sh \
	%D%/devices.sh \
	%D%/functions.sh \
	%D%/listing.sh \
	%D%/memory.sh \
	%D%/model.sh \
	%D%/module.sh \
	%D%/shaders.sh
check_SCRIPTS += $(vulkan_scripts)
EXTRA_DIST += $(vulkan_scripts) %D%/lavapipe.sh %D%/spirv.awk

# A program is called otherwise than its script: both would have one log, and one of
# them would not run.

# On the device that blocks.sh brings.
check_PROGRAMS += tests/vulkan/run-blocks
tests_vulkan_run_blocks_SOURCES = %D%/blocks.c
tests_vulkan_run_blocks_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_run_blocks_LDADD = $(BLACK_LDADD) -lm

# On the device that cut.sh brings.
check_PROGRAMS += tests/vulkan/run-cut
tests_vulkan_run_cut_SOURCES = %D%/cut.c
tests_vulkan_run_cut_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_run_cut_LDADD = $(BLACK_LDADD)

# On the device that devices.sh brings.
check_PROGRAMS += tests/vulkan/device
tests_vulkan_device_SOURCES = %D%/device.c
tests_vulkan_device_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_device_LDADD = $(BLACK_LDADD)

# On the device that functions.sh brings.
check_PROGRAMS += tests/vulkan/run-functions
tests_vulkan_run_functions_SOURCES = %D%/functions.c
tests_vulkan_run_functions_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_run_functions_LDADD = $(BLACK_LDADD) -lm

# On the device that memory.sh brings.
check_PROGRAMS += tests/vulkan/run-memory
tests_vulkan_run_memory_SOURCES = %D%/memory.c
tests_vulkan_run_memory_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_run_memory_LDADD = $(BLACK_LDADD)

# White box: without a device.
if !VULKAN_NO
check_PROGRAMS += tests/vulkan/parts
tests_vulkan_parts_SOURCES = %D%/parts.c
tests_vulkan_parts_CPPFLAGS = $(TEST_CPPFLAGS)
tests_vulkan_parts_LDADD = backends/vulkan/libhost.la $(BLACK_LDADD) -lm
endif

# What lavapipe made of shaders, which takes a minute where it is not kept.
mostlyclean-local:
	rm -rf %D%/cache
