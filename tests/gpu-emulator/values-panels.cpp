/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/values-panels.cpp - how panels of halves lie in shared memory.
 */
#include "tests/gpu-emulator/values-panels.h"

/* Without swizzling: eight rows of 16 bytes; the second 16 bytes of all rows
 * behind the first ones of all. */
size_t
byte_of(const panel_layout &l, int n_rows, int row, int k)
{
    const int i = 2 * k / 16, rest = 2 * k % 16;

    if (l.mode == 0)
        return (size_t)(i * n_rows * 16 + row / 8 * 128 + row % 8 * 16 + rest);
    return (size_t)(row * l.width +
                    16 * (i ^ row % 8 / l.per % (l.width / 16)) + rest);
}

static uint64_t
descriptor(const panel_layout &l, int start, int across)
{
    const uint64_t down = (uint64_t)(8 * l.width / 16);

    return (uint64_t)start / 16 | (uint64_t)across << 16 | down << 32 |
           (uint64_t)l.mode << 62;
}

uint64_t
descriptor_of(const panel_layout &l, int n_rows, int first_k, int at)
{
    return descriptor(l, at + 2 * first_k, l.mode == 0 ? n_rows : 1);
}

size_t
byte_by_columns(const panel_layout &l, int k, int column)
{
    const int width = l.width / 2;

    return (size_t)(column / width * 24 * l.width) +
           byte_of(l, 0, k, column % width);
}

uint64_t
descriptor_by_columns(const panel_layout &l, int at)
{
    return descriptor(l, at, 24 * l.width / 16);
}
