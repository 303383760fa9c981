/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/api/variant.h - GB_K(name): NAME at the level that is being compiled.
 *
 * kernels/ is compiled once a level with -DGB_LEVEL=avx2 and the like; GB_K(x)
 * is then gb_cpu_avx2_x.  A file whose code is the same at a lower level is
 * compiled there only, and -DGB_FLOATS=avx2 and the like name that level:
 *   FLOATS  kernels of floats alone
 *   PAIRS   products that take BF16 in pairs where the machine does
 *   BYTES   products of bytes
 *   LEVEL   what every level has of its own
 * GB_K_OF(FLOATS, x) is x of that group.
 */
#ifndef GB_CPU_ISA_LEVEL_H
#define GB_CPU_ISA_LEVEL_H

#ifndef GB_VARIANT
#error "compile with -DGB_LEVEL=<level>"
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

#define GB_K_PASTE(level, name)  gb_cpu_##level##_##name
#define GB_K_EXPAND(level, name) GB_K_PASTE(level, name)
#define GB_K_OF(group, name)     GB_K_EXPAND(GB_##group, name)
#define GB_K(name)               GB_K_OF(VARIANT, name)

#endif
