# SPDX-License-Identifier: MIT
# The HIP backend: the host code and the kernels of backends/cuda once more, with the
# names of AMD's run time.  Without the backend tests compile the host code, those on
# the emulated run time.

# Kernels of tensor cores have no instructions here.
GB_HIP_KERNEL_FILES = $(filter-out mma% wgmma%,$(GB_KERNEL_FILES))

# What stands in the place of CUDA's own answers.
hip_sources = \
	%D%/blas-hip.c \
	%D%/device-hip.c \
	%D%/image.c \
	%D%/monitor.c \
	%D%/reg.h
if HIP_NO
EXTRA_LTLIBRARIES += %D%/libhost.la
CLEANFILES += %D%/libhost.la
else
noinst_LTLIBRARIES += %D%/libhost.la
endif
backends_hip_libhost_la_SOURCES = $(cuda_host_sources) $(hip_sources)
backends_hip_libhost_la_CPPFLAGS = $(AM_CPPFLAGS) $(hip_cppflags)
$(backends_hip_libhost_la_OBJECTS): %D%/names.h
EXTRA_DIST += %D%/hipify.h

# Both backends may be in one library: what is called gb_cuda_ in the sources is gb_hip_
# for the linker.
hip_cppflags = -DGB_USE_HIP -include %D%/names.h
hip_named = $(addprefix $(srcdir)/,$(cuda_host_sources) $(hip_sources) \
	backends/cuda/images.c backends/cuda/images.h)
%D%/names.h: $(hip_named) $(srcdir)/%D%/local.mk
	@$(MKDIR_P) %D% && $(AWK) 'BEGIN { print "/* Made by %D%/local.mk. */" } { \
	    while (match($$0, /gb_cuda_[a-z0-9_]*/)) { \
	        name = substr($$0, RSTART, RLENGTH); $$0 = substr($$0, RSTART + RLENGTH); \
	        ours = name; sub(/^gb_cuda_/, "gb_hip_", ours); \
	        if (!seen[name]++) print "#define " name " " ours } \
	    }' $(hip_named) >$@.tmp && \
	{ cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@; }
CLEANFILES += %D%/names.h

# ---- images: kernels compiled for cards, a file for each architecture ----

# The oldest form of code objects that run times of 5.x to 7.x load; generic targets
# are of a later one, which those know that have them.
GB_HIPCC_FLAGS = $(GB_HIP_DEVICE) --no-gpu-bundle-output -x hip -nogpuinc -nogpulib \
	-std=c++17 -O3 -ffp-contract=off -MMD -MP -I$(srcdir)
hip_object_version = -mcode-object-version=$(if $(findstring generic,$(1)),6,4)

AM_V_HIPCC = $(am__v_HIPCC_$(V))
am__v_HIPCC_ = $(am__v_HIPCC_$(AM_DEFAULT_VERBOSITY))
am__v_HIPCC_0 = @echo "  HIPCC   " $@;
am__v_HIPCC_1 =

hip_kernel_images = $(foreach arch,$(1),$(GB_HIP_KERNEL_FILES:%=%D%/kernels/$(arch)/%.image))
hip_images = $(call hip_kernel_images,$(GB_HIP_ARCHS))
CLEANFILES += $(hip_images) $(hip_images:.image=.d) %D%/compiler

# The architecture is the name of the folder.
hip_arch = $(notdir $(patsubst %/,%,$(@D)))
$(hip_images): %.image: %D%/compiler
	$(AM_V_HIPCC)$(MKDIR_P) $(@D) && $(HIPCC) $(GB_HIPCC_FLAGS) \
	    $(call hip_object_version,$(hip_arch)) --offload-arch=$(hip_arch) $(HIPFLAGS) \
	    -MT $@ -MF $(@:.image=.d) -o $@.tmp \
	    $(srcdir)/backends/cuda/kernels/$(*F).cu && mv $@.tmp $@
-include $(hip_images:.image=.d)

# Changes when the compiler does, or its flags.
%D%/compiler: Makefile
	@$(MKDIR_P) %D% && echo '$(HIPCC) $(GB_HIPCC_FLAGS) $(HIPFLAGS)' >$@.tmp && \
	{ cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@; }

hip_packed = $(hip_images:.image=.packed)
CLEANFILES += $(hip_packed)
$(hip_packed): %.packed: %.image backends/cuda/pack
	$(AM_V_GEN)backends/cuda/pack $< $@.tmp && mv $@.tmp $@

# What they take of a card, as of CUDA's.
hip-resources: $(hip_images)
	CC='$(CC)' HIPCC='$(HIPCC)' top_srcdir='$(srcdir)' \
	    $(SHELL) '$(srcdir)/build-aux/gpu-resources-hip' %D%/kernels \
	    --update '$(srcdir)/%D%/resources.tsv'
	CC='$(CC)' top_srcdir='$(srcdir)' top_builddir=. \
	    $(SHELL) '$(srcdir)/tests/hip/resources.sh'
if !HIP_NO
gpu_resources += hip-resources
endif
phony_targets += hip-resources
EXTRA_DIST += %D%/resources.tsv

# What images.c has to know of each: the file, the architecture as a word of C and as
# the compiler has it.
hip_image_names = -DGB_IMAGE_SUFFIX='".packed"' -DGB_IMAGE_COMPILER=0 \
	'-DGB_IMAGES=$(foreach arch,$(1),$(foreach file,$(GB_HIP_KERNEL_FILES),IMAGE($(file),$(subst -,_,$(arch)),"$(arch)")))'

if !HIP_NO
noinst_LTLIBRARIES += %D%/libimages.la
backends_hip_libimages_la_SOURCES = backends/cuda/images.c
backends_hip_libimages_la_CPPFLAGS = $(AM_CPPFLAGS) $(hip_cppflags) \
	$(call hip_image_names,$(GB_HIP_ARCHS)) \
	'-DGB_IMAGE_FOLDER="%D%/kernels"' '-DGB_IMAGE_ARCHS="$(GB_HIP_ARCHS)"'
$(backends_hip_libimages_la_OBJECTS): $(hip_packed) %D%/names.h
endif

# ---- the module, or a part of the library ----

if HIP_MODULE
module_LTLIBRARIES += %D%/libggml-hip.la
backends_hip_libggml_hip_la_SOURCES = backends/cuda/module.c
backends_hip_libggml_hip_la_CPPFLAGS = $(AM_CPPFLAGS) $(hip_cppflags)
$(backends_hip_libggml_hip_la_OBJECTS): %D%/names.h
backends_hip_libggml_hip_la_LIBADD = \
	%D%/libhost.la %D%/libimages.la $(gpu_libraries) $(GB_LIBRARY)
backends_hip_libggml_hip_la_LDFLAGS = $(CUDA_MODULE_LDFLAGS)
endif

if HIP_BUILTIN
builtin_libraries += %D%/libhost.la %D%/libimages.la
endif
