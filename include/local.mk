# SPDX-License-Identifier: MIT
# Public headers, installed as they are.
gbincludedir = $(includedir)/ggmlbackend
gbinclude_HEADERS = \
	%D%/ggml-alloc.h \
	%D%/ggml-backend-impl.h \
	%D%/ggml-backend.h \
	%D%/ggml-cpp.h \
	%D%/ggml-cpu.h \
	%D%/ggml-impl.h \
	%D%/ggml.h \
	%D%/ggmlbackend.h \
	%D%/gguf.h

gbpartsdir = $(gbincludedir)/ggml
gbparts_HEADERS = \
	%D%/ggml/base.h \
	%D%/ggml/graph.h \
	%D%/ggml/level.h \
	%D%/ggml/op-custom.h \
	%D%/ggml/op-nn.h \
	%D%/ggml/op.h \
	%D%/ggml/tensor.h \
	%D%/ggml/type.h
