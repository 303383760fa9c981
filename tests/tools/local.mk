# SPDX-License-Identifier: MIT
# The installed programs.
if TOOLS
include tests/tools/bench/local.mk
include tests/tools/run/local.mk

tools_checks = \
	%D%/against.sh \
	%D%/bench.sh \
	%D%/conformance.sh \
	%D%/gguf.sh \
	%D%/gpu-report.sh \
	%D%/info.sh \
	%D%/input.sh \
	%D%/nonsense.sh \
	%D%/options.sh \
	%D%/output.sh \
	%D%/results.sh \
	%D%/serve.sh \
	%D%/usage.sh
check_SCRIPTS += $(tools_checks)
EXTRA_DIST += $(tools_checks) %D%/claim.sh
endif
