# SPDX-License-Identifier: MIT
# Manual pages.
dist_man_MANS += %D%/ggml-backend-module.7
# Those of the programs get their options from tools/NAME/options.def.
if TOOLS
tool_pages = \
	%D%/ggmlbackend-bench.1 \
	%D%/ggmlbackend-conformance.1 \
	%D%/ggmlbackend-gguf.1 \
	%D%/ggmlbackend-info.1 \
	%D%/ggmlbackend-run.1
man_MANS += $(tool_pages)
CLEANFILES += $(tool_pages)
EXTRA_DIST += $(tool_pages:=.in)
endif
