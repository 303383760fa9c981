# SPDX-License-Identifier: MIT
# What holds for the whole tree and its objects.
check_SCRIPTS += %D%/includes.sh %D%/objects.sh %D%/licence.sh %D%/sizes.sh
EXTRA_DIST += %D%/includes.sh %D%/objects.sh %D%/licence.sh %D%/sizes.sh
