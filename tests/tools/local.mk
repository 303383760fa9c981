# SPDX-License-Identifier: MIT
# The installed programs.
if TOOLS
include tests/tools/bench/local.mk
include tests/tools/run/local.mk

check_SCRIPTS += %D%/bench.sh %D%/conformance.sh %D%/gguf.sh %D%/info.sh %D%/man.sh
EXTRA_DIST += %D%/bench.sh %D%/conformance.sh %D%/gguf.sh %D%/info.sh %D%/man.sh
endif
