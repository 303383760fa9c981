/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/shimmed.h - the module on the shim, in processes of their own: a
 * process lists its devices once.
 */
#ifndef GB_TESTS_VULKAN_SHIMMED_H
#define GB_TESTS_VULKAN_SHIMMED_H

#include "tests/util/child.h"
#include "tests/util/library.h"
#include "tests/vulkan/shim/control.h"

#include "ggml-backend.h"

#include <stdbool.h>

/* Results of Vulkan's, and their names. */
enum {
    OUT_OF_HOST_MEMORY = -1,
    OUT_OF_DEVICE_MEMORY = -2,
    INITIALIZATION_FAILED = -3,
    DEVICE_LOST = -4,
    INCOMPATIBLE_DRIVER = -9,
    UNKNOWN = -13,
};

const char *vk_result_name(int result);

/* gb_child_case, where VK_ stands for GGMLBACKEND_TEST_VK_. */
void vk_case(void (*run)(void), const char *variables, const char **errors);

/* Variables for the null driver, and for lavapipe. */
#define ON_NULL     "VK_NULL=1 "
#define ON_LAVAPIPE "GGMLBACKEND_VULKAN_SOFTWARE=1 "

/* In a case: the module's registration on the shim; NULL where it is refused. */
ggml_backend_reg_t vk_load(void);

/* In a case: the device NAME, which is there. */
ggml_backend_dev_t vk_device(const char *name);

/* In a case, after vk_load: what the shim offers tests. */
struct vk_shim {
    void (*reset)(void);
    uint64_t (*calls)(const char *name);
    void (*fail_call)(const char *name, uint64_t n, int result);
    uint64_t (*failures)(void);
    void (*lose)(uint64_t n);
    void (*hang)(uint64_t n);
    uint64_t (*live)(void);
    uint64_t (*bytes)(void);
    void (*describe)(char *text, size_t size);
    uint64_t (*reports)(void);
};
extern struct vk_shim shim;

/*
 * In a case: is anything there of devices, or was something new reported?  Then it
 * is told, after WHAT and N.
 */
bool vk_is_left(const char *what, uint64_t n);

#endif
