# SPDX-License-Identifier: MIT
# Packages for find_package: our own where it is looked for, and one that answers to
# ggml's name in a folder of its own, where only those find it who ask for it.
cmakedir = $(libdir)/cmake/$(GB_PREFIX)ggmlbackend
cmake_DATA = \
	%D%/$(GB_PREFIX)ggmlbackend-config-version.cmake \
	%D%/$(GB_PREFIX)ggmlbackend-config.cmake

cmakeggmldir = $(libdir)/$(GB_PREFIX)ggmlbackend/cmake/ggml
cmakeggml_DATA = \
	%D%/ggml-config-version.cmake \
	%D%/ggml-config.cmake

if SYMBOL_PREFIX
CLEANFILES += $(cmake_DATA)
%D%/$(GB_PREFIX)%.cmake: %D%/%.cmake
	$(AM_V_GEN)cp $< $@
endif
