# SPDX-License-Identifier: MIT
# tests/cuda: the CUDA backend on an emulated driver.  The module for it has the
# host code of the one that is installed; where that has the kernels' code there is a
# line of text, for the emulated driver has the kernels itself.
cuda_scripts = \
	%D%/conformance.sh \
	%D%/counters.sh \
	%D%/module.sh \
	%D%/predictions.sh \
	%D%/resources.sh \
	%D%/signatures.sh \
	%D%/wgmma.sh
check_SCRIPTS += $(cuda_scripts)
EXTRA_DIST += $(cuda_scripts) %D%/cards.sh %D%/counters.tsv \
	%D%/resource-rules.sh %D%/resources.exceptions %D%/same.h

# All cases on the emulated card; on cards at hand.  A backslash at the end of a line
# would be part of what stands between quotes.
gpu_long = %D%/conformance.sh %D%/fuse %D%/inside %D%/model-failures %D%/split \
	tests/hip/conformance.sh tests/hip/inside tests/hip/model-failures
check-gpu-long: all
	GGMLBACKEND_TEST_ALL=1 $(MAKE) check TESTS='$(gpu_long)'
check_gpu_libraries =
check-gpu: all $(check_gpu_libraries) $(check_gpu_values) tests/cuda/card$(EXEEXT)
	top_srcdir='$(srcdir)' top_builddir=. $(SHELL) $(srcdir)/%D%/cards.sh
phony_targets += check-gpu check-gpu-long

# What kernels read, on the emulated card: a table, which is kept, and which
# counters.sh compares.  With GPU_COUNTERS=--full whole matrices, not kept.
gpu-counters: bench/counters$(EXEEXT) bench/traffic$(EXEEXT) $(check_LTLIBRARIES)
	echo '# SPDX-License-Identifier: MIT' >%D%/counters.tmp
	echo "# g++ $$($(CXX) -dumpversion)" >>%D%/counters.tmp
	GGML_BACKEND_PATH='$(abs_builddir)/%D%/.libs/libggml-cuda.so' \
	    $(SHELL) '$(srcdir)/tests/gpu-emulator/run' bench/counters$(EXEEXT) \
	    $(GPU_COUNTERS) >>%D%/counters.tmp
	GGML_BACKEND_PATH='$(abs_builddir)/%D%/.libs/libggml-cuda.so' \
	    $(SHELL) '$(srcdir)/tests/gpu-emulator/run' bench/traffic$(EXEEXT) \
	    >>%D%/counters.tmp
	cat %D%/counters.tmp
	test -n '$(GPU_COUNTERS)' || { \
	    cp %D%/counters.tmp '$(srcdir)/%D%/counters.tsv' && top_srcdir='$(srcdir)' \
	    $(SHELL) '$(srcdir)/build-aux/gpu-predict' --write; }
phony_targets += gpu-counters
CLEANFILES += %D%/counters.tmp

if MODULES
cuda_placeholders = $(GB_CUDA_KERNEL_FILES:%=%D%/images/%.image)
CLEANFILES += $(cuda_placeholders)
$(cuda_placeholders):
	$(AM_V_GEN)$(MKDIR_P) $(@D) && echo 'GB-IMAGE $(basename $(@F))' >$@

check_LTLIBRARIES += %D%/libimages.la %D%/libggml-cuda.la
tests_cuda_libimages_la_SOURCES = backends/cuda/images.c
tests_cuda_libimages_la_CPPFLAGS = $(AM_CPPFLAGS) $(cuda_image_names) \
	'-DGB_IMAGE_FOLDER="%D%/images"' -DGB_IMAGE_COMPILER=0 \
	'-DGB_IMAGE_ARCHS="75 80 86 89 90 90a 100 120 ptx75 ptx90"'
$(tests_cuda_libimages_la_OBJECTS): $(cuda_placeholders)

# Without -rpath libtool would make an archive of it.
tests_cuda_libggml_cuda_la_SOURCES = backends/cuda/module.c
tests_cuda_libggml_cuda_la_LIBADD = \
	backends/cuda/libhost.la %D%/libimages.la $(gpu_libraries) $(GB_LIBRARY)
tests_cuda_libggml_cuda_la_LDFLAGS = $(CUDA_MODULE_LDFLAGS) -rpath $(testsdir)
endif

# White box: what is decided without a card.
check_PROGRAMS += tests/cuda/choices
tests_cuda_choices_SOURCES = %D%/choices.c
tests_cuda_choices_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_choices_LDADD = backends/cuda/libhost.la $(gpu_libraries) $(BLACK_LDADD)

check_PROGRAMS += tests/cuda/blas-shapes
tests_cuda_blas_shapes_SOURCES = %D%/blas-shapes.c
tests_cuda_blas_shapes_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_blas_shapes_LDADD = backends/cuda/libhost.la $(gpu_libraries) $(BLACK_LDADD)

check_PROGRAMS += tests/cuda/parts
tests_cuda_parts_SOURCES = %D%/parts.c
tests_cuda_parts_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_parts_LDADD = backends/cuda/libhost.la $(gpu_libraries) $(BLACK_LDADD)

check_PROGRAMS += tests/cuda/rows
tests_cuda_rows_SOURCES = %D%/rows.c
tests_cuda_rows_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_rows_LDADD = backends/cuda/libhost.la $(gpu_libraries) $(BLACK_LDADD)

# Black box: what a real card and the emulated one run alike.
EXTRA_PROGRAMS += tests/cuda/card
tests_cuda_card_SOURCES = \
	%D%/card.c \
	%D%/card.h \
	%D%/card-devices.c \
	%D%/card-memory.c \
	%D%/card-own.c \
	%D%/card-shared.c
tests_cuda_card_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_card_LDADD = $(BLACK_LDADD)

# Black box: the module on the emulated driver.
if MODULES
if GPU_EMULATOR
check_DATA += bench/counters$(EXEEXT) bench/traffic$(EXEEXT)
cuda_emulated = \
	tests/cuda/emulated.c \
	tests/cuda/emulated.h
cuda_bytes = $(cuda_emulated) \
	tests/cuda/bytes.c \
	tests/cuda/bytes.h
cuda_products = $(cuda_emulated) \
	tests/cuda/products.c \
	tests/cuda/products.h
cuda_scene = $(cuda_emulated) \
	tests/cuda/scene.c \
	tests/cuda/scene.h
check_PROGRAMS += \
	tests/cuda/bad-input \
	tests/cuda/blas \
	tests/cuda/blas-failures \
	tests/cuda/buffers \
	tests/cuda/card \
	tests/cuda/copies \
	tests/cuda/device \
	tests/cuda/drivers \
	tests/cuda/early \
	tests/cuda/edited \
	tests/cuda/extremes \
	tests/cuda/failures \
	tests/cuda/fours \
	tests/cuda/free-memory \
	tests/cuda/fuse \
	tests/cuda/inside \
	tests/cuda/limits \
	tests/cuda/listing \
	tests/cuda/lowering \
	tests/cuda/masks \
	tests/cuda/memory \
	tests/cuda/moved \
	tests/cuda/pairs \
	tests/cuda/plans \
	tests/cuda/range \
	tests/cuda/shapes \
	tests/cuda/split \
	tests/cuda/values
tests_cuda_bad_input_SOURCES = %D%/bad-input.c $(cuda_emulated)
tests_cuda_bad_input_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_bad_input_LDADD = $(BLACK_LDADD)
tests_cuda_blas_SOURCES = %D%/blas.c $(cuda_products)
tests_cuda_blas_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_blas_LDADD = $(BLACK_LDADD) -lm
tests_cuda_blas_failures_SOURCES = %D%/blas-failures.c $(cuda_products)
tests_cuda_blas_failures_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_blas_failures_LDADD = $(BLACK_LDADD) -lm
tests_cuda_buffers_SOURCES = %D%/buffers.c $(cuda_bytes)
tests_cuda_buffers_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_buffers_LDADD = $(BLACK_LDADD)
tests_cuda_copies_SOURCES = %D%/copies.c $(cuda_emulated)
tests_cuda_copies_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_copies_LDADD = $(BLACK_LDADD)
tests_cuda_device_SOURCES = %D%/device.c $(cuda_scene)
tests_cuda_device_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_device_LDADD = $(BLACK_LDADD)
tests_cuda_drivers_SOURCES = %D%/drivers.c $(cuda_emulated)
tests_cuda_drivers_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_drivers_LDADD = $(BLACK_LDADD)
tests_cuda_early_SOURCES = %D%/early.c $(cuda_emulated)
tests_cuda_early_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_early_LDADD = $(BLACK_LDADD)
cuda_edited = $(cuda_emulated) \
	tests/cpu/ops/nodes.h \
	tests/op/edits.c \
	tests/op/edits.h
tests_cuda_edited_SOURCES = %D%/edited.c $(cuda_edited)
tests_cuda_edited_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_edited_LDADD = $(BLACK_LDADD) -lm
tests_cuda_extremes_SOURCES = %D%/extremes.c $(cuda_scene)
tests_cuda_extremes_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_extremes_LDADD = $(BLACK_LDADD) -lm
tests_cuda_failures_SOURCES = %D%/failures.c $(cuda_emulated)
tests_cuda_failures_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_failures_LDADD = $(BLACK_LDADD)
tests_cuda_fours_SOURCES = %D%/fours.c $(cuda_scene)
tests_cuda_fours_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_fours_LDADD = $(BLACK_LDADD) -lm
tests_cuda_free_memory_SOURCES = %D%/free-memory.c $(cuda_emulated)
tests_cuda_free_memory_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_free_memory_LDADD = $(BLACK_LDADD)
tests_cuda_fuse_SOURCES = %D%/fuse.c $(fuse_graphs) $(cuda_emulated)
tests_cuda_fuse_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_fuse_LDADD = backends/cuda/libhost.la $(gpu_libraries) $(BLACK_LDADD)
tests_cuda_inside_SOURCES = %D%/inside.c $(cuda_emulated)
tests_cuda_inside_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_inside_LDADD = $(BLACK_LDADD)
tests_cuda_limits_SOURCES = %D%/limits.c $(cuda_emulated)
tests_cuda_limits_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_limits_LDADD = $(BLACK_LDADD) -lm
tests_cuda_listing_SOURCES = %D%/listing.c $(cuda_emulated)
tests_cuda_listing_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_listing_LDADD = $(BLACK_LDADD)
tests_cuda_lowering_SOURCES = %D%/lowering.c $(cuda_emulated)
tests_cuda_lowering_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_lowering_LDADD = $(BLACK_LDADD) -lm
tests_cuda_masks_SOURCES = %D%/masks.c $(cuda_emulated)
tests_cuda_masks_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_masks_LDADD = $(BLACK_LDADD)
tests_cuda_memory_SOURCES = %D%/memory.c $(cuda_emulated)
tests_cuda_memory_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_memory_LDADD = $(BLACK_LDADD)
tests_cuda_moved_SOURCES = %D%/moved.c $(cuda_emulated)
tests_cuda_moved_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_moved_LDADD = $(BLACK_LDADD) -lm
tests_cuda_pairs_SOURCES = %D%/pairs.c $(cuda_emulated)
tests_cuda_pairs_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_pairs_LDADD = $(BLACK_LDADD)
tests_cuda_plans_SOURCES = %D%/plans.c $(cuda_emulated)
tests_cuda_plans_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_plans_LDADD = $(BLACK_LDADD)
tests_cuda_range_SOURCES = %D%/range.c $(cuda_emulated)
tests_cuda_range_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_range_LDADD = $(BLACK_LDADD)
tests_cuda_shapes_SOURCES = %D%/shapes.c $(cuda_emulated)
tests_cuda_shapes_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_shapes_LDADD = $(BLACK_LDADD)
tests_cuda_split_SOURCES = %D%/split.c $(cuda_emulated)
tests_cuda_split_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_split_LDADD = $(BLACK_LDADD)
tests_cuda_values_SOURCES = %D%/values.c $(cuda_scene)
tests_cuda_values_CPPFLAGS = $(TEST_CPPFLAGS)
tests_cuda_values_LDADD = $(BLACK_LDADD)

if TOOLS
check_PROGRAMS += tests/cuda/timeline
tests_cuda_timeline_SOURCES = %D%/timeline.c $(cuda_emulated) \
	tests/trace/events.c tests/trace/events.h
tests_cuda_timeline_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_cuda_timeline_LDADD = $(BLACK_LDADD) $(JANSSON_LIBS)

# A model, run by the code of ggmlbackend-run.
cuda_tiny_model = \
	tests/cuda/outcome.c \
	tests/cuda/outcome.h \
	tests/cuda/tiny-model.c \
	tests/cuda/tiny-model.h
check_PROGRAMS += \
	tests/cuda/bits \
	tests/cuda/divided \
	tests/cuda/model-failures
tests_cuda_bits_SOURCES = %D%/bits.c %D%/layers.c %D%/layers.h $(cuda_emulated) \
	$(cuda_tiny_model)
tests_cuda_bits_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_cuda_bits_LDADD = libmodel.la libtools.la $(BLACK_LDADD) $(JANSSON_LIBS) -lm
tests_cuda_divided_SOURCES = %D%/divided.c $(cuda_emulated) $(cuda_tiny_model)
tests_cuda_divided_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_cuda_divided_LDADD = libmodel.la libtools.la $(BLACK_LDADD) $(JANSSON_LIBS)
tests_cuda_model_failures_SOURCES = %D%/model-failures.c $(cuda_emulated) \
	$(cuda_tiny_model)
tests_cuda_model_failures_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_cuda_model_failures_LDADD = libmodel.la libtools.la $(BLACK_LDADD) $(JANSSON_LIBS)
endif
endif
endif
