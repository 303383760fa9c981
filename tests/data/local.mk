# SPDX-License-Identifier: MIT
# tests/data: published tables and vectors.
EXTRA_DIST += \
	%D%/dequant_vectors.tsv \
	%D%/half_conversions.tsv \
	%D%/quant_error.tsv \
	%D%/quant_input.tsv \
	%D%/quant_vectors.tsv \
	%D%/types.tsv
