# SPDX-License-Identifier: MIT
# tests/mutation: do the tests see wrong kernels and host code?  Not part of make check.
EXTRA_DIST += \
	%D%/changes.sh \
	%D%/check \
	%D%/check-cuda \
	%D%/table \
	%D%/table-cuda
