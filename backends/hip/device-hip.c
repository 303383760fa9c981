/* SPDX-License-Identifier: MIT */
/*
 * hip/device-hip.c - what AMD's run time names, numbers and does otherwise than
 * CUDA's driver.
 *
 * Results have CUDA's numbers (hip_runtime_api.h, which keeps them so on
 * purpose); flags have too, but for one.  No struct of HIP's is read or written,
 * since these change between its major versions, except that of a kernel in a
 * graph, which never did.
 */
#include "backends/cuda/driver/platform.h"

#include "ggml-impl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const libraries[] = {
    "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", NULL
};

/* Attributes have had their numbers since 5.0. */
const struct gb_cuda_platform gb_cuda_platform = {
    .name = "ROCm",
    .log_name = "hip",
    .libraries = libraries,
    .least_version = 5000,
    .arch_word = "architecture",
    .arch_option = "--with-hip-arch",
    /* Some have an integrated one in front that nobody means. */
    .discrete_first = true,
    /* Each change of a node takes some KB of the card's memory, which comes back
     * with the graph's end alone (ROCm/rocm-systems#10713). */
    .most_changes = 4096,
};

typedef void *hip_context;

/* The run time's own functions behind those that stand before them. */
static struct {
    const char *(*error_name)(int result);
    const char *(*error_text)(int result);
    int (*version)(int *version);
    int (*attribute)(int *value, int attribute, int device);
    int (*retain)(hip_context *context, int device);
    int (*set_device)(int device);
    int (*get_device)(int *device);
    int (*peer_enable)(int peer, unsigned flags);
    int (*peer_disable)(int peer);
    int (*copy_to_peer)(void *to, int to_device, const void *from,
                        int from_device, size_t size, gb_cuda_stream stream);
    int (*host_register)(void *memory, size_t size, unsigned flags);
    int (*properties)(void *properties, int device);
    pthread_key_t entered;
} hip;

/* ---- errors, version, attributes ---- */

static int
error_name(int result, const char **name)
{
    *name = hip.error_name(result);
    return GB_CUDA_SUCCESS;
}

static int
error_text(int result, const char **text)
{
    *text = hip.error_text(result);
    return GB_CUDA_SUCCESS;
}

/* It counts 10,000,000 a major version and 100,000 a minor one. */
static int
version(int *out)
{
    int found = 0;
    const int result = hip.version(&found);

    *out = found / 10000000 * 1000 + found / 100000 % 100 * 10;
    return result;
}

static int
attribute(int *value, int which, int device)
{
    static const struct {
        int cuda, hip;
    } rows[] = {
        { GB_CUDA_MAX_THREADS_PER_BLOCK, 56 },
        { GB_CUDA_MAX_SHARED_PER_BLOCK, 74 },
        { GB_CUDA_WARP_SIZE, 87 },
        { GB_CUDA_MULTIPROCESSORS, 63 },
        { GB_CUDA_INTEGRATED, 16 },
        { GB_CUDA_COMPUTE_MODE, 6 },
        { GB_CUDA_L2_BYTES, 19 },
        { GB_CUDA_ASYNC_ENGINES, 2 },
        { GB_CUDA_UNIFIED_ADDRESSING, 85 },
        { GB_CUDA_MANAGED_MEMORY, 24 },
        { GB_CUDA_PAGEABLE_ACCESS, 65 },
        { GB_CUDA_CONCURRENT_MANAGED, 9 },
        { GB_CUDA_MAX_SHARED_OPTIN, 75 },
        { GB_CUDA_PAGEABLE_BY_HOST_TABLES, 66 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].cuda == which)
            return hip.attribute(value, rows[i].hip, device);
    }
    return GB_CUDA_INVALID_VALUE;
}

/* ---- contexts, which are devices ---- */

static gb_cuda_context
context_of(int device)
{
    return (gb_cuda_context)(uintptr_t)(device + 1);
}

static int
device_of(gb_cuda_context context)
{
    return (int)(uintptr_t)context - 1;
}

static int
retain(gb_cuda_context *context, int device)
{
    hip_context unused;
    const int result = hip.retain(&unused, device);

    *context = context_of(device);
    return result;
}

/*
 * A thread has one current device and no stack of them (hipCtxPopCurrent leaves
 * it as it was).  Those that were current before are kept as a number of five
 * bits each, the last in the lowest ones.
 */
enum { DEVICE_BITS = 5, DEVICE_MASK = (1 << DEVICE_BITS) - 1 };

static int
enter(gb_cuda_context context)
{
    const uintptr_t entered = (uintptr_t)pthread_getspecific(hip.entered);
    int before = 0, result;

    if (entered >> (8 * sizeof(entered) - DEVICE_BITS) != 0)
        return GB_CUDA_INVALID_CONTEXT;
    result = hip.get_device(&before);
    if (result != GB_CUDA_SUCCESS)
        return result;
    if (before >= DEVICE_MASK)
        return GB_CUDA_INVALID_DEVICE;
    result = hip.set_device(device_of(context));
    if (result != GB_CUDA_SUCCESS)
        return result;
    if (pthread_setspecific(hip.entered,
                            (void *)(entered << DEVICE_BITS |
                                     (uintptr_t)(before + 1))) == 0)
        return GB_CUDA_SUCCESS;
    hip.set_device(before);
    return GB_CUDA_OUT_OF_MEMORY;
}

static int
leave(gb_cuda_context *context)
{
    const uintptr_t entered = (uintptr_t)pthread_getspecific(hip.entered);
    int current = 0;

    if (entered == 0)
        return GB_CUDA_INVALID_CONTEXT;
    pthread_setspecific(hip.entered, (void *)(entered >> DEVICE_BITS));
    hip.get_device(&current);
    *context = context_of(current);
    return hip.set_device((int)(entered & DEVICE_MASK) - 1);
}

/* ---- memory ---- */

static int
peer_enable(gb_cuda_context peer, unsigned flags)
{
    return hip.peer_enable(device_of(peer), flags);
}

static int
peer_disable(gb_cuda_context peer)
{
    return hip.peer_disable(device_of(peer));
}

static int
copy_to_peer(gb_cuda_address to, gb_cuda_context to_context,
             gb_cuda_address from, gb_cuda_context from_context, size_t size,
             gb_cuda_stream stream)
{
    return hip.copy_to_peer((void *)(uintptr_t)to, device_of(to_context),
                            (const void *)(uintptr_t)from,
                            device_of(from_context), size, stream);
}

/* CUDA's bit for what is only read is that of another kind of memory here. */
static int
host_register(void *memory, size_t size, unsigned flags)
{
    return hip.host_register(memory, size,
                             flags & ~(unsigned)GB_CUDA_HOST_READ_ONLY);
}

/* ---- kernels ---- */

/* All shared memory that there is can be had without asking. */
static int
function_set(gb_cuda_function function, int which, int value)
{
    (void)function;
    return which == GB_CUDA_FUNCTION_MAX_DYNAMIC_SHARED && value <= 64 * 1024
               ? GB_CUDA_SUCCESS : GB_CUDA_INVALID_VALUE;
}

/* ---- the platform ---- */

/* Put OURS in the place of MEMBER, which is kept where it can be called. */
#define STAND_BEFORE(driver, member, kept, ours)                  \
    do {                                                          \
        memcpy(&(kept), &(driver)->member, sizeof(kept));         \
        if ((driver)->member != NULL)                             \
            (driver)->member = (ours);                            \
    } while (0)

/* "10.3.0" lets the run time say gfx1030 of all cards. */
static void
tell_of_override(void)
{
    const char *variable = "HSA_OVERRIDE_GFX_VERSION", *set = getenv(variable);
    unsigned major, minor, step;
    char value[64];

    if (set != NULL && snprintf(value, sizeof(value), "%s", set) > 0 &&
        sscanf(value, "%u.%u.%u", &major, &minor, &step) == 3)
        GGML_LOG_WARN("%s: cards are taken for gfx%u%x%x, whatever they are: "
                      "%s=%s\n", gb_cuda_platform.log_name, major, minor, step,
                      variable, value);
}

const char *
gb_cuda_platform_adapt(struct gb_cuda_driver *driver, void *library)
{
    void *properties = dlsym(library, "hipGetDevicePropertiesR0600");

    /* The plain name is an older struct's where there are both. */
    if (properties == NULL)
        properties = dlsym(library, "hipGetDeviceProperties");
    if (properties == NULL)
        return "the driver is too old: it has no hipGetDeviceProperties";
    if (pthread_key_create(&hip.entered, NULL) != 0)
        return "the process has no key left for values of threads";
    memcpy(&hip.properties, &properties, sizeof(properties));
    STAND_BEFORE(driver, error_name, hip.error_name, error_name);
    STAND_BEFORE(driver, error_text, hip.error_text, error_text);
    STAND_BEFORE(driver, version, hip.version, version);
    STAND_BEFORE(driver, device_attribute, hip.attribute, attribute);
    STAND_BEFORE(driver, context_retain, hip.retain, retain);
    STAND_BEFORE(driver, context_push, hip.set_device, enter);
    STAND_BEFORE(driver, context_pop, hip.get_device, leave);
    STAND_BEFORE(driver, peer_enable, hip.peer_enable, peer_enable);
    STAND_BEFORE(driver, peer_disable, hip.peer_disable, peer_disable);
    STAND_BEFORE(driver, copy_to_peer, hip.copy_to_peer, copy_to_peer);
    STAND_BEFORE(driver, host_register, hip.host_register, host_register);
    driver->function_set = function_set;
    tell_of_override();
    return NULL;
}

/* The kernel's driver shows itself by a file, which one group may open. */
const char *
gb_cuda_platform_hint(void)
{
    if (access("/dev/kfd", F_OK) != 0)
        return "there is no /dev/kfd, so the kernel has no driver for a card";
    if (access("/dev/kfd", R_OK | W_OK) != 0)
        return "/dev/kfd may not be opened; its group, often render, may";
    return NULL;
}

/* Versions whose recorded graphs are known to be wrong, on one architecture where
 * it was seen on that alone. */
const char *
gb_cuda_platform_graph_fault(int version, int arch)
{
    static const struct {
        int first, last, arch;
        const char *what;
    } faults[] = {
        { 0, 5020, 0, "takes no kernels of modules, and mixes up two nodes' "
                      "arguments (ROCm/hip#2450, #2550)" },
        { 7020, 7020, 0x942, "corrupts results (ROCm/clr#279)" },
        { 7020, 7020, 0x950, "lets kernels read old values (ROCm/hip#3902)" },
    };

    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        if (version >= faults[i].first && version <= faults[i].last &&
            (faults[i].arch == 0 || faults[i].arch == arch))
            return faults[i].what;
    }
    return NULL;
}

/*
 * The properties of a device are a struct whose size and members are those of a
 * version; of it only one text is wanted, which no other member can be taken
 * for: "gfx90a:sramecc+:xnack-", behind the name, which is the first member and
 * has 256 bytes.
 */
enum { NAME_SIZE = 256, MOST_PROPERTIES = 16384 };

static bool
is_arch(const char *text, const char *end)
{
    size_t n;

    if (end - text < 8 || memcmp(text, "gfx", 3) != 0)
        return false;
    n = strspn(text + 3, "0123456789abcdef");
    return n >= 3 && n <= 4 && (text[3 + n] == '\0' || text[3 + n] == ':');
}

int
gb_cuda_platform_arch(
    const struct gb_cuda_driver *driver, int handle, struct gb_cuda_arch *out)
{
    char *properties = calloc(1, MOST_PROPERTIES);
    const char *end = properties + MOST_PROPERTIES - 1;
    int result;

    (void)driver;
    if (properties == NULL)
        return GB_CUDA_OUT_OF_MEMORY;
    *out = (struct gb_cuda_arch){ .text = "unknown" };
    result = hip.properties(properties, handle);
    for (const char *at = properties + NAME_SIZE; at < end; at++) {
        if (is_arch(at, end)) {
            snprintf(out->text, sizeof(out->text), "%s", at);
            out->number = (int)strtol(at + 3, NULL, 16);
            break;
        }
    }
    free(properties);
    return result;
}

/* The run time's sixteen bytes are a text. */
void
gb_cuda_platform_uuid(
    const struct gb_cuda_uuid *uuid, char *text, size_t size)
{
    snprintf(text, size, "GPU-%.16s", (const char *)uuid->bytes);
}
