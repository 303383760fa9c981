# SPDX-License-Identifier: MIT
# An emulated GPU driver under the vendor's names, over the kernels as the host's
# compiler makes them: lanes32/.libs/ and lanes64/.libs/ are put into
# LD_LIBRARY_PATH.  Not installed.
if GPU_EMULATOR
GB_CUDA_KERNEL_FILES = binary
emulator_sources = \
	%D%/control.h \
	%D%/driver-call.cpp \
	%D%/driver-context.cpp \
	%D%/driver-copy.cpp \
	%D%/driver-device.cpp \
	%D%/driver-error.cpp \
	%D%/driver-graph.cpp \
	%D%/driver-host.cpp \
	%D%/driver-launch.cpp \
	%D%/driver-memory.cpp \
	%D%/driver-module.cpp \
	%D%/driver-queue.cpp \
	%D%/driver-settings.cpp \
	%D%/driver-stream.cpp \
	%D%/driver.cpp \
	%D%/driver.h \
	%D%/emulator.h
emulator_cxxflags = -std=c++17 -Wall -Wextra -fvisibility=hidden \
	-fno-exceptions -fno-rtti -ffp-contract=off -pthread
# It stays when it is closed: threads and exit still come to it.
emulator_ldflags = -shared -no-undefined -version-info 1:0:0 -rpath $(testsdir) \
	-pthread -Wl,-z,nodelete -export-symbols-regex '^(cu[A-Z]|emu_|nvml)'

check_LTLIBRARIES += \
	tests/gpu-emulator/lanes32/libcuda.la \
	tests/gpu-emulator/lanes32/libnvidia-ml.la \
	tests/gpu-emulator/lanes64/libcuda.la \
	tests/gpu-emulator/lanes64/libnvidia-ml.la
tests_gpu_emulator_lanes32_libcuda_la_SOURCES = $(emulator_sources)
tests_gpu_emulator_lanes32_libcuda_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_WARP=32
tests_gpu_emulator_lanes32_libcuda_la_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_lanes32_libcuda_la_LDFLAGS = $(emulator_ldflags)
tests_gpu_emulator_lanes32_libcuda_la_LIBADD = \
	$(GB_CUDA_KERNEL_FILES:%=%D%/lanes32/kernels/%.lo)
tests_gpu_emulator_lanes64_libcuda_la_SOURCES = $(emulator_sources)
tests_gpu_emulator_lanes64_libcuda_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_WARP=64
tests_gpu_emulator_lanes64_libcuda_la_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_lanes64_libcuda_la_LDFLAGS = $(emulator_ldflags)
tests_gpu_emulator_lanes64_libcuda_la_LIBADD = \
	$(GB_CUDA_KERNEL_FILES:%=%D%/lanes64/kernels/%.lo)

tests_gpu_emulator_lanes32_libnvidia_ml_la_SOURCES = %D%/nvml.cpp
tests_gpu_emulator_lanes32_libnvidia_ml_la_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_lanes32_libnvidia_ml_la_LDFLAGS = $(emulator_ldflags)
tests_gpu_emulator_lanes64_libnvidia_ml_la_SOURCES = %D%/nvml.cpp
tests_gpu_emulator_lanes64_libnvidia_ml_la_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_lanes64_libnvidia_ml_la_LDFLAGS = $(emulator_ldflags)

# Each access to memory calls a hook of the emulator's, by the compiler's means for
# finding races of threads; another sanitizer takes the place of that.
emulator_hooks = $(if $(findstring -fsanitize,$(CXXFLAGS)),,-fsanitize=thread)
EMULATOR_KERNEL = $(MKDIR_P) $(@D) && \
	$(LIBTOOL) $(AM_V_lt) --tag=CXX --mode=compile $(CXX) $(DEFS) $(AM_CPPFLAGS) \
	$(CPPFLAGS) -DGB_EMULATOR $(emulator_cxxflags) -Wno-unknown-pragmas \
	$(CXXFLAGS) $(emulator_hooks) -MD -MP -MF $(@:.lo=.d) -MT $@

%D%/lanes32/kernels/%.lo: backends/cuda/kernels/%.cu
	$(AM_V_CXX)$(EMULATOR_KERNEL) -DGB_WARP=32 -c -o $@ -x c++ $<
%D%/lanes64/kernels/%.lo: backends/cuda/kernels/%.cu
	$(AM_V_CXX)$(EMULATOR_KERNEL) -DGB_WARP=64 -c -o $@ -x c++ $<
-include $(GB_CUDA_KERNEL_FILES:%=%D%/lanes32/kernels/%.d)
-include $(GB_CUDA_KERNEL_FILES:%=%D%/lanes64/kernels/%.d)

# Programs open the library by the folder that TEST_BUILDDIR has.
emulator_test = \
	%D%/add.c \
	%D%/add.h \
	%D%/open.c \
	%D%/open.h
check_PROGRAMS += \
	tests/gpu-emulator/cards \
	tests/gpu-emulator/contexts \
	tests/gpu-emulator/copies \
	tests/gpu-emulator/events \
	tests/gpu-emulator/failures \
	tests/gpu-emulator/graphs \
	tests/gpu-emulator/kernels \
	tests/gpu-emulator/memory \
	tests/gpu-emulator/nvml
tests_gpu_emulator_cards_SOURCES = %D%/cards.c $(emulator_test)
tests_gpu_emulator_cards_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_cards_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_contexts_SOURCES = %D%/contexts.c $(emulator_test)
tests_gpu_emulator_contexts_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_contexts_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_copies_SOURCES = %D%/copies.c $(emulator_test)
tests_gpu_emulator_copies_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_copies_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_events_SOURCES = %D%/events.c $(emulator_test)
tests_gpu_emulator_events_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_events_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_failures_SOURCES = %D%/failures.c $(emulator_test)
tests_gpu_emulator_failures_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_failures_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_graphs_SOURCES = %D%/graphs.c $(emulator_test)
tests_gpu_emulator_graphs_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_graphs_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_kernels_SOURCES = %D%/kernels.c $(emulator_test)
tests_gpu_emulator_kernels_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_kernels_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_memory_SOURCES = %D%/memory.c $(emulator_test)
tests_gpu_emulator_memory_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_memory_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_nvml_SOURCES = %D%/nvml.c $(emulator_test)
tests_gpu_emulator_nvml_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_nvml_LDADD = $(CMOCKA_LIBS)
endif

EXTRA_DIST += %D%/run
