# SPDX-License-Identifier: MIT
# The recipes for distributions, which say some things more than once, and quickstart.
check_SCRIPTS += %D%/facts.sh %D%/quickstart.sh
EXTRA_DIST += %D%/facts.sh %D%/quickstart.sh
