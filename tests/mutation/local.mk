# SPDX-License-Identifier: MIT
# tests/mutation: do the tests see wrong kernels?  Not part of make check.
EXTRA_DIST += %D%/check %D%/table
