/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/api/variant.h - GB_K(name): NAME in the CPU variant that is being
 * compiled.
 *
 * kernels/ is compiled once a variant with -DGB_VARIANT=avx2 and the like; GB_K(x)
 * is then gb_cpu_avx2_x.  A file whose code is the same in a lesser variant is
 * compiled there only, and -DGB_FLOATS=avx2 and the like name that variant:
 *   FLOATS   kernels of floats alone
 *   PAIRS    products that take BF16 in pairs where the machine does
 *   BYTES    products of bytes
 *   SHUFFLES
 *            types that shuffles of bytes unpack: codebooks, nibbles
 *   TILES    products by tiles, where GB_HAS_TILES is 1
 *   VARIANT  what every variant has of its own
 * GB_K_OF(FLOATS, x) is x of that set.
 */
#ifndef GB_CPU_KERNELS_API_VARIANT_H
#define GB_CPU_KERNELS_API_VARIANT_H

#ifndef GB_VARIANT
#error "compile with -DGB_VARIANT=<variant>"
#endif
#ifndef GB_FLOATS
#define GB_FLOATS GB_VARIANT
#endif
#ifndef GB_PAIRS
#define GB_PAIRS GB_FLOATS
#endif
#ifndef GB_BYTES
#define GB_BYTES GB_VARIANT
#endif
#ifndef GB_SHUFFLES
#define GB_SHUFFLES GB_VARIANT
#endif
#ifdef GB_TILES
#define GB_HAS_TILES 1
#else
#define GB_HAS_TILES 0
#define GB_TILES GB_VARIANT
#endif

#include "backends/cpu/kernels/api/variant-name.h"

#define GB_K_EXPAND(variant, name) GB_CPU_NAME(variant, name)
#define GB_K_OF(group, name)       GB_K_EXPAND(GB_##group, name)
#define GB_K(name)                 GB_K_OF(VARIANT, name)

#endif
