/* SPDX-License-Identifier: MIT */
/*
 * base/attr.h - names for compiler attributes.
 */
#ifndef GB_BASE_ATTR_H
#define GB_BASE_ATTR_H

#if defined(__GNUC__)
/*
 * Parameter FMT (from 1) is printf's; its values begin at FIRST, 0 for a list.
 */
#define GB_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define GB_UNUSED             __attribute__((unused))
#define GB_NORETURN           __attribute__((noreturn))
/* The function runs when the library is loaded. */
#define GB_AT_START           __attribute__((constructor))
#define GB_NOINLINE           __attribute__((noinline))
/* Where its arguments are constants, or parts of structs for registers. */
#define GB_ALWAYS_INLINE      inline __attribute__((always_inline))
#define GB_LIKELY(x)          __builtin_expect(!!(x), 1)
#define GB_UNLIKELY(x)        __builtin_expect(!!(x), 0)
/* The bytes at PTR, which may be any address, will be wanted soon. */
#define GB_PREFETCH(ptr)      __builtin_prefetch(ptr)
/* The same, but they may wait in the second cache. */
#define GB_PREFETCH_FAR(ptr)  __builtin_prefetch(ptr, 0, 2)
/* Bytes at PTR will be written soon. */
#define GB_PREFETCH_TO(ptr)   __builtin_prefetch(ptr, 1)
#else
#define GB_PRINTF(fmt, first)
#define GB_UNUSED
#define GB_NORETURN _Noreturn
#define GB_AT_START GB_UNUSED
#define GB_NOINLINE
#define GB_ALWAYS_INLINE inline
#define GB_LIKELY(x)   (x)
#define GB_UNLIKELY(x) (x)
#define GB_PREFETCH(ptr)
#define GB_PREFETCH_FAR(ptr)
#define GB_PREFETCH_TO(ptr)
#endif

#endif
