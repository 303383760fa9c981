# SPDX-License-Identifier: MIT
# The recipes for distributions, which say some things more than once.
check_SCRIPTS += %D%/facts.sh
EXTRA_DIST += %D%/facts.sh
