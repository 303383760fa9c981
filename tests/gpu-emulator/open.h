/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/open.h - the emulated driver, opened for its own tests.
 */
#ifndef GB_GPU_EMULATOR_OPEN_H
#define GB_GPU_EMULATOR_OPEN_H

#include "backends/cuda/driver/driver.h"
#include "tests/gpu-emulator/control.h"

struct emu_control {
    uint64_t (*count)(enum emu_counter which);
    uint64_t (*calls)(const char *name);
    uint64_t (*kernel_runs)(const char *kernel);
    uint64_t (*reports)(void);
    void (*reset)(void);
    void (*fail_call)(const char *name, uint64_t n, int result);
    uint64_t (*failures)(void);
    void (*lose_card)(uint64_t n, int result);
    void (*order)(uint64_t order);
    uint64_t (*memory_total)(int card);
    uint64_t (*memory_used)(int card);
    uint64_t (*live)(void);
    uint64_t (*queued)(void);
    void (*restart)(void);
    int (*queue_work)(void *stream, void (*run)(const void *data),
                      const void *data, size_t size, uint64_t us);
    int (*work_reads)(const void *at, size_t size);
    int (*work_writes)(void *at, size_t size);
};

extern struct gb_cuda_driver cu;
extern struct emu_control emu;

/* A group's setup: the library with 32 lanes. */
int emu_open(void **state);
/* Path of a file of the emulator with LANES lanes; static. */
const char *emu_path(int lanes, const char *name);

/*
 * A driver that began anew with these variables, "NAME=value …" without
 * GGMLBACKEND_TEST_EMU_, and is initialized.  No card has a context.
 */
void emu_begin(const char *settings);
/* The same, and the context of card 0 is retained and current. */
void emu_begin_in_context(const char *settings);
/* Releases it; N_REPORTS were made since the beginning. */
void emu_end(void);
void emu_end_with_reports(unsigned n_reports);

gb_cuda_stream emu_stream(void);
gb_cuda_event emu_event(void);
/* Memory of the current context's card. */
gb_cuda_address emu_memory(size_t size);
/* Waits for all that is in STREAM. */
void emu_wait(gb_cuda_stream stream);

#endif
