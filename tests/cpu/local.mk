# SPDX-License-Identifier: MIT
# The CPU backend, from its words to its devices.
include tests/cpu/simd/local.mk
include tests/cpu/kernels/local.mk
include tests/cpu/ops/local.mk
include tests/cpu/threads/local.mk
include tests/cpu/device/local.mk
