# SPDX-License-Identifier: MIT
# tests/loader: the registry, and modules.
loader_common = \
	%D%/folder.c \
	%D%/folder.h \
	%D%/in-child.h

check_PROGRAMS += \
	tests/loader/builtin \
	tests/loader/direct \
	tests/loader/direct-vulkan \
	tests/loader/elf \
	tests/loader/fork \
	tests/loader/image \
	tests/loader/members \
	tests/loader/module \
	tests/loader/reentry \
	tests/loader/mutations \
	tests/loader/registry \
	tests/loader/search \
	tests/loader/threads
tests_loader_builtin_SOURCES = %D%/builtin.c $(loader_common) $(backend_fake)
tests_loader_builtin_CPPFLAGS = $(LOADER_CPPFLAGS)
tests_loader_builtin_LDADD = $(WHITE_LDADD)
tests_loader_direct_SOURCES = %D%/direct.c $(loader_common) $(backend_fake)
tests_loader_direct_CPPFLAGS = $(LOADER_CPPFLAGS)
tests_loader_direct_LDADD = $(WHITE_LDADD)
tests_loader_direct_LDFLAGS = -export-dynamic
tests_loader_direct_vulkan_SOURCES = %D%/direct-vulkan.c $(loader_common) \
	$(backend_fake)
tests_loader_direct_vulkan_CPPFLAGS = $(LOADER_CPPFLAGS)
tests_loader_direct_vulkan_LDADD = $(WHITE_LDADD)
tests_loader_direct_vulkan_LDFLAGS = -export-dynamic
tests_loader_elf_SOURCES = %D%/elf.c $(loader_common)
tests_loader_elf_CPPFLAGS = $(LOADER_CPPFLAGS)
tests_loader_elf_LDADD = $(WHITE_LDADD)
tests_loader_fork_SOURCES = %D%/fork.c $(loader_common) $(backend_fake)
tests_loader_fork_CPPFLAGS = $(LOADER_CPPFLAGS)
tests_loader_fork_LDADD = $(WHITE_LDADD)
tests_loader_image_SOURCES = %D%/image.c $(loader_common)
tests_loader_image_CPPFLAGS = $(LOADER_CPPFLAGS)
tests_loader_image_LDADD = $(WHITE_LDADD)
tests_loader_members_SOURCES = %D%/members.c $(loader_common) $(backend_fake)
tests_loader_members_CPPFLAGS = $(LOADER_CPPFLAGS)
tests_loader_members_LDADD = $(WHITE_LDADD)
tests_loader_members_LDFLAGS = -export-dynamic
tests_loader_module_SOURCES = %D%/module.c $(loader_common) $(backend_fake)
tests_loader_module_CPPFLAGS = $(LOADER_CPPFLAGS)
tests_loader_module_LDADD = $(WHITE_LDADD)
tests_loader_module_LDFLAGS = -export-dynamic
tests_loader_mutations_SOURCES = %D%/mutations.c $(loader_common) $(backend_fake)
tests_loader_mutations_CPPFLAGS = $(LOADER_CPPFLAGS)
tests_loader_mutations_LDADD = $(WHITE_LDADD)
tests_loader_mutations_LDFLAGS = -export-dynamic
tests_loader_reentry_SOURCES = %D%/reentry.c $(loader_common) $(backend_fake)
tests_loader_reentry_CPPFLAGS = $(LOADER_CPPFLAGS)
tests_loader_reentry_LDADD = $(WHITE_LDADD)
tests_loader_reentry_LDFLAGS = -export-dynamic
tests_loader_registry_SOURCES = %D%/registry.c $(loader_common) $(backend_fake)
tests_loader_registry_CPPFLAGS = $(LOADER_CPPFLAGS)
tests_loader_registry_LDADD = $(WHITE_LDADD)
tests_loader_search_SOURCES = %D%/search.c $(loader_common) $(backend_fake)
tests_loader_search_CPPFLAGS = $(LOADER_CPPFLAGS)
tests_loader_search_LDADD = $(WHITE_LDADD)
tests_loader_search_LDFLAGS = -export-dynamic
tests_loader_threads_SOURCES = %D%/threads.c $(loader_common) $(backend_fake)
tests_loader_threads_CPPFLAGS = $(LOADER_CPPFLAGS)
tests_loader_threads_LDADD = $(WHITE_LDADD)
tests_loader_threads_LDFLAGS = -export-dynamic

LOADER_CPPFLAGS = $(TEST_CPPFLAGS) \
	'-DTEST_MODULE_DIR="$(abs_builddir)/%D%/modules"'

# Tests with the simulated device once more, with its module instead of the code
# that is linked in.
if MODULES
check_PROGRAMS += \
	tests/loader/sim-cuts \
	tests/loader/sim-device
tests_loader_sim_cuts_SOURCES = \
	tests/sched/cuts.c tests/sched/model.c tests/sched/model.h \
	$(sim_devices) %D%/sim-loaded.c
tests_loader_sim_cuts_CPPFLAGS = $(TEST_CPPFLAGS)
tests_loader_sim_cuts_LDADD = $(BLACK_LDADD)
tests_loader_sim_device_SOURCES = \
	tests/sim/device.c $(sim_devices) %D%/sim-loaded.c
tests_loader_sim_device_CPPFLAGS = $(TEST_CPPFLAGS)
tests_loader_sim_device_LDADD = $(BLACK_LDADD)
endif

include tests/loader/modules/local.mk
