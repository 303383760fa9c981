// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/lanes.cpp - the width of a warp, which kernels and their
 * execution are compiled for and the driver's part is not.
 */
#include "tests/gpu-emulator/driver.h"

const int emu::lanes = GB_WARP;
