/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz.h - what every entry point is: libFuzzer's name for it.
 */
#ifndef GB_FUZZ_FUZZ_H
#define GB_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stops the process: something is wrong that no sanitizer sees. */
void fuzz_stop(const char *what);

/* Takes the library's messages, and drops them. */
void fuzz_silence(void);

#endif
