// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/hip-on-cuda.cpp - HIP's entry points over CUDA's driver: host
 * code for AMD's cards runs on one of NVIDIA's.
 *
 * Each row of driver.def is handed on to the entry point of its other name,
 * with the primary context of the current device made current around it;
 * hip.cpp stands before those that have manners of their own.  All cards are of
 * one architecture with waves of 32 lanes and without matrix cores.  The text
 * that stands for a file's code object in the tests' module lets CUDA's image
 * of the same file be loaded, which is in this library.
 */
#include "tests/gpu-emulator/hip.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

extern "C" {
#include "backends/cuda/images.h"
}

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

enum {
    ARCH = 0x1030,      /* dot4 is the most that kernels of both have */
    VERSION = 60300000, /* 6.3, as hipDriverGetVersion counts */
    MAX_DEVICES = 32,
};

/* CUDA_KERNEL_NODE_PARAMS; driver.h has HIP's order of the members here. */
struct cuda_node {
    gb_cuda_function function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
};

/* ---- the driver ---- */

struct gb_cuda_driver
open_driver()
{
    void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    struct gb_cuda_driver driver = {};
    void *address;

    if (library == nullptr) {
        emu::report("no driver: %s", dlerror());
        return driver;
    }
#define GB_DRIVER_CALL(need, id, cuda, hip, parameters, arguments) \
    address = dlsym(library, cuda);                                \
    memcpy(&driver.id, &address, sizeof(address));
#include "backends/cuda/driver/driver.def"
#undef GB_DRIVER_CALL
    return driver;
}

/* Members are NULL where there is no such entry point. */
const struct gb_cuda_driver &
driver()
{
    static const struct gb_cuda_driver one = open_driver();

    return one;
}

/* ---- what is current ---- */

/* Primary contexts, while somebody retains them: counted with the lock. */
std::atomic<gb_cuda_context> contexts[MAX_DEVICES];
int n_retained[MAX_DEVICES];
std::mutex retaining;

thread_local int current;

/* Without a context CUDA's driver says whether one is needed. */
template <typename F>
int
inside(F function)
{
    gb_cuda_context context = emu::hip_context(current);
    int result;

    if (context == nullptr)
        return function();
    result = driver().context_push(context);
    if (result != GB_CUDA_SUCCESS)
        return result;
    result = function();
    driver().context_pop(&context);
    return result;
}

/* ---- entry points ---- */

struct handed_on {
#define GB_DRIVER_CALL(need, id, cuda, hip, parameters, arguments)          \
    static int id parameters                                                \
    {                                                                       \
        return inside([&] {                                                 \
            return driver().id == nullptr ? (int)GB_CUDA_NOT_SUPPORTED      \
                                          : driver().id arguments;          \
        });                                                                 \
    }
#include "backends/cuda/driver/driver.def"
#undef GB_DRIVER_CALL
};

/* Those that need more take the place of the ones above. */
struct entry : handed_on {
    static int
    init(unsigned flags)
    {
        return driver().init == nullptr ? (int)GB_CUDA_NO_DEVICE
                                        : driver().init(flags);
    }

    static int
    version(int *version)
    {
        *version = VERSION;
        return GB_CUDA_SUCCESS;
    }

    /* All shared memory that there is can be had without asking. */
    static int
    device_attribute(int *value, int attribute, int device)
    {
        return handed_on::device_attribute(
            value, attribute == GB_CUDA_MAX_SHARED_OPTIN
                       ? (int)GB_CUDA_MAX_SHARED_PER_BLOCK : attribute, device);
    }

    static int
    context_retain(gb_cuda_context *context, int device)
    {
        const std::lock_guard<std::mutex> held(retaining);
        int result;

        if (device < 0 || device >= MAX_DEVICES)
            return GB_CUDA_INVALID_DEVICE;
        result = handed_on::context_retain(context, device);
        if (result == GB_CUDA_SUCCESS) {
            contexts[device] = *context;
            n_retained[device]++;
        }
        return result;
    }

    static int
    context_release(int device)
    {
        const std::lock_guard<std::mutex> held(retaining);

        if (device < 0 || device >= MAX_DEVICES)
            return GB_CUDA_INVALID_DEVICE;
        if (n_retained[device] > 0 && --n_retained[device] == 0)
            contexts[device] = nullptr;
        return handed_on::context_release(device);
    }

    static int
    context_push(gb_cuda_context context)
    {
        const int device = (int)(uintptr_t)context - 1;
        int n = 0;
        const int result = handed_on::device_count(&n);

        if (result != GB_CUDA_SUCCESS)
            return result;
        if (device < 0 || device >= std::min(n, (int)MAX_DEVICES))
            return GB_CUDA_INVALID_DEVICE;
        current = device;
        return GB_CUDA_SUCCESS;
    }

    static int
    context_pop(gb_cuda_context *context)
    {
        *context = (gb_cuda_context)(uintptr_t)(current + 1);
        return GB_CUDA_SUCCESS;
    }

    /* "GB-IMAGE file\n" */
    static int
    module_load(gb_cuda_module *module, const void *image)
    {
        static const char head[] = "GB-IMAGE ";
        const size_t length = sizeof(head) - 1;
        const char *const name = (const char *)image + length;
        char file[64] = "";
        struct gb_cuda_image_data data;

        if (strncmp((const char *)image, head, length) != 0)
            return GB_CUDA_INVALID_IMAGE;
        memcpy(file, name, std::min(strcspn(name, "\n"), sizeof(file) - 1));
        data = gb_cuda_image_data(file, "");
        return data.bytes == nullptr
                   ? (int)GB_CUDA_NO_BINARY_FOR_GPU
                   : handed_on::module_load(module, data.bytes);
    }

    static const gb_cuda_kernel_node *
    in_order(const gb_cuda_kernel_node *hip, cuda_node *cuda)
    {
        cuda->function = hip->function;
        memcpy(cuda->grid, hip->grid, sizeof(cuda->grid));
        memcpy(cuda->block, hip->block, sizeof(cuda->block));
        cuda->shared = hip->shared;
        cuda->params = hip->params;
        cuda->extra = hip->extra;
        return (const gb_cuda_kernel_node *)(const void *)cuda;
    }

    static int
    graph_add_kernel(gb_cuda_graph_node *node, gb_cuda_graph graph,
                     const gb_cuda_graph_node *after, size_t n_after,
                     const gb_cuda_kernel_node *params)
    {
        cuda_node own;

        return handed_on::graph_add_kernel(node, graph, after, n_after,
                                           in_order(params, &own));
    }

    static int
    graph_exec_kernel(gb_cuda_graph_exec exec, gb_cuda_graph_node node,
                      const gb_cuda_kernel_node *params)
    {
        cuda_node own;

        return handed_on::graph_exec_kernel(exec, node, in_order(params, &own));
    }
};

} // namespace

#define GB_DRIVER_CALL(need, id, cuda, hip, parameters, arguments)     \
    EXPORTED int emu_entry_##id parameters                             \
    {                                                                  \
        return entry::id arguments;                                    \
    }
#include "backends/cuda/driver/driver.def"
#undef GB_DRIVER_CALL

/* ---- hip.h ---- */

namespace emu {

const int lanes = 32;

int
hip_arch(int)
{
    return ARCH;
}

gb_cuda_context
hip_context(int device)
{
    return device < 0 || device >= MAX_DEVICES ? nullptr
                                               : contexts[device].load();
}

void
report(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fputs("hip-on-cuda: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

} // namespace emu
