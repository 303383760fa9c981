/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/unpack.h - images that pack.c made smaller.
 *
 * A packed image is "GBPK", the size of what it gives and the sum of that (FNV-1a,
 * 32 bits, both with the low byte first), and steps.  A step is
 *
 *   a byte      bits 7 to 5: bytes that follow as they are; 4 to 2: bytes that are
 *               copied from those before; 1 and 0: the kind of the distance
 *   a number    only where the first count is 7: what it is more
 *   the bytes   that follow as they are; nothing stands behind the last ones
 *   a distance  of as many bytes as its kind says, the low one first
 *   a number    only where the second count is 7: what it is more
 *
 * A number has seven bits a byte, the low ones first, and bit 7 where another byte
 * follows; at most four bytes.  Distance kind 0 is the last step's, for a copy of at
 * least two bytes; the others copy at least three: kinds 1 and 2 go back by four for
 * each of their number, as instructions have four bytes, and kind 3 by one, all of
 * them once more than the number says.
 */
#ifndef GB_CUDA_DEVICE_UNPACK_H
#define GB_CUDA_DEVICE_UNPACK_H

#include <stddef.h>

/* The bytes that IMAGE of SIZE bytes gives; 0: it is not packed. */
size_t gb_cuda_unpacked_size(const unsigned char *image, size_t size);

/*
 * Write those of an image that is packed to OUT.  NULL, or (static) what is wrong
 * with the image: then what OUT has is of no use.
 */
const char *gb_cuda_unpack(
    const unsigned char *image, size_t size, unsigned char *out);

#endif
