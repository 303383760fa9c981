/* SPDX-License-Identifier: MIT */
/*
 * cuda/driver/driver.h - the vendor's driver, opened at run time.
 *
 * Types and numbers are those of the CUDA driver API (the vendor's reference
 * manual), declared here so that neither building nor testing needs a header of
 * the vendor's.
 */
#ifndef GB_CUDA_DRIVER_DRIVER_H
#define GB_CUDA_DRIVER_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which of two names, or of two orders of members, is the driver's own. */
#ifdef GB_USE_HIP
#define GB_CUDA_NAME_OF(cuda, hip) hip
#else
#define GB_CUDA_NAME_OF(cuda, hip) cuda
#endif

typedef uint64_t gb_cuda_address; /* of memory as a device sees it */
typedef struct gb_cuda_context_object *gb_cuda_context;
typedef struct gb_cuda_stream_object *gb_cuda_stream;
typedef struct gb_cuda_event_object *gb_cuda_event;
typedef struct gb_cuda_module_object *gb_cuda_module;
typedef struct gb_cuda_function_object *gb_cuda_function;
typedef struct gb_cuda_graph_object *gb_cuda_graph;
typedef struct gb_cuda_graph_node_object *gb_cuda_graph_node;
typedef struct gb_cuda_graph_exec_object *gb_cuda_graph_exec;

struct gb_cuda_uuid {
    uint8_t bytes[16];
};

/* CUDA_KERNEL_NODE_PARAMS in its first version, which every driver takes, and
 * hipKernelNodeParams; shared memory is beyond what the kernel declares. */
struct gb_cuda_kernel_node {
    GB_CUDA_NAME_OF(gb_cuda_function function; unsigned grid[3];
                    unsigned block[3]; unsigned shared; void **params;
                    void **extra;,
                    unsigned block[3]; void **extra; gb_cuda_function function;
                    unsigned grid[3]; void **params; unsigned shared;)
};

/* CUlaunchAttribute; the value is what the number of the attribute says. */
struct gb_cuda_launch_attribute {
    int32_t number;
    int32_t unused;
    union {
        int32_t is_on;
        uint64_t all[8];
    } value;
};

/* CUlaunchConfig. */
struct gb_cuda_launch_config {
    unsigned grid[3];
    unsigned block[3];
    unsigned shared;
    gb_cuda_stream stream;
    const struct gb_cuda_launch_attribute *attributes;
    unsigned n_attributes;
};

/* CUgraphEdgeData. */
struct gb_cuda_edge {
    uint8_t from_port;
    uint8_t to_port;
    uint8_t type;
    uint8_t unused[5];
};

enum gb_cuda_result {
    GB_CUDA_SUCCESS = 0,
    GB_CUDA_INVALID_VALUE = 1,
    GB_CUDA_OUT_OF_MEMORY = 2,
    GB_CUDA_NOT_INITIALIZED = 3,
    GB_CUDA_DEINITIALIZED = 4,
    GB_CUDA_STUB_LIBRARY = 34,
    GB_CUDA_NO_DEVICE = 100,
    GB_CUDA_INVALID_DEVICE = 101,
    GB_CUDA_INVALID_IMAGE = 200,
    GB_CUDA_INVALID_CONTEXT = 201,
    GB_CUDA_NO_BINARY_FOR_GPU = 209,
    GB_CUDA_INVALID_PTX = 218,
    GB_CUDA_JIT_COMPILER_NOT_FOUND = 221,
    GB_CUDA_UNSUPPORTED_PTX_VERSION = 222,
    GB_CUDA_JIT_COMPILATION_DISABLED = 223,
    GB_CUDA_INVALID_HANDLE = 400,
    GB_CUDA_NOT_FOUND = 500,
    GB_CUDA_NOT_READY = 600,
    GB_CUDA_ILLEGAL_ADDRESS = 700,
    GB_CUDA_LAUNCH_OUT_OF_RESOURCES = 701,
    GB_CUDA_PEER_ACCESS_ALREADY_ENABLED = 704,
    GB_CUDA_PEER_ACCESS_NOT_ENABLED = 705,
    GB_CUDA_HOST_MEMORY_ALREADY_REGISTERED = 712,
    GB_CUDA_HOST_MEMORY_NOT_REGISTERED = 713,
    GB_CUDA_LAUNCH_FAILED = 719,
    GB_CUDA_NOT_SUPPORTED = 801,
    GB_CUDA_SYSTEM_DRIVER_MISMATCH = 803,
    GB_CUDA_UNKNOWN = 999,
};

enum gb_cuda_attribute {
    GB_CUDA_MAX_THREADS_PER_BLOCK = 1,
    GB_CUDA_MAX_SHARED_PER_BLOCK = 8,
    GB_CUDA_WARP_SIZE = 10,
    GB_CUDA_MULTIPROCESSORS = 16,
    GB_CUDA_INTEGRATED = 18,
    GB_CUDA_COMPUTE_MODE = 20, /* 2: nobody may use it */
    GB_CUDA_L2_BYTES = 38,
    GB_CUDA_ASYNC_ENGINES = 40,
    GB_CUDA_UNIFIED_ADDRESSING = 41,
    GB_CUDA_MAJOR = 75,
    GB_CUDA_MINOR = 76,
    GB_CUDA_MANAGED_MEMORY = 83,
    GB_CUDA_PAGEABLE_ACCESS = 88,
    GB_CUDA_CONCURRENT_MANAGED = 89,
    GB_CUDA_MAX_SHARED_OPTIN = 97,
    GB_CUDA_PAGEABLE_BY_HOST_TABLES = 100,
};

/* Of functions. */
enum gb_cuda_function_attribute {
    GB_CUDA_FUNCTION_MAX_THREADS = 0,
    GB_CUDA_FUNCTION_STATIC_SHARED = 1,
    GB_CUDA_FUNCTION_LOCAL_BYTES = 3,
    GB_CUDA_FUNCTION_REGISTERS = 4,
    GB_CUDA_FUNCTION_MAX_DYNAMIC_SHARED = 8,
};

enum {
    GB_CUDA_STREAM_NON_BLOCKING = 1,  /* stream_create */
    GB_CUDA_EVENT_BLOCKING_SYNC = 1,  /* event_create: waits sleep */
    GB_CUDA_EVENT_DISABLE_TIMING = 2,
    GB_CUDA_HOST_PORTABLE = 1,        /* host_alloc, host_register: all devices */
    GB_CUDA_HOST_MAPPED = 2,
    GB_CUDA_HOST_READ_ONLY = 8,       /* host_register */
    GB_CUDA_MANAGED_GLOBAL = 1,       /* memory_alloc_managed */
    GB_CUDA_ATTRIBUTE_MAY_BEGIN_EARLY = 6, /* programmatic serialization */
    GB_CUDA_PORT_LETS_NEXT_BEGIN = 1, /* edges, from_port: launch_dependents */
    GB_CUDA_EDGE_PROGRAMMATIC = 1,    /* edges, type */
    GB_CUDA_MAP_UINT16 = 1,           /* tensor_map: the values */
    GB_CUDA_MAP_NO_INTERLEAVE = 0,
    GB_CUDA_MAP_SWIZZLE_128 = 3,
    GB_CUDA_MAP_L2_128 = 2,           /* bytes that are fetched at once */
    GB_CUDA_MAP_ZEROS_OUTSIDE = 0,
};

/* One member an entry point, NULL where an optional one is missing. */
struct gb_cuda_driver {
#define GB_DRIVER_CALL(need, id, cuda, hip, parameters, arguments) \
    int (*id) parameters;
#include "backends/cuda/driver/driver.def"
#undef GB_DRIVER_CALL
};

/*
 * The driver, opened and initialized by the first call.  NULL, with *REASON
 * (static) saying why, where there is none that can be used; the answer is the
 * same from then on.  Any thread.
 */
const struct gb_cuda_driver *gb_cuda_driver(const char **reason);

/* "out of memory (CUDA_ERROR_OUT_OF_MEMORY)", for messages; never NULL. */
const char *gb_cuda_error(int result);

#endif
