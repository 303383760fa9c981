# SPDX-License-Identifier: MIT
# The manual pages, and what makes them.
man_checks = \
	%D%/contracts.sh \
	%D%/examples.sh \
	%D%/html.sh \
	%D%/lint.sh \
	%D%/make-page.sh \
	%D%/names.sh
check_SCRIPTS += $(man_checks)
EXTRA_DIST += \
	$(man_checks) \
	%D%/pages.sh \
	%D%/sample.3.expected \
	%D%/sample.3.in \
	%D%/sample/include/ggml/sample.h
