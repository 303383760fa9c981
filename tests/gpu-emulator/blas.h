/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/blas.h - what tests ask of the emulated BLAS.
 *
 * The functions are in the library that has the entry points
 * (libcublas.so.13, librocblas.so.4): dlsym finds them.  One thread at a time.
 */
#ifndef GB_GPU_EMULATOR_BLAS_H
#define GB_GPU_EMULATOR_BLAS_H

#include <stdint.h>

/* Microseconds that a product takes of the card's time (0). */
void emu_blas_time(uint64_t us);

/* Calls of an entry point, by cuBLAS' name for both vendors'; products that ran
 * on a card. */
uint64_t emu_blas_calls(const char *name);
uint64_t emu_blas_products(void);

/* The N-th call from now on of NAME fails with STATUS; N 0: none does. */
void emu_blas_fail(const char *name, uint64_t n, int status);

/* Handles that live; uses that the vendor's manual forbids. */
uint64_t emu_blas_live(void);
uint64_t emu_blas_faults(void);

#endif
