# SPDX-License-Identifier: MIT
# What holds for the whole tree and its objects.
tree_scripts = \
	%D%/configure.sh \
	%D%/ignored.sh \
	%D%/includes.sh \
	%D%/layers.sh \
	%D%/licence.sh \
	%D%/logs.sh \
	%D%/objects.sh \
	%D%/paths.sh \
	%D%/platforms.sh \
	%D%/reuse.sh \
	%D%/sizes.sh \
	%D%/variants.sh
check_SCRIPTS += $(tree_scripts)
EXTRA_DIST += $(tree_scripts)
