# SPDX-License-Identifier: MIT
# The CUDA backend: host code in C over the vendor's driver, and kernels, which are
# data for the C compiler.  Without the backend tests compile the host code, which they
# run on an emulated driver, with images of nothing.

# kernels/NAME.cu, for each of them; the names are words of C.
GB_KERNEL_FILES = \
	attention \
	attentionprep \
	binary \
	conv \
	gemm \
	gemv \
	generate \
	getrows \
	im2col \
	limits \
	loss \
	mask \
	matrixattention \
	matrixgemm \
	matrixlimits \
	matrixmfma \
	mma8attention \
	mma8decode \
	mma8gemm \
	mmaattention \
	mmagemm \
	move \
	norm \
	outprod \
	pack \
	pool \
	product \
	quantize \
	recurrent \
	reduce \
	rope \
	route \
	slices \
	softmax \
	sort \
	unary \
	wgmmaattention \
	wgmmagemm \
	window

# All of it but what answers for CUDA alone, in whose place backends/hip has its own.
cuda_host_sources = \
	%D%/device/backend.c \
	%D%/device/between.c \
	%D%/device/between.h \
	%D%/device/blas.c \
	%D%/device/blas.h \
	%D%/device/buffer.c \
	%D%/device/buffer.h \
	%D%/device/card.c \
	%D%/device/card.h \
	%D%/device/change.c \
	%D%/device/change.h \
	%D%/device/check.c \
	%D%/device/check.h \
	%D%/device/choose.c \
	%D%/device/context.c \
	%D%/device/context.h \
	%D%/device/device.c \
	%D%/device/device.h \
	%D%/device/emission.c \
	%D%/device/emission.h \
	%D%/device/event.c \
	%D%/device/event.h \
	%D%/device/fillers.c \
	%D%/device/fillers.h \
	%D%/device/graph.c \
	%D%/device/graph.h \
	%D%/device/host-buffer.c \
	%D%/device/image.h \
	%D%/device/kernel.c \
	%D%/device/kernel.h \
	%D%/device/limits.c \
	%D%/device/limits.h \
	%D%/device/live.c \
	%D%/device/live.h \
	%D%/device/peer.c \
	%D%/device/peer.h \
	%D%/device/pinned.c \
	%D%/device/pinned.h \
	%D%/device/plan.c \
	%D%/device/plan.h \
	%D%/device/proc.c \
	%D%/device/proc.h \
	%D%/device/reg.c \
	%D%/device/reg.h \
	%D%/device/ring.c \
	%D%/device/ring.h \
	%D%/device/settings.c \
	%D%/device/settings.h \
	%D%/device/span.h \
	%D%/device/split-buffer.c \
	%D%/device/split-buffer.h \
	%D%/device/split-type.c \
	%D%/device/split.c \
	%D%/device/split.h \
	%D%/device/stage.c \
	%D%/device/stage.h \
	%D%/device/state.c \
	%D%/device/state.h \
	%D%/device/stream.c \
	%D%/device/stream.h \
	%D%/device/transfer.c \
	%D%/device/transfer.h \
	%D%/device/unpack.c \
	%D%/device/unpack.h \
	%D%/driver/blas.c \
	%D%/driver/blas.def \
	%D%/driver/blas.h \
	%D%/driver/driver.c \
	%D%/driver/driver.def \
	%D%/driver/driver.h \
	%D%/driver/errors.c \
	%D%/driver/errors.h \
	%D%/driver/monitor.h \
	%D%/driver/platform.h \
	%D%/images.h \
	%D%/kernels/args-all.h \
	%D%/kernels/args-attention.h \
	%D%/kernels/args-binary.h \
	%D%/kernels/args-conv.h \
	%D%/kernels/args-generate.h \
	%D%/kernels/args-getrows.h \
	%D%/kernels/args-im2col.h \
	%D%/kernels/args-limits.h \
	%D%/kernels/args-loss.h \
	%D%/kernels/args-mask.h \
	%D%/kernels/args-matmul.h \
	%D%/kernels/args-move.h \
	%D%/kernels/args-norm.h \
	%D%/kernels/args-outprod.h \
	%D%/kernels/args-pool.h \
	%D%/kernels/args-quantize.h \
	%D%/kernels/args-recurrent.h \
	%D%/kernels/args-reduce.h \
	%D%/kernels/args-rope.h \
	%D%/kernels/args-route.h \
	%D%/kernels/args-slices.h \
	%D%/kernels/args-softmax.h \
	%D%/kernels/args-sort.h \
	%D%/kernels/args-unary.h \
	%D%/kernels/args-window.h \
	%D%/kernels/args.h \
	%D%/kernels/attention.def \
	%D%/kernels/binary.def \
	%D%/kernels/conv.def \
	%D%/kernels/formats.def \
	%D%/kernels/formats.h \
	%D%/kernels/gemm.def \
	%D%/kernels/gemv.def \
	%D%/kernels/generate.def \
	%D%/kernels/getrows.def \
	%D%/kernels/im2col.def \
	%D%/kernels/kernels.def \
	%D%/kernels/limits.def \
	%D%/kernels/loss.def \
	%D%/kernels/mask.def \
	%D%/kernels/mmagemm.def \
	%D%/kernels/move.def \
	%D%/kernels/norm.def \
	%D%/kernels/outprod.def \
	%D%/kernels/pack.def \
	%D%/kernels/packed.def \
	%D%/kernels/packings.def \
	%D%/kernels/pool.def \
	%D%/kernels/product.def \
	%D%/kernels/quantize.def \
	%D%/kernels/recurrent.def \
	%D%/kernels/reduce.def \
	%D%/kernels/rope.def \
	%D%/kernels/route.def \
	%D%/kernels/slices.def \
	%D%/kernels/softmax.def \
	%D%/kernels/sort.def \
	%D%/kernels/unary-functions.def \
	%D%/kernels/unary.def \
	%D%/kernels/window.def \
	%D%/ops/accumulate.c \
	%D%/ops/args.c \
	%D%/ops/args.h \
	%D%/ops/attention.c \
	%D%/ops/binary.c \
	%D%/ops/blas.c \
	%D%/ops/concat.c \
	%D%/ops/contiguous.h \
	%D%/ops/conv.c \
	%D%/ops/copy.c \
	%D%/ops/copy.h \
	%D%/ops/emit.h \
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
	%D%/ops/norm.c \
	%D%/ops/op.h \
	%D%/ops/optable.c \
	%D%/ops/outprod.c \
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
	%D%/ops/rows.h \
	%D%/ops/shape.h \
	%D%/ops/route.c \
	%D%/ops/slices.c \
	%D%/ops/softmax.c \
	%D%/ops/sort.c \
	%D%/ops/store.c \
	%D%/ops/unary.c \
	%D%/ops/units.h \
	%D%/ops/window.c

EXTRA_LTLIBRARIES =
if CUDA_NO
EXTRA_LTLIBRARIES += %D%/libhost.la
CLEANFILES += %D%/libhost.la
else
noinst_LTLIBRARIES += %D%/libhost.la
endif
backends_cuda_libhost_la_SOURCES = $(cuda_host_sources) \
	%D%/device/image.c \
	%D%/driver/nvml.c \
	%D%/driver/platform.c

cuda_sources = $(GB_KERNEL_FILES:%=%D%/kernels/%.cu)
EXTRA_DIST += \
	$(cuda_sources) \
	%D%/kernels/addends.cuh \
	%D%/kernels/attention.cuh \
	%D%/kernels/blocks.cuh \
	%D%/kernels/clang.cuh \
	%D%/kernels/codebooks.cuh \
	%D%/kernels/columns.cuh \
	%D%/kernels/device-clang.cuh \
	%D%/kernels/device.cuh \
	%D%/kernels/groupmma.cuh \
	%D%/kernels/halfattention.cuh \
	%D%/kernels/halves.cuh \
	%D%/kernels/limits.cuh \
	%D%/kernels/math.cuh \
	%D%/kernels/matrix.cuh \
	%D%/kernels/matrixattention.cuh \
	%D%/kernels/matrixgemm.cuh \
	%D%/kernels/matrixmfma.cuh \
	%D%/kernels/mma.cuh \
	%D%/kernels/mmaattention.cuh \
	%D%/kernels/mmadecode.cuh \
	%D%/kernels/mmagemm.cuh \
	%D%/kernels/mmastep.cuh \
	%D%/kernels/pack.cuh \
	%D%/kernels/panelgemm.cuh \
	%D%/kernels/product.cuh \
	%D%/kernels/q8.cuh \
	%D%/kernels/rows.cuh \
	%D%/kernels/search.cuh \
	%D%/kernels/sortkey.cuh \
	%D%/kernels/subblock.cuh \
	%D%/kernels/tensor.cuh \
	%D%/kernels/unpack.cuh \
	%D%/kernels/unpack32.cuh \
	%D%/kernels/weightring.cuh \
	%D%/kernels/wgmmaattention.cuh \
	%D%/kernels/wgmmagemm.cuh

# Makes images smaller; it runs on this machine, whatever the others are for.
EXTRA_DIST += %D%/pack.c
CLEANFILES += %D%/pack
%D%/pack: %D%/pack.c
	$(AM_V_CC)$(MKDIR_P) %D% && $(CC_FOR_BUILD) $(CFLAGS_FOR_BUILD) -o $@ \
	    $(srcdir)/%D%/pack.c

# ---- images: kernels compiled for cards ----

# What fuses a product and a sum is said in the sources, as for the CPU.
GB_NVCC_FLAGS = $(GB_CUDA_GENCODE) -std=c++17 -I$(srcdir)
if CUDA_CLANG
GB_NVCC_FLAGS += -O3 -ffp-contract=off -MMD -MP -Wno-unknown-cuda-version
else
GB_NVCC_FLAGS += -fatbin -fmad=false -Wno-deprecated-gpu-targets -MMD -MP \
	-Xfatbin -compress-all -Xfatbin -compress-mode=size
endif

# Else names in PTX would depend on the folder of the source.
if CUDA_SOURCE_NAME
cuda_source_name = -Xcicc --orig_src_path_name -Xcicc $(<F)
endif

AM_V_NVCC = $(am__v_NVCC_$(V))
am__v_NVCC_ = $(am__v_NVCC_$(AM_DEFAULT_VERBOSITY))
am__v_NVCC_0 = @echo "  NVCC    " $@;
am__v_NVCC_1 =

# Matrix cores are those of other cards.
GB_CUDA_KERNEL_FILES = $(filter-out matrix%,$(GB_KERNEL_FILES))
cuda_images = $(GB_CUDA_KERNEL_FILES:%=%D%/kernels/%.image)
CLEANFILES += $(cuda_images) %D%/kernels/*.d %D%/compiler

$(cuda_images): %.image: %.cu %D%/compiler
	$(AM_V_NVCC)$(MKDIR_P) $(@D) && $(NVCC) $(GB_NVCC_FLAGS) $(cuda_source_name) \
	    $(NVCCFLAGS) -MT $@ -MF $(@:.image=.d) -o $@.tmp $< && mv $@.tmp $@
-include $(cuda_images:.image=.d)

# Changes when the compiler does, or its flags.
%D%/compiler: Makefile
	@$(MKDIR_P) %D% && echo '$(NVCC) $(GB_NVCC_FLAGS) $(NVCCFLAGS)' >$@.tmp && \
	{ cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@; }

# What the images take of a card: the rows of the architectures that this build has,
# in the kept table, which tests/cuda/resources.sh compares with what is built.
cuda-resources: $(cuda_images)
	CC='$(CC)' NVCC='$(NVCC)' top_srcdir='$(srcdir)' \
	    $(SHELL) '$(srcdir)/build-aux/gpu-resources' %D%/kernels \
	    --update '$(srcdir)/%D%/resources.tsv'
	CC='$(CC)' top_srcdir='$(srcdir)' top_builddir=. \
	    $(SHELL) '$(srcdir)/tests/cuda/resources.sh'

# Those of each backend that this build has a compiler for; then what follows from them.
gpu_resources =
if !CUDA_NO
gpu_resources += cuda-resources
endif
gpu-resources: $(gpu_resources)
	top_srcdir='$(srcdir)' $(SHELL) '$(srcdir)/build-aux/gpu-predict' --write
phony_targets += cuda-resources gpu-resources
EXTRA_DIST += %D%/resources.tsv

# What images.c has to know: the images, their folder, and what they are for.
cuda_image_names = -DGB_IMAGE_SUFFIX='".image"' \
	'-DGB_IMAGES=$(foreach file,$(GB_CUDA_KERNEL_FILES),IMAGE($(file),all,""))'

if !CUDA_NO
noinst_LTLIBRARIES += %D%/libimages.la
backends_cuda_libimages_la_SOURCES = %D%/images.c
backends_cuda_libimages_la_CPPFLAGS = $(AM_CPPFLAGS) $(cuda_image_names) \
	'-DGB_IMAGE_FOLDER="%D%/kernels"' '-DGB_IMAGE_ARCHS="$(GB_CUDA_ARCHS)"' \
	-DGB_IMAGE_COMPILER=$(GB_CUDA_RELEASE)
$(backends_cuda_libimages_la_OBJECTS): $(cuda_images)
endif

# ---- the module, or a part of the library ----

# Without the C compiler's own start files, which have nothing to start here, opening
# the module runs no code.
CUDA_MODULE_LDFLAGS = \
	-module -avoid-version -shared -no-undefined -Wc,-nostartfiles \
	-export-symbols-regex '^ggml_backend_(init|score)$$'

if CUDA_MODULE
module_LTLIBRARIES += %D%/libggml-cuda.la
backends_cuda_libggml_cuda_la_SOURCES = %D%/module.c
backends_cuda_libggml_cuda_la_LIBADD = \
	%D%/libhost.la %D%/libimages.la $(gpu_libraries) $(GB_LIBRARY)
backends_cuda_libggml_cuda_la_LDFLAGS = $(CUDA_MODULE_LDFLAGS)
endif

if CUDA_BUILTIN
builtin_libraries += %D%/libhost.la %D%/libimages.la
endif
