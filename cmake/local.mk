# SPDX-License-Identifier: MIT
# Packages for find_package: our own where it is looked for, and one that answers to
# ggml's name in a folder of its own, where only those find it who ask for it.
cmakedir = $(libdir)/cmake/ggmlbackend
cmake_DATA = \
	%D%/ggmlbackend-config-version.cmake \
	%D%/ggmlbackend-config.cmake

cmakeggmldir = $(libdir)/ggmlbackend/cmake/ggml
cmakeggml_DATA = %D%/ggml-config-version.cmake
dist_cmakeggml_DATA = %D%/ggml-config.cmake
