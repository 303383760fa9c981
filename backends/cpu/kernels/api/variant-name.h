/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/api/variant-name.h - what NAME is called in a CPU variant.
 *
 * A build that was configured with --with-symbol-prefix has defined the macro
 * before: names that are put together are out of reach for its list of names.
 */
#ifndef GB_CPU_KERNELS_API_VARIANT_NAME_H
#define GB_CPU_KERNELS_API_VARIANT_NAME_H

#ifndef GB_CPU_NAME
#define GB_CPU_NAME(variant, name) gb_cpu_##variant##_##name
#endif

#endif
