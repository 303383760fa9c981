/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/emulated.h - the module on the emulated driver, in processes of
 * their own: a process opens a driver once.
 */
#ifndef GB_TESTS_CUDA_EMULATED_H
#define GB_TESTS_CUDA_EMULATED_H

#include "tests/gpu-emulator/control.h"
#include "tests/util/child.h"
#include "tests/util/library.h"

#include "ggml-alloc.h"
#include "ggml-backend.h"

#include <stdbool.h>

/* gb_child_case, where EMU_ stands for GGMLBACKEND_TEST_EMU_. */
void cuda_case(
    void (*run)(void), const char *variables, const char **errors);

/* The same; RUN says one line on stderr, which has REASON and is printed. */
void cuda_case_says(
    void (*run)(void), const char *variables, const char *reason);
int cuda_count_lines(const char *text);

/* In a case: a copy of the emulator's LIBRARY that has no entry point NAME. */
const char *cuda_copy_without(const char *library, const char *name);

/*
 * Programs are compiled once more for HIP: "CUDA0" means ROCm0 there, names of
 * entry points mean HIP's, and what else differs is said by ON_HIP.
 */
#ifdef GB_USE_HIP
#define ON_HIP(cuda, hip) hip
#else
#define ON_HIP(cuda, hip) cuda
#endif
#define DRIVER          ON_HIP("libcuda.so.1", "libamdhip64.so.6")
#define EMULATED_DRIVER "tests/gpu-emulator/lanes32/.libs/" DRIVER
#define DEVICES ON_HIP("CUDA", "ROCm")

/* With GGMLBACKEND_TEST_HIP_ON_CUDA set cuda_load takes HIP's names over the
 * emulated driver of CUDA's, which then counts and is "emulator". */
#define HIP_ON_CUDA "tests/gpu-emulator/hip-on-cuda/.libs/libamdhip64.so.6"
#define CUDA_BELOW  "tests/gpu-emulator/lanes32/.libs/libcuda.so.1"

/* In a test of what HIP has nothing of. */
#define NOT_ON_HIP()             \
    do {                         \
        if (ON_HIP(false, true)) \
            skip();              \
    } while (0)

/* What messages have. */
#define LAUNCH          ON_HIP("cuLaunchKernel", "hipModuleLaunchKernel")
#define OUT_OF_MEMORY   ON_HIP("CUDA_ERROR_OUT_OF_MEMORY", "hipErrorOutOfMemory")
#define ILLEGAL_ADDRESS \
    ON_HIP("CUDA_ERROR_ILLEGAL_ADDRESS", "hipErrorIllegalAddress")
#define LAUNCH_FAILED   ON_HIP("CUDA_ERROR_LAUNCH_FAILED", "hipErrorLaunchFailure")
#define UNKNOWN         ON_HIP("CUDA_ERROR_UNKNOWN", "hipErrorUnknown")
#define NO_BINARY \
    ON_HIP("CUDA_ERROR_NO_BINARY_FOR_GPU", "hipErrorNoBinaryForGpu")

/*
 * Is NAME an entry point that makes a context current?  One that cannot be made
 * so cannot be left clean either: what is in it goes with it, and is reported.
 */
bool cuda_is_entry(const char *name);

/*
 * In a case: the module's registration; NULL where it is refused.  On the
 * emulated driver, on a copy of it, on what the machine has.
 */
ggml_backend_reg_t cuda_load(void);
ggml_backend_reg_t cuda_load_on(const char *driver);
ggml_backend_reg_t cuda_load_module(void);

/* In a case, after cuda_load: what the emulated driver offers tests. */
struct cuda_emulator {
    uint64_t (*count)(enum emu_counter which);
    uint64_t (*calls)(const char *name);
    uint64_t (*kernel_runs)(const char *kernel);
    uint64_t (*reports)(void);
    void (*reset)(void);
    void (*fail_call)(const char *name, uint64_t n, int result);
    uint64_t (*failures)(void);
    void (*lose_card)(uint64_t n, int result);
    uint64_t (*memory_used)(int card);
    uint64_t (*live)(void);
};
extern struct cuda_emulator emulator;

/* In a case: the module's device NAME ("CUDA0"), which is there. */
ggml_backend_dev_t cuda_device(const char *name);

/* A property of DEV by its name; NULL: it has none of that name. */
const char *cuda_property(ggml_backend_dev_t dev, const char *name);

/* In a case: the module was refused, for a reason that has WORDS and is printed,
 * and the CPU is there.  The same where nothing of a card is left, either. */
void cuda_check_refusal(const char *words);
void cuda_expect_refusal(const char *words);

/* In a case: the registration on a copy of the emulated driver that has no entry
 * point NAME; NULL where that is needed. */
ggml_backend_reg_t cuda_load_without(const char *name);

/* In a case: a backend of that device. */
ggml_backend_t cuda_backend(const char *name);

/* May weights of products be of TYPE? */
bool cuda_is_weight(enum ggml_type type);

/*
 * In a case: a fresh backend of the device computes right.  On CUDA0 and the
 * CPU, and nothing is left then, nor was anything reported.
 */
void cuda_computes(const char *name);
void cuda_is_well(void);

/* A graph of sums, on whatever backend. */
struct sums {
    struct ggml_context *ctx;
    struct ggml_tensor *x, *y; /* inputs of N values */
    struct ggml_tensor *result; /* x + k * y, for k sums */
    struct ggml_cgraph *graph;
    ggml_backend_buffer_t buffer; /* NULL where there is no memory */
};

enum { SUMS_N = 1000 };

struct sums sums_make(ggml_backend_buffer_type_t buft, int k);
void sums_free(struct sums *sums);
/* Values that differ by SEED; what the result has to be. */
void sums_set(struct sums *sums, int seed);
bool sums_are_right(struct sums *sums, int k, int seed);

#endif
