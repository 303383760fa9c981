# SPDX-License-Identifier: MIT
# The Vulkan backend: host code in C over the system's loader, and shaders, which are
# data for the C compiler.

vulkan_host_sources = \
	%D%/device/backend.c \
	%D%/device/buffer.c \
	%D%/device/buffer.h \
	%D%/device/cache.c \
	%D%/device/cache.h \
	%D%/device/cachefile.c \
	%D%/device/cachefile.h \
	%D%/device/card.c \
	%D%/device/card.h \
	%D%/device/compilers.c \
	%D%/device/compilers.h \
	%D%/device/context.c \
	%D%/device/context.h \
	%D%/device/device.c \
	%D%/device/device.h \
	%D%/device/estimate.c \
	%D%/device/estimate.h \
	%D%/device/event.c \
	%D%/device/event.h \
	%D%/device/extensions.c \
	%D%/device/extensions.h \
	%D%/device/features.c \
	%D%/device/features.h \
	%D%/device/instance.c \
	%D%/device/instance.h \
	%D%/device/layout.c \
	%D%/device/layout.h \
	%D%/device/limits.c \
	%D%/device/limits.h \
	%D%/device/list.c \
	%D%/device/list.h \
	%D%/device/matrices.c \
	%D%/device/matrices.h \
	%D%/device/memory.c \
	%D%/device/memory.h \
	%D%/device/pinned.c \
	%D%/device/pinned.h \
	%D%/device/pipeline.c \
	%D%/device/pipeline.h \
	%D%/device/plan.c \
	%D%/device/plan.h \
	%D%/device/recorder.c \
	%D%/device/recorder.h \
	%D%/device/recording.c \
	%D%/device/recording.h \
	%D%/device/reg.c \
	%D%/device/reg.h \
	%D%/device/settings.c \
	%D%/device/settings.h \
	%D%/device/span.h \
	%D%/device/submit.c \
	%D%/device/tables.c \
	%D%/device/tables.h \
	%D%/device/transfer.c \
	%D%/device/transfer.h \
	%D%/driver/calls.def \
	%D%/driver/driver.c \
	%D%/driver/driver.h \
	%D%/driver/later.h \
	%D%/driver/result.c \
	%D%/ops/accumulate.c \
	%D%/ops/attention.c \
	%D%/ops/binary.c \
	%D%/ops/collect.c \
	%D%/ops/collect.h \
	%D%/ops/columns.c \
	%D%/ops/concat.c \
	%D%/ops/conv.c \
	%D%/ops/copy.c \
	%D%/ops/emit.h \
	%D%/ops/features.def \
	%D%/ops/formats.c \
	%D%/ops/formats.h \
	%D%/ops/fused.c \
	%D%/ops/fused.h \
	%D%/ops/generate.c \
	%D%/ops/getrows.c \
	%D%/ops/im2col.c \
	%D%/ops/limits.h \
	%D%/ops/loss.c \
	%D%/ops/mask.c \
	%D%/ops/matmul.c \
	%D%/ops/matmul.h \
	%D%/ops/matmulid.c \
	%D%/ops/move.c \
	%D%/ops/move.h \
	%D%/ops/needs.c \
	%D%/ops/norm.c \
	%D%/ops/op.h \
	%D%/ops/optable.c \
	%D%/ops/outprod.c \
	%D%/ops/parts.c \
	%D%/ops/parts.h \
	%D%/ops/pool.c \
	%D%/ops/product.c \
	%D%/ops/quantize.c \
	%D%/ops/quantize.h \
	%D%/ops/recurrent.c \
	%D%/ops/reduce.c \
	%D%/ops/reduce.h \
	%D%/ops/repeat.c \
	%D%/ops/resize.c \
	%D%/ops/rope.c \
	%D%/ops/rope.h \
	%D%/ops/route.c \
	%D%/ops/rows.h \
	%D%/ops/shape.h \
	%D%/ops/slices.c \
	%D%/ops/softmax.c \
	%D%/ops/sort.c \
	%D%/ops/store.c \
	%D%/ops/tables.c \
	%D%/ops/tables.h \
	%D%/ops/unary.c \
	%D%/ops/window.c \
	%D%/shaders.h \
	%D%/shaders/formats.def \
	%D%/shaders/needs.def \
	%D%/shaders/packed.def \
	%D%/shaders/params-accumulate.h \
	%D%/shaders/params-adamw.h \
	%D%/shaders/params-addrelpos.h \
	%D%/shaders/params-arange.h \
	%D%/shaders/params-argmax.h \
	%D%/shaders/params-attention.h \
	%D%/shaders/params-attentionjoin.h \
	%D%/shaders/params-binary.h \
	%D%/shaders/params-columns.h \
	%D%/shaders/params-conv.h \
	%D%/shaders/params-convert.h \
	%D%/shaders/params-diag.h \
	%D%/shaders/params-diagmask.h \
	%D%/shaders/params-experts.h \
	%D%/shaders/params-floats.h \
	%D%/shaders/params-getrows.h \
	%D%/shaders/params-getrowsback.h \
	%D%/shaders/params-groupnorm.h \
	%D%/shaders/params-im2col.h \
	%D%/shaders/params-join.h \
	%D%/shaders/params-joincounts.h \
	%D%/shaders/params-limits.h \
	%D%/shaders/params-linear.h \
	%D%/shaders/params-loss.h \
	%D%/shaders/params-matmul.h \
	%D%/shaders/params-move.h \
	%D%/shaders/params-norm.h \
	%D%/shaders/params-outprod.h \
	%D%/shaders/params-parts.h \
	%D%/shaders/params-pool.h \
	%D%/shaders/params-poolback.h \
	%D%/shaders/params-quantize.h \
	%D%/shaders/params-repeatback.h \
	%D%/shaders/params-rope.h \
	%D%/shaders/params-route.h \
	%D%/shaders/params-slices.h \
	%D%/shaders/params-softmax.h \
	%D%/shaders/params-softmaxback.h \
	%D%/shaders/params-sort.h \
	%D%/shaders/params-ssmconv.h \
	%D%/shaders/params-ssmscan.h \
	%D%/shaders/params-sumrows.h \
	%D%/shaders/params-timestep.h \
	%D%/shaders/params-unary.h \
	%D%/shaders/params-window.h \
	%D%/shaders/params.h \
	%D%/shaders/pipelines.def \
	%D%/shaders/shaders.def \
	%D%/shaders/unary-functions.h

if VULKAN_NO
EXTRA_LTLIBRARIES += %D%/libhost.la
CLEANFILES += %D%/libhost.la
else
noinst_LTLIBRARIES += %D%/libhost.la
endif
backends_vulkan_libhost_la_SOURCES = $(vulkan_host_sources)

# ---- shaders: compiled to SPIR-V, which any driver takes ----

vulkan_glsl = \
	%D%/shaders/accumulate.comp \
	%D%/shaders/adamw.comp \
	%D%/shaders/addrelpos.comp \
	%D%/shaders/arange.comp \
	%D%/shaders/argmax.comp \
	%D%/shaders/attention.comp \
	%D%/shaders/attentioncoop.comp \
	%D%/shaders/attentionjoin.comp \
	%D%/shaders/attentionwide.comp \
	%D%/shaders/binary.comp \
	%D%/shaders/common/dot.glsl \
	%D%/shaders/common/epilogue.glsl \
	%D%/shaders/common/exact.glsl \
	%D%/shaders/common/format.glsl \
	%D%/shaders/common/gemv.glsl \
	%D%/shaders/common/halves.glsl \
	%D%/shaders/common/math.glsl \
	%D%/shaders/common/pack-asym.glsl \
	%D%/shaders/common/pack-iq4xs.glsl \
	%D%/shaders/common/pack-largest.glsl \
	%D%/shaders/common/pack-sym.glsl \
	%D%/shaders/common/pack.glsl \
	%D%/shaders/common/row8.glsl \
	%D%/shaders/common/rows.glsl \
	%D%/shaders/common/search-asym.glsl \
	%D%/shaders/common/search-iq4.glsl \
	%D%/shaders/common/search-sym.glsl \
	%D%/shaders/common/search.glsl \
	%D%/shaders/common/slope.glsl \
	%D%/shaders/common/sort.glsl \
	%D%/shaders/common/team.glsl \
	%D%/shaders/common/tensor.glsl \
	%D%/shaders/common/twofloat.glsl \
	%D%/shaders/common/unary.glsl \
	%D%/shaders/common/unpack-32.glsl \
	%D%/shaders/common/unpack-float.glsl \
	%D%/shaders/common/unpack-iq.glsl \
	%D%/shaders/common/unpack-iq4.glsl \
	%D%/shaders/common/unpack-k.glsl \
	%D%/shaders/common/unpack-tq.glsl \
	%D%/shaders/common/unpack-words.glsl \
	%D%/shaders/common/unpack.glsl \
	%D%/shaders/common/wide8.glsl \
	%D%/shaders/common/wideparts.glsl \
	%D%/shaders/columns.comp \
	%D%/shaders/conv.comp \
	%D%/shaders/convert.comp \
	%D%/shaders/crossentropy.comp \
	%D%/shaders/dequantize.comp \
	%D%/shaders/diag.comp \
	%D%/shaders/diagmask.comp \
	%D%/shaders/experts.comp \
	%D%/shaders/floats.comp \
	%D%/shaders/gemm.comp \
	%D%/shaders/gemmcoop.comp \
	%D%/shaders/gemmdot.comp \
	%D%/shaders/gemv.comp \
	%D%/shaders/gemvwide.comp \
	%D%/shaders/getrows.comp \
	%D%/shaders/getrowsback.comp \
	%D%/shaders/groupnorm.comp \
	%D%/shaders/im2col.comp \
	%D%/shaders/im2colback.comp \
	%D%/shaders/join.comp \
	%D%/shaders/joincounts.comp \
	%D%/shaders/limits.comp \
	%D%/shaders/linear.comp \
	%D%/shaders/mergeruns.comp \
	%D%/shaders/move.comp \
	%D%/shaders/narrow.comp \
	%D%/shaders/narrowattention.comp \
	%D%/shaders/norm.comp \
	%D%/shaders/outprod.comp \
	%D%/shaders/pool.comp \
	%D%/shaders/poolback.comp \
	%D%/shaders/quantize256.comp \
	%D%/shaders/quantize32.comp \
	%D%/shaders/repeatback.comp \
	%D%/shaders/rope.comp \
	%D%/shaders/route.comp \
	%D%/shaders/slices.comp \
	%D%/shaders/softmax.comp \
	%D%/shaders/softmaxback.comp \
	%D%/shaders/sortruns.comp \
	%D%/shaders/ssmconv.comp \
	%D%/shaders/ssmscan.comp \
	%D%/shaders/sumparts.comp \
	%D%/shaders/sumrows.comp \
	%D%/shaders/timestep.comp \
	%D%/shaders/unary.comp \
	%D%/shaders/window.comp
EXTRA_DIST += $(vulkan_glsl)

# A row of shaders.def, "name file defines".
vulkan_row = sed -n \
	's/^GB_VK_SHADER(\([^,]*\), *\([^,]*\), *"\(.*\)")$$/\1 \2 \3/p' \
	'$(srcdir)/%D%/shaders/shaders.def'

if !VULKAN_NO
vulkan_spirv := $(patsubst %,%D%/shaders/%.spv,$(shell $(vulkan_row) | sed 's/ .*//'))
endif
CLEANFILES += %D%/shaders/*.spv %D%/shaders/*.d %D%/shaders/*.row %D%/shaders/rows

if GLSLANG
GB_GLSLC_FLAGS = -V --quiet --target-env vulkan1.2 -I$(srcdir)/%D%/shaders
vulkan_included = $(patsubst %,$(srcdir)/%,$(filter-out %/pipelines.def %/shaders.def, \
	$(filter %D%/shaders/%.def %D%/shaders/%.h %.glsl, $(vulkan_host_sources) $(vulkan_glsl))))
else
# Drivers optimise; here it would unroll loops, and make the module larger.
GB_GLSLC_FLAGS = -O0 --target-env=vulkan1.2 -I$(srcdir)/%D%/shaders
vulkan_depend = -MD -MT $@ -MF $(@:.spv=.d)
-include $(vulkan_spirv:.spv=.d)
endif

# Patterns of files that the compiler cannot make: they are there without a word.
if VULKAN_COOPMAT
vulkan_no_coopmat = -
else
vulkan_no_coopmat = *coop
endif
if VULKAN_DOT
vulkan_no_dot = -
else
vulkan_no_dot = *dot
endif

AM_V_GLSLC = $(am__v_GLSLC_$(V))
am__v_GLSLC_ = $(am__v_GLSLC_$(AM_DEFAULT_VERBOSITY))
am__v_GLSLC_0 = @echo "  GLSLC   " $@;
am__v_GLSLC_1 =

# NAME.row changes when the shader's row does, the compiler or its flags: a new
# shader compiles no others.
%D%/shaders/rows: %D%/shaders/shaders.def Makefile
	@$(MKDIR_P) %D%/shaders && $(vulkan_row) | while read -r name row; do \
	    printf '%s\n' "$$row" '$(GLSLC) $(GB_GLSLC_FLAGS) $(GLSLCFLAGS)' >$@.tmp && \
	    { cmp -s $@.tmp %D%/shaders/$$name.row || \
	        cp $@.tmp %D%/shaders/$$name.row; } || exit 1; \
	done && mv $@.tmp $@
$(vulkan_spirv:.spv=.row): %D%/shaders/rows
	@:

$(vulkan_spirv): %.spv: %.row $(vulkan_included)
	$(AM_V_GLSLC)read -r file defines <$< && \
	    case $$file in $(vulkan_no_coopmat)|$(vulkan_no_dot)) : >$@; exit 0;; esac && \
	    case $$defines in -Os*) defines="$(GLSLC_SMALL)$${defines#-Os}";; esac && \
	    $(GLSLC) $(GB_GLSLC_FLAGS) $(vulkan_depend) $$defines $(GLSLCFLAGS) \
	    -o $@.tmp "$(srcdir)/%D%/shaders/$$file.comp" && mv $@.tmp $@

# What a list of dependencies names may be gone by now.
$(srcdir)/%D%/shaders/%.h: ;
$(srcdir)/%D%/shaders/%.glsl: ;

if !VULKAN_NO
noinst_LTLIBRARIES += %D%/libshaders.la
backends_vulkan_libshaders_la_SOURCES = %D%/shaders.c
backends_vulkan_libshaders_la_CPPFLAGS = $(AM_CPPFLAGS) \
	'-DGB_VK_SHADER_FOLDER="%D%/shaders"'
$(backends_vulkan_libshaders_la_OBJECTS): $(vulkan_spirv)
endif

# ---- the module, or a part of the library ----

if VULKAN_MODULE
module_LTLIBRARIES += %D%/libggml-vulkan.la
backends_vulkan_libggml_vulkan_la_SOURCES = %D%/module.c
backends_vulkan_libggml_vulkan_la_LIBADD = \
	%D%/libhost.la %D%/libshaders.la $(gpu_libraries) $(GB_LIBRARY)
backends_vulkan_libggml_vulkan_la_LDFLAGS = $(CUDA_MODULE_LDFLAGS)
endif

if VULKAN_BUILTIN
builtin_libraries += %D%/libhost.la %D%/libshaders.la
endif
