/* SPDX-License-Identifier: MIT */
/*
 * cpu/isa/level.h - GB_K(name): NAME at the level that is being compiled.
 *
 * kernels/ is compiled once a level with -DGB_LEVEL=avx2 and the like; GB_K(x)
 * is then gb_cpu_avx2_x.
 */
#ifndef GB_CPU_ISA_LEVEL_H
#define GB_CPU_ISA_LEVEL_H

#ifndef GB_LEVEL
#error "compile with -DGB_LEVEL=<level>"
#endif

#define GB_K_PASTE(level, name)  gb_cpu_##level##_##name
#define GB_K_EXPAND(level, name) GB_K_PASTE(level, name)
#define GB_K(name)               GB_K_EXPAND(GB_LEVEL, name)

#endif
