# SPDX-License-Identifier: MIT
# tests/hip: the HIP backend on the emulated run time, as tests/cuda has CUDA's.  Most
# programs are those of tests/cuda, compiled once more.
hip_scripts = \
	%D%/conformance.sh \
	%D%/names.sh \
	%D%/on-cuda.sh \
	%D%/resources.sh \
	%D%/signatures.sh
check_SCRIPTS += $(hip_scripts)
EXTRA_DIST += $(hip_scripts) %D%/resources.exceptions

if MODULES
if GPU_EMULATOR
hip_test_archs = gfx906 gfx90a gfx942 gfx1030 gfx1100 gfx1200
hip_placeholders = $(foreach arch,$(hip_test_archs),$(GB_HIP_KERNEL_FILES:%=%D%/images/$(arch)/%.packed))
CLEANFILES += $(hip_placeholders)
$(hip_placeholders): backends/cuda/pack
	$(AM_V_GEN)$(MKDIR_P) $(@D) && echo 'GB-IMAGE $(basename $(@F))' >$@.tmp && \
	backends/cuda/pack $@.tmp $@ && rm $@.tmp

check_LTLIBRARIES += %D%/libimages.la %D%/libggml-hip.la
tests_hip_libimages_la_SOURCES = backends/cuda/images.c
tests_hip_libimages_la_CPPFLAGS = $(AM_CPPFLAGS) $(hip_cppflags) \
	$(call hip_image_names,$(hip_test_archs)) \
	'-DGB_IMAGE_FOLDER="%D%/images"' '-DGB_IMAGE_ARCHS="$(hip_test_archs)"'
$(tests_hip_libimages_la_OBJECTS): $(hip_placeholders) backends/hip/names.h

tests_hip_libggml_hip_la_SOURCES = backends/cuda/module.c
tests_hip_libggml_hip_la_CPPFLAGS = $(AM_CPPFLAGS) $(hip_cppflags)
$(tests_hip_libggml_hip_la_OBJECTS): backends/hip/names.h
tests_hip_libggml_hip_la_LIBADD = \
	backends/hip/libhost.la %D%/libimages.la $(gpu_libraries) $(GB_LIBRARY)
tests_hip_libggml_hip_la_LDFLAGS = $(CUDA_MODULE_LDFLAGS) -rpath $(testsdir)

# What HIP over CUDA's driver takes, which real cards run too.
check_gpu_libraries += %D%/libggml-hip.la tests/gpu-emulator/hip-on-cuda/libamdhip64.la

# White box: what is decided without a card.
check_PROGRAMS += tests/hip/choices
tests_hip_choices_SOURCES = %D%/choices.c
tests_hip_choices_CPPFLAGS = $(TEST_CPPFLAGS) $(hip_cppflags)
$(tests_hip_choices_OBJECTS): backends/hip/names.h
tests_hip_choices_LDADD = backends/hip/libhost.la $(gpu_libraries) $(BLACK_LDADD)
check_PROGRAMS += tests/hip/packed
tests_hip_packed_SOURCES = %D%/packed.c
tests_hip_packed_CPPFLAGS = $(TEST_CPPFLAGS) $(hip_cppflags)
$(tests_hip_packed_OBJECTS): backends/hip/names.h
tests_hip_packed_LDADD = backends/hip/libhost.la $(gpu_libraries) $(BLACK_LDADD)
EXTRA_tests_hip_packed_DEPENDENCIES = backends/cuda/pack

# Black box: the module on the emulated run time.  Other programs of tests/cuda have
# no twin: drivers' cases are in listing.c, early, wgmma is NVIDIA's, and
# extremes, fuse, masks, range and values are of kernels, which both have alike.
check_PROGRAMS += \
	tests/hip/bad-input \
	tests/hip/beside-cuda \
	tests/hip/blas \
	tests/hip/blas-failures \
	tests/hip/blas-files \
	tests/hip/buffers \
	tests/hip/copies \
	tests/hip/damaged \
	tests/hip/device \
	tests/hip/edited \
	tests/hip/failures \
	tests/hip/free-memory \
	tests/hip/graphs \
	tests/hip/inside \
	tests/hip/limits \
	tests/hip/listing \
	tests/hip/lowering \
	tests/hip/memory \
	tests/hip/moved \
	tests/hip/one-library \
	tests/hip/pairs \
	tests/hip/plans \
	tests/hip/shapes \
	tests/hip/split
tests_hip_damaged_SOURCES = %D%/damaged.c $(cuda_emulated)
tests_hip_damaged_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_damaged_LDADD = $(BLACK_LDADD)
tests_hip_graphs_SOURCES = %D%/graphs.c $(cuda_emulated)
tests_hip_graphs_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_graphs_LDADD = $(BLACK_LDADD)
tests_hip_listing_SOURCES = %D%/listing.c $(cuda_emulated)
tests_hip_listing_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_listing_LDADD = $(BLACK_LDADD)
tests_hip_bad_input_SOURCES = tests/cuda/bad-input.c $(cuda_emulated)
tests_hip_bad_input_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_bad_input_LDADD = $(BLACK_LDADD)
tests_hip_beside_cuda_SOURCES = %D%/beside-cuda.c $(cuda_emulated)
tests_hip_beside_cuda_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_beside_cuda_LDADD = $(BLACK_LDADD)
tests_hip_blas_SOURCES = tests/cuda/blas.c $(cuda_products)
tests_hip_blas_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_blas_LDADD = $(BLACK_LDADD) -lm
tests_hip_blas_failures_SOURCES = tests/cuda/blas-failures.c $(cuda_products)
tests_hip_blas_failures_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_blas_failures_LDADD = $(BLACK_LDADD) -lm
tests_hip_blas_files_SOURCES = %D%/blas-files.c $(cuda_products)
tests_hip_blas_files_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_blas_files_LDADD = $(BLACK_LDADD) -lm
tests_hip_buffers_SOURCES = tests/cuda/buffers.c $(cuda_bytes)
tests_hip_buffers_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_buffers_LDADD = $(BLACK_LDADD)
tests_hip_copies_SOURCES = tests/cuda/copies.c $(cuda_emulated)
tests_hip_copies_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_copies_LDADD = $(BLACK_LDADD)
tests_hip_device_SOURCES = tests/cuda/device.c $(cuda_scene)
tests_hip_device_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_device_LDADD = $(BLACK_LDADD)
tests_hip_edited_SOURCES = tests/cuda/edited.c $(cuda_edited)
tests_hip_edited_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_edited_LDADD = $(BLACK_LDADD) -lm
tests_hip_failures_SOURCES = tests/cuda/failures.c $(cuda_emulated)
tests_hip_failures_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_failures_LDADD = $(BLACK_LDADD)
tests_hip_free_memory_SOURCES = tests/cuda/free-memory.c $(cuda_emulated)
tests_hip_free_memory_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_free_memory_LDADD = $(BLACK_LDADD)
tests_hip_inside_SOURCES = tests/cuda/inside.c $(cuda_emulated)
tests_hip_inside_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_inside_LDADD = $(BLACK_LDADD)
tests_hip_limits_SOURCES = tests/cuda/limits.c $(cuda_emulated)
tests_hip_limits_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_limits_LDADD = $(BLACK_LDADD) -lm
tests_hip_lowering_SOURCES = tests/cuda/lowering.c $(cuda_emulated)
tests_hip_lowering_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_lowering_LDADD = $(BLACK_LDADD) -lm
tests_hip_memory_SOURCES = tests/cuda/memory.c $(cuda_emulated)
tests_hip_memory_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_memory_LDADD = $(BLACK_LDADD)
tests_hip_moved_SOURCES = tests/cuda/moved.c $(cuda_emulated)
tests_hip_moved_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_moved_LDADD = $(BLACK_LDADD) -lm
tests_hip_one_library_SOURCES = %D%/one-library.c $(cuda_emulated)
tests_hip_one_library_CPPFLAGS = $(TEST_CPPFLAGS)
tests_hip_one_library_LDADD = backends/cuda/libhost.la tests/cuda/libimages.la \
	backends/hip/libhost.la %D%/libimages.la $(gpu_libraries) $(BLACK_LDADD)
tests_hip_pairs_SOURCES = tests/cuda/pairs.c $(cuda_emulated)
tests_hip_pairs_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_pairs_LDADD = $(BLACK_LDADD)
tests_hip_plans_SOURCES = tests/cuda/plans.c $(cuda_emulated)
tests_hip_plans_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_plans_LDADD = $(BLACK_LDADD)
tests_hip_shapes_SOURCES = tests/cuda/shapes.c $(cuda_emulated)
tests_hip_shapes_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_shapes_LDADD = $(BLACK_LDADD)
tests_hip_split_SOURCES = tests/cuda/split.c $(cuda_emulated)
tests_hip_split_CPPFLAGS = $(TEST_CPPFLAGS) -DGB_USE_HIP
tests_hip_split_LDADD = $(BLACK_LDADD)

if TOOLS
check_PROGRAMS += \
	tests/hip/bits \
	tests/hip/model-failures \
	tests/hip/timeline
tests_hip_bits_SOURCES = tests/cuda/bits.c tests/cuda/layers.c tests/cuda/layers.h \
	$(cuda_emulated) $(cuda_tiny_model)
tests_hip_bits_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS) -DGB_USE_HIP
tests_hip_bits_LDADD = libmodel.la libtools.la $(BLACK_LDADD) $(JANSSON_LIBS) -lm
tests_hip_model_failures_SOURCES = tests/cuda/model-failures.c $(cuda_emulated) \
	$(cuda_tiny_model)
tests_hip_model_failures_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS) -DGB_USE_HIP
tests_hip_model_failures_LDADD = libmodel.la libtools.la $(BLACK_LDADD) $(JANSSON_LIBS)
tests_hip_timeline_SOURCES = tests/cuda/timeline.c $(cuda_emulated) \
	tests/trace/events.c tests/trace/events.h
tests_hip_timeline_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS) -DGB_USE_HIP
tests_hip_timeline_LDADD = $(BLACK_LDADD) $(JANSSON_LIBS)
endif
endif
endif
