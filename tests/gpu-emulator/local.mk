# SPDX-License-Identifier: MIT
# An emulated GPU driver under the vendor's names, over the kernels as the host's
# compiler makes them: lanes32/.libs/ or lanes64/.libs/ is put into
# LD_LIBRARY_PATH.  Not installed.
EXTRA_DIST += \
	%D%/bugs-async.cu \
	%D%/bugs-waves.cu \
	%D%/bugs.cu \
	%D%/exports.map \
	%D%/run \
	%D%/values.cu

if GPU_EMULATOR
# How kernels run, which the checker's own test has too.
emulator_run_sources = \
	%D%/async.h \
	%D%/atomic.cpp \
	%D%/block.cpp \
	%D%/block.h \
	%D%/check-shared.cpp \
	%D%/check.cpp \
	%D%/check.h \
	%D%/count.cpp \
	%D%/count.h \
	%D%/device.h \
	%D%/elements.h \
	%D%/emulator.h \
	%D%/fiber.cpp \
	%D%/fiber.h \
	%D%/forbid.h \
	%D%/hooks.cpp \
	%D%/kernels.cpp \
	%D%/late.cpp \
	%D%/matrix-cores.cpp \
	%D%/matrix.cpp \
	%D%/memory.cpp \
	%D%/memory.h \
	%D%/order.h \
	%D%/report.cpp \
	%D%/launch.cpp \
	%D%/shared.cpp \
	%D%/shared.h \
	%D%/stamp.h \
	%D%/tensor-map.h \
	%D%/tma.cpp \
	%D%/warp.cpp \
	%D%/wgmma.cpp
# The entry points, the same for all widths of a warp: under CUDA's names, and once
# more under HIP's, with what differs there.
emulator_cuda_sources = \
	%D%/driver-arch.cpp \
	%D%/driver-current.cpp
emulator_hip_sources = \
	%D%/hip-arch.cpp \
	%D%/hip-current.cpp \
	%D%/hip.cpp \
	%D%/hip.h
emulator_driver_sources = \
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
	%D%/driver-tensor-map.cpp \
	%D%/driver-work.cpp \
	%D%/driver.cpp \
	%D%/driver.h \
	%D%/emulator.h \
	%D%/tensor-map.h
emulator_other_sanitizer = \
	$(if $(findstring -fsanitize,$(CXXFLAGS)),-DGB_EMULATOR_OTHER_SANITIZER)
emulator_cxxflags = -std=c++17 -Wall -Wextra -Wno-psabi -fvisibility=hidden \
	-fno-exceptions -fno-rtti -ffp-contract=off -pthread
# It stays when it is closed: threads and the process's end still come to it.
emulator_ldflags = -shared -no-undefined -version-info 1:0:0 -rpath $(testsdir) \
	-pthread -Wl,-z,nodelete -Wl,--version-script='$(srcdir)/%D%/exports.map'
emulator_hip_ldflags = $(emulator_ldflags:1%=6%)

check_LTLIBRARIES += \
	tests/gpu-emulator/libcublas.la \
	tests/gpu-emulator/libdriver.la \
	tests/gpu-emulator/libdriver-hip.la \
	tests/gpu-emulator/librocblas.la \
	tests/gpu-emulator/lanes32/libamdhip64.la \
	tests/gpu-emulator/lanes32/libcuda.la \
	tests/gpu-emulator/lanes32/libnvidia-ml.la \
	tests/gpu-emulator/lanes32/librun.la \
	tests/gpu-emulator/lanes64/libamdhip64.la \
	tests/gpu-emulator/lanes64/libcuda.la \
	tests/gpu-emulator/lanes64/libnvidia-ml.la \
	tests/gpu-emulator/lanes64/librun.la

# A BLAS under the vendor's name, in a folder of its own: most tests do without.
emulator_blas_sources = \
	%D%/blas-entry.h \
	%D%/blas.c \
	%D%/blas.h \
	%D%/control.h
tests_gpu_emulator_libcublas_la_SOURCES = $(emulator_blas_sources)
tests_gpu_emulator_libcublas_la_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
tests_gpu_emulator_libcublas_la_LDFLAGS = -shared -no-undefined \
	-version-info 13:0:0 -rpath $(testsdir) \
	-Wl,--version-script='$(srcdir)/%D%/exports.map'
tests_gpu_emulator_libcublas_la_LIBADD = -lm
tests_gpu_emulator_librocblas_la_SOURCES = $(emulator_blas_sources) %D%/blas-hip.c
tests_gpu_emulator_librocblas_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_USE_HIP
tests_gpu_emulator_librocblas_la_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
tests_gpu_emulator_librocblas_la_LDFLAGS = -shared -no-undefined \
	-version-info 4:0:0 -rpath $(testsdir) \
	-Wl,--version-script='$(srcdir)/%D%/exports.map'
tests_gpu_emulator_librocblas_la_LIBADD = -lm

tests_gpu_emulator_libdriver_la_SOURCES = $(emulator_driver_sources) $(emulator_cuda_sources)
tests_gpu_emulator_libdriver_la_CXXFLAGS = $(emulator_cxxflags)

tests_gpu_emulator_libdriver_hip_la_SOURCES = $(emulator_driver_sources) $(emulator_hip_sources)
tests_gpu_emulator_libdriver_hip_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_USE_HIP
tests_gpu_emulator_libdriver_hip_la_CXXFLAGS = $(emulator_cxxflags)

tests_gpu_emulator_lanes32_librun_la_SOURCES = $(emulator_run_sources)
tests_gpu_emulator_lanes32_librun_la_CPPFLAGS = $(AM_CPPFLAGS) $(emulator_other_sanitizer) -DGB_WARP=32
tests_gpu_emulator_lanes32_librun_la_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_lanes32_librun_la_LIBADD = $(emulator_kernels32)
tests_gpu_emulator_lanes32_librun_la_DEPENDENCIES = $(emulator_kernels32)
tests_gpu_emulator_lanes32_libcuda_la_SOURCES = %D%/lanes.cpp
tests_gpu_emulator_lanes32_libcuda_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_WARP=32
tests_gpu_emulator_lanes32_libcuda_la_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_lanes32_libcuda_la_LDFLAGS = $(emulator_ldflags)
tests_gpu_emulator_lanes32_libcuda_la_LIBADD = %D%/libdriver.la %D%/lanes32/librun.la
tests_gpu_emulator_lanes32_libamdhip64_la_SOURCES = %D%/lanes.cpp
tests_gpu_emulator_lanes32_libamdhip64_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_WARP=32
tests_gpu_emulator_lanes32_libamdhip64_la_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_lanes32_libamdhip64_la_LDFLAGS = $(emulator_hip_ldflags)
tests_gpu_emulator_lanes32_libamdhip64_la_LIBADD = %D%/libdriver-hip.la %D%/lanes32/librun.la
tests_gpu_emulator_lanes32_libnvidia_ml_la_SOURCES = %D%/nvml.cpp
tests_gpu_emulator_lanes32_libnvidia_ml_la_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_lanes32_libnvidia_ml_la_LDFLAGS = $(emulator_ldflags)

tests_gpu_emulator_lanes64_librun_la_SOURCES = $(emulator_run_sources)
tests_gpu_emulator_lanes64_librun_la_CPPFLAGS = $(AM_CPPFLAGS) $(emulator_other_sanitizer) -DGB_WARP=64
tests_gpu_emulator_lanes64_librun_la_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_lanes64_librun_la_LIBADD = $(emulator_kernels64)
tests_gpu_emulator_lanes64_librun_la_DEPENDENCIES = $(emulator_kernels64)
tests_gpu_emulator_lanes64_libcuda_la_SOURCES = %D%/lanes.cpp
tests_gpu_emulator_lanes64_libcuda_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_WARP=64
tests_gpu_emulator_lanes64_libcuda_la_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_lanes64_libcuda_la_LDFLAGS = $(emulator_ldflags)
tests_gpu_emulator_lanes64_libcuda_la_LIBADD = %D%/libdriver.la %D%/lanes64/librun.la
tests_gpu_emulator_lanes64_libamdhip64_la_SOURCES = %D%/lanes.cpp
tests_gpu_emulator_lanes64_libamdhip64_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_WARP=64
tests_gpu_emulator_lanes64_libamdhip64_la_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_lanes64_libamdhip64_la_LDFLAGS = $(emulator_hip_ldflags)
tests_gpu_emulator_lanes64_libamdhip64_la_LIBADD = %D%/libdriver-hip.la %D%/lanes64/librun.la
tests_gpu_emulator_lanes64_libnvidia_ml_la_SOURCES = %D%/nvml.cpp
tests_gpu_emulator_lanes64_libnvidia_ml_la_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_lanes64_libnvidia_ml_la_LDFLAGS = $(emulator_ldflags)

# HIP's names over whatever libcuda.so.1 there is, the emulated one too, for the
# tests' module.  With CUDA's kernels in this build it has them, and real cards run
# it; else it has the lines that stand for them.
if MODULES
if CUDA_NO
emulator_images = tests/cuda/libimages.la
else
emulator_images = backends/cuda/libimages.la
endif
check_LTLIBRARIES += tests/gpu-emulator/hip-on-cuda/libamdhip64.la
tests_gpu_emulator_hip_on_cuda_libamdhip64_la_SOURCES = \
	%D%/hip-on-cuda.cpp \
	%D%/hip.cpp \
	%D%/hip.h
tests_gpu_emulator_hip_on_cuda_libamdhip64_la_CPPFLAGS = $(AM_CPPFLAGS) -DGB_USE_HIP
tests_gpu_emulator_hip_on_cuda_libamdhip64_la_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_hip_on_cuda_libamdhip64_la_LDFLAGS = $(emulator_hip_ldflags)
tests_gpu_emulator_hip_on_cuda_libamdhip64_la_LIBADD = $(emulator_images)
endif

# Each access to memory calls a hook of the emulator's, by the compiler's means for
# finding races of threads; another sanitizer takes the place of that.  What a kernel
# takes is those calls, and optimising more costs the compiler twice the time.
emulator_hooks = $(if $(findstring -fsanitize,$(CXXFLAGS)),, \
	-fsanitize=thread -fsanitize=alignment)
EMULATOR_KERNEL = $(MKDIR_P) $(@D) && \
	$(LIBTOOL) $(AM_V_lt) --tag=CXX --mode=compile $(CXX) $(DEFS) $(AM_CPPFLAGS) \
	$(CPPFLAGS) -DGB_EMULATOR $(emulator_cxxflags) -Wno-unknown-pragmas \
	$(CXXFLAGS) -O1 -g1 $(emulator_hooks) -MD -MP -MF $(@:.lo=.d) -MT $@

emulator_kernels32 = $(GB_KERNEL_FILES:%=%D%/lanes32/kernels/%.lo)
%D%/lanes32/kernels/%.lo: backends/cuda/kernels/%.cu
	$(AM_V_CXX)$(EMULATOR_KERNEL) -DGB_WARP=32 -c -o $@ -x c++ $<
%D%/lanes32/bugs.lo: %D%/bugs.cu
	$(AM_V_CXX)$(EMULATOR_KERNEL) -DGB_WARP=32 -c -o $@ -x c++ $<
%D%/lanes32/bugs-async.lo: %D%/bugs-async.cu
	$(AM_V_CXX)$(EMULATOR_KERNEL) -DGB_WARP=32 -c -o $@ -x c++ $<
%D%/lanes32/bugs-waves.lo: %D%/bugs-waves.cu
	$(AM_V_CXX)$(EMULATOR_KERNEL) -DGB_WARP=32 -c -o $@ -x c++ $<
%D%/lanes32/values.lo: %D%/values.cu
	$(AM_V_CXX)$(EMULATOR_KERNEL) -DGB_WARP=32 -c -o $@ -x c++ $<
-include $(emulator_kernels32:.lo=.d) %D%/lanes32/bugs.d %D%/lanes32/bugs-async.d \
	%D%/lanes32/bugs-waves.d %D%/lanes32/values.d

emulator_kernels64 = $(GB_KERNEL_FILES:%=%D%/lanes64/kernels/%.lo)
%D%/lanes64/kernels/%.lo: backends/cuda/kernels/%.cu
	$(AM_V_CXX)$(EMULATOR_KERNEL) -DGB_WARP=64 -c -o $@ -x c++ $<
%D%/lanes64/bugs.lo: %D%/bugs.cu
	$(AM_V_CXX)$(EMULATOR_KERNEL) -DGB_WARP=64 -c -o $@ -x c++ $<
%D%/lanes64/bugs-async.lo: %D%/bugs-async.cu
	$(AM_V_CXX)$(EMULATOR_KERNEL) -DGB_WARP=64 -c -o $@ -x c++ $<
%D%/lanes64/bugs-waves.lo: %D%/bugs-waves.cu
	$(AM_V_CXX)$(EMULATOR_KERNEL) -DGB_WARP=64 -c -o $@ -x c++ $<
%D%/lanes64/values.lo: %D%/values.cu
	$(AM_V_CXX)$(EMULATOR_KERNEL) -DGB_WARP=64 -c -o $@ -x c++ $<
-include $(emulator_kernels64:.lo=.d) %D%/lanes64/bugs.d %D%/lanes64/bugs-async.d \
	%D%/lanes64/bugs-waves.d %D%/lanes64/values.d

check_PROGRAMS += \
	tests/gpu-emulator/cards \
	tests/gpu-emulator/checker-32 \
	tests/gpu-emulator/checker-64 \
	tests/gpu-emulator/contexts \
	tests/gpu-emulator/copies \
	tests/gpu-emulator/counts \
	tests/gpu-emulator/events \
	tests/gpu-emulator/failures \
	tests/gpu-emulator/graphs \
	tests/gpu-emulator/kernels \
	tests/gpu-emulator/maps \
	tests/gpu-emulator/memory \
	tests/gpu-emulator/nvml \
	tests/gpu-emulator/threads \
	tests/gpu-emulator/values-32 \
	tests/gpu-emulator/values-64

# Is each planted fault found?
tests_gpu_emulator_checker_32_SOURCES = %D%/bugs.h %D%/checker.cpp
tests_gpu_emulator_checker_32_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_WARP=32
tests_gpu_emulator_checker_32_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_checker_32_LDADD = %D%/lanes32/librun.la \
	%D%/lanes32/bugs.lo %D%/lanes32/bugs-async.lo \
	%D%/lanes32/bugs-waves.lo $(CMOCKA_LIBS)
tests_gpu_emulator_checker_64_SOURCES = %D%/bugs.h %D%/checker.cpp
tests_gpu_emulator_checker_64_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_WARP=64
tests_gpu_emulator_checker_64_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_checker_64_LDADD = %D%/lanes64/librun.la \
	%D%/lanes64/bugs.lo %D%/lanes64/bugs-async.lo \
	%D%/lanes64/bugs-waves.lo $(CMOCKA_LIBS)

# Do the words of device.h give what the vendor says?
emulator_values_run = \
	%D%/values-panels.cpp \
	%D%/values-panels.h \
	%D%/values-run.cpp \
	%D%/values-run.h \
	%D%/values.h
emulator_values = $(emulator_values_run) \
	%D%/values-async.cpp \
	%D%/values-matrix.cpp \
	%D%/values.cpp
tests_gpu_emulator_values_32_SOURCES = $(emulator_values)
tests_gpu_emulator_values_32_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_WARP=32
tests_gpu_emulator_values_32_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_values_32_LDADD = %D%/lanes32/librun.la %D%/lanes32/values.lo $(CMOCKA_LIBS)
tests_gpu_emulator_values_64_SOURCES = $(emulator_values)
tests_gpu_emulator_values_64_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_WARP=64
tests_gpu_emulator_values_64_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_values_64_LDADD = %D%/lanes64/librun.la %D%/lanes64/values.lo $(CMOCKA_LIBS)

# And do NVIDIA's cards at hand give the same?  For make check-gpu alone.
if !CUDA_NO
EXTRA_PROGRAMS += tests/gpu-emulator/values-card
check_gpu_values = tests/gpu-emulator/values-card$(EXEEXT) %D%/values.image
CLEANFILES += $(check_gpu_values) %D%/values.image.d
tests_gpu_emulator_values_card_SOURCES = %D%/values-card.cpp $(emulator_values_run)
tests_gpu_emulator_values_card_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_WARP=32
tests_gpu_emulator_values_card_CXXFLAGS = $(emulator_cxxflags)
tests_gpu_emulator_values_card_LDADD = %D%/lanes32/librun.la %D%/lanes32/values.lo $(CMOCKA_LIBS)
%D%/values.image: %D%/values.cu backends/cuda/compiler
	$(AM_V_NVCC)$(MKDIR_P) $(@D) && $(NVCC) $(GB_NVCC_FLAGS) $(NVCCFLAGS) \
	    -MT $@ -MF $@.d -o $@.tmp $(srcdir)/%D%/values.cu && mv $@.tmp $@
-include %D%/values.image.d
endif

# The driver's behaviour, by programs that open the library.
emulator_open = \
	%D%/open.c \
	%D%/open.h
emulator_add = $(emulator_open) \
	%D%/add.c \
	%D%/add.h
tests_gpu_emulator_cards_SOURCES = %D%/cards.c $(emulator_open)
tests_gpu_emulator_cards_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_cards_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_contexts_SOURCES = %D%/contexts.c $(emulator_open)
tests_gpu_emulator_contexts_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_contexts_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_copies_SOURCES = %D%/copies.c $(emulator_open)
tests_gpu_emulator_copies_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_copies_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_counts_SOURCES = %D%/counts.c $(emulator_add)
tests_gpu_emulator_counts_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_counts_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_events_SOURCES = %D%/events.c $(emulator_open)
tests_gpu_emulator_events_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_events_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_failures_SOURCES = %D%/failures.c $(emulator_open)
tests_gpu_emulator_failures_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_failures_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_graphs_SOURCES = %D%/graphs.c $(emulator_add)
tests_gpu_emulator_graphs_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_graphs_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_kernels_SOURCES = %D%/kernels.c $(emulator_add)
tests_gpu_emulator_kernels_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_kernels_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_maps_SOURCES = %D%/maps.c $(emulator_open)
tests_gpu_emulator_maps_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_maps_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_memory_SOURCES = %D%/memory.c $(emulator_open)
tests_gpu_emulator_memory_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_memory_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_nvml_SOURCES = %D%/nvml.c $(emulator_open)
tests_gpu_emulator_nvml_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_nvml_LDADD = $(CMOCKA_LIBS)
tests_gpu_emulator_threads_SOURCES = %D%/threads.c $(emulator_open)
tests_gpu_emulator_threads_CPPFLAGS = $(TEST_CPPFLAGS)
tests_gpu_emulator_threads_LDADD = $(CMOCKA_LIBS)
endif
