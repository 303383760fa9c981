# SPDX-License-Identifier: MIT
# Public headers, installed as they are.
gbincludedir = $(includedir)/$(GB_PREFIX)ggmlbackend
gbinclude_HEADERS = \
	%D%/ggml-alloc.h \
	%D%/ggml-backend-impl.h \
	%D%/ggml-backend.h \
	%D%/ggml-cpp.h \
	%D%/ggml-cpu.h \
	%D%/ggml-cuda.h \
	%D%/ggml-impl.h \
	%D%/ggml-vulkan.h \
	%D%/ggml.h \
	%D%/ggmlbackend-2023.h \
	%D%/ggmlbackend-2024.h \
	%D%/ggmlbackend.h \
	%D%/gguf.h

gbpartsdir = $(gbincludedir)/ggml
gbparts_HEADERS = \
	%D%/ggml/base.h \
	%D%/ggml/cgraph.h \
	%D%/ggml/graph.h \
	%D%/ggml/level.h \
	%D%/ggml/op-custom.h \
	%D%/ggml/op-nn.h \
	%D%/ggml/op.h \
	%D%/ggml/tensor.h \
	%D%/ggml/type.h
if SYMBOL_PREFIX
nodist_gbparts_HEADERS = prefix/prefix.h
else
gbparts_HEADERS += %D%/ggml/prefix.h
endif

# For backends of older levels, which put one of these folders first.
gblevel2023dir = $(gbincludedir)/level-2023
gblevel2023_HEADERS = \
	%D%/level-2023/ggml-alloc.h \
	%D%/level-2023/ggml-backend-impl.h \
	%D%/level-2023/ggml-backend.h \
	%D%/level-2023/ggml-impl.h \
	%D%/level-2023/ggml.h

gblevel2024dir = $(gbincludedir)/level-2024
gblevel2024_HEADERS = \
	%D%/level-2024/ggml-alloc.h \
	%D%/level-2024/ggml-backend-impl.h \
	%D%/level-2024/ggml-backend.h \
	%D%/level-2024/ggml-cpu.h \
	%D%/level-2024/ggml-impl.h \
	%D%/level-2024/ggml.h
