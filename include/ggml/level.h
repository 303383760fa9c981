/* SPDX-License-Identifier: MIT */
/*
 * ggml/level.h - part of ggml.h: which names and parameters a client sees.
 */
#ifndef GGML_H_PARTS
#error "include ggml.h instead of its parts"
#endif
#ifndef GGML_LEVEL_H
#define GGML_LEVEL_H

/*
 * The level of the interface that a source was written for, as year and month.
 * A client may define it before it includes a header.  Programs are served at
 * level 202503.  Backends may also be of level 202410 or 202311, which the
 * headers in the folders level-2024 and level-2023 ask for: those folders come
 * first on the include path then (pkg-config ggmlbackend-2024 and -2023).
 */
#ifndef GGML_API_LEVEL
#define GGML_API_LEVEL 202503
#endif

#if GGML_API_LEVEL != 202503 && GGML_API_LEVEL != 202410 && \
    GGML_API_LEVEL != 202311
#error "GGML_API_LEVEL is 202503, or 202410 or 202311 in backends"
#endif

/*
 * Names with another meaning at level 202410: the structs that they are given
 * differ, so they are other functions in the library.  prefix.h may have named
 * them before.
 */
#if GGML_API_LEVEL == 202410
#undef ggml_backend_buffer_init
#undef ggml_backend_register
#undef ggml_backend_device_register
#undef ggml_backend_reg_name
#undef ggml_backend_reg_dev_count
#undef ggml_backend_reg_dev_get
#undef ggml_backend_reg_get_proc_address
#define ggml_backend_buffer_init ggmlbackend_l202410_backend_buffer_init
#define ggml_backend_register ggmlbackend_l202410_backend_register
#define ggml_backend_device_register ggmlbackend_l202410_backend_device_register
#define ggml_backend_reg_name ggmlbackend_l202410_backend_reg_name
#define ggml_backend_reg_dev_count ggmlbackend_l202410_backend_reg_dev_count
#define ggml_backend_reg_dev_get ggmlbackend_l202410_backend_reg_dev_get
#define ggml_backend_reg_get_proc_address \
    ggmlbackend_l202410_backend_reg_get_proc_address
#endif

/* What a backend's init_tensor returns. */
#if GGML_API_LEVEL >= 202503
#define GGML_LEVEL_INIT_RESULT enum ggml_status
#else
#define GGML_LEVEL_INIT_RESULT void
#endif

/*
 * Where a tensor lies, a note that backends of these levels make for
 * themselves in its field backend.  A new tensor has 0.
 */
#if GGML_API_LEVEL < 202410
enum ggml_backend_type {
    GGML_BACKEND_CPU       = 0,
    GGML_BACKEND_GPU       = 10,
    GGML_BACKEND_GPU_SPLIT = 20
};
#elif GGML_API_LEVEL < 202503
enum ggml_backend_type {
    GGML_BACKEND_TYPE_CPU       = 0,
    GGML_BACKEND_TYPE_GPU       = 10,
    GGML_BACKEND_TYPE_GPU_SPLIT = 20
};
#endif

/*
 * Names that are gone: no tensor has such a type or operation, but code that
 * asks for them compiles.  The last two operations are PowerInfer's.
 */
#if GGML_API_LEVEL < 202410
#define GGML_LEVEL_OPS                                                         \
    , GGML_OP_ALIBI = 1000, GGML_OP_FLASH_ATTN = 1001, GGML_OP_FLASH_FF = 1002, \
    GGML_OP_MUL_MAT_SPARSE = 1003, GGML_OP_AXPY = 1004
#define GGML_LEVEL_UNARY_OPS , GGML_UNARY_OP_LEAKY = 1000
#else
#define GGML_LEVEL_OPS
#define GGML_LEVEL_UNARY_OPS
#endif
#if GGML_API_LEVEL == 202410
#define GGML_LEVEL_TYPES \
    , GGML_TYPE_Q4_0_4_4 = 31, GGML_TYPE_Q4_0_4_8 = 32, GGML_TYPE_Q4_0_8_8 = 33
#define GGML_OP_RWKV_WKV GGML_OP_RWKV_WKV6
#else
#define GGML_LEVEL_TYPES
#endif

/*
 * What a device of 2024-10 may answer besides.  Before the last of that month
 * CPU meant one that helps the CPU, as ACCEL does since; the adapter lists both
 * so, and these as CPU and GPU.
 */
#if GGML_API_LEVEL == 202410
#define GGML_LEVEL_DEVICE_TYPES                  \
    , GGML_BACKEND_DEVICE_TYPE_CPU_FULL = 1000, \
    GGML_BACKEND_DEVICE_TYPE_GPU_FULL   = 1001
#else
#define GGML_LEVEL_DEVICE_TYPES
#endif

#endif
