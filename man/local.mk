# SPDX-License-Identifier: MIT
# Manual pages.
dist_man_MANS += %D%/ggml-backend-module.7
if TOOLS
dist_man_MANS += \
	%D%/ggmlbackend-bench.1 \
	%D%/ggmlbackend-conformance.1 \
	%D%/ggmlbackend-gguf.1 \
	%D%/ggmlbackend-info.1 \
	%D%/ggmlbackend-run.1
endif
