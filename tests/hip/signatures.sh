#!/bin/sh
# SPDX-License-Identifier: MIT
# The entry points of HIP's run time are declared as the vendor's header declares them,
# where there is that header: those of the table, and those that device-hip.c puts a
# function before.  Numbers agree, and so does the one struct that is passed.  The
# same for those of the BLAS, where there is that header.
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"
table=$top_srcdir/backends/cuda/driver/driver.def
adapted=$top_srcdir/backends/hip/device-hip.c
header=
for folder in "${ROCM_PATH:-/opt/rocm}/include" /usr/include; do
    [ -n "$header" ] || ! [ -f "$folder/hip/hip_runtime_api.h" ] || header=$folder
done
if [ -z "$header" ]; then
    echo '1..0 # SKIP hip/hip_runtime_api.h is not here'
    exit 0
fi
if ! echo '#include <hip/hip_runtime_api.h>
static_assert(sizeof(void *) == 8, "64 bits");' |
    $CXX -std=c++14 -fsyntax-only -w -D__HIP_PLATFORM_AMD__ -I"$header" -x c++ - \
        2>/dev/null; then
    echo "1..0 # SKIP $CXX does not compile the header for 64 bits"
    exit 0
fi

# What the header has twice for C++ is left out; a card's addresses are pointers there.
compile() {
    $CXX -std=c++14 -fsyntax-only -w -D__HIP_PLATFORM_AMD__ \
        -D__HIP_DISABLE_CPP_FUNCTIONS__ -DGB_USE_HIP -I"$header" -I"$top_srcdir" "$1"
}
cat >"$dir/head" <<'END'
#include <hip/hip_runtime_api.h>
#include "backends/cuda/driver/driver.h"
#include "tests/cuda/same.h"
#include <pthread.h>
typedef void *address;
END

# ---- the rows of the table that are called as they are ----

# rows TABLE: "id name (parameters)" a line.
rows() {
    sed -n 's/^GB_DRIVER_CALL([A-Z]*, \([a-z_]*\), "[^"]*", "\([A-Za-z0-9_]*\)", \((.*)\), (.*))$/\1 \2 \3/p' "$1"
}

check() {
    {
        cat "$dir/head"
        rows "$1" | sed 's/gb_cuda_address/address/g' |
            while read -r id name parameters; do
                echo "static int ours_$id $parameters;"
                echo "static_assert(agree(&$name, &ours_$id), \"$name\");"
            done
    } >"$dir/check.cpp"
    compile "$dir/check.cpp"
}
n_plain=$(grep '^GB_DRIVER_CALL' "$table" | grep -vc 'GB_HIP_[A-Z]*(')
claim "all $n_plain rows that are called as they are agree" check "$table"
claim 'each was compared' [ "$(grep -c static_assert "$dir/check.cpp")" -eq "$n_plain" ]

# ---- those that a function stands before ----

# "kept name" a line: the member of the struct of device-hip.c, HIP's name.
kept() {
    { tr '\n' ' ' <"$adapted" && echo; } | sed 's/STAND_BEFORE(driver, */\
/g' | sed -n 's/^\([a-z_]*\), hip\.\([a-z_]*\),.*/\1 \2/p' |
        while read -r id member; do
            sed -n "s/^GB_DRIVER_CALL([A-Z]*, $id, .*GB_HIP_ADAPTED(\"\([A-Za-z0-9]*\)\").*/$member \1/p" "$table"
        done
    echo 'properties hipGetDeviceProperties'
}

check_kept() {
    {
        cat "$dir/head"
        sed -n '/^typedef void \*hip_context/,/^} hip;/p' "$1"
        kept | while read -r member name; do
            echo "static_assert(agree(&$name, hip.$member), \"$name\");"
        done
    } | sed 's/^static struct {/struct prototypes {/; s/^} hip;/}; constexpr prototypes hip = {};/' \
        >"$dir/kept.cpp"
    compile "$dir/kept.cpp"
}
claim 'those that a function stands before agree' check_kept "$adapted"
n_kept=$(sed -n '/^static struct {$/,/^} hip;/p' "$adapted" | grep -c '(\*[a-z_]*)(')
claim 'each was compared' [ "$(grep -c static_assert "$dir/kept.cpp")" -eq "$n_kept" ]

cat "$dir/head" - >"$dir/node.cpp" <<'END'
static_assert(sizeof(gb_cuda_kernel_node) == sizeof(hipKernelNodeParams), "size");
#define SAME(ours, theirs)                                                       \
    static_assert(offsetof(gb_cuda_kernel_node, ours) ==                         \
                      offsetof(hipKernelNodeParams, theirs), #ours);
SAME(block, blockDim) SAME(extra, extra) SAME(function, func)
SAME(grid, gridDim) SAME(params, kernelParams) SAME(shared, sharedMemBytes)
END
claim "a kernel of a graph is the header's struct" compile "$dir/node.cpp"

# ---- numbers ----

cat >"$dir/numbers" <<'END'
GB_CUDA_INVALID_VALUE hipErrorInvalidValue
GB_CUDA_OUT_OF_MEMORY hipErrorOutOfMemory
GB_CUDA_NOT_INITIALIZED hipErrorNotInitialized
GB_CUDA_DEINITIALIZED hipErrorDeinitialized
GB_CUDA_NO_DEVICE hipErrorNoDevice
GB_CUDA_INVALID_DEVICE hipErrorInvalidDevice
GB_CUDA_INVALID_IMAGE hipErrorInvalidImage
GB_CUDA_INVALID_CONTEXT hipErrorInvalidContext
GB_CUDA_NO_BINARY_FOR_GPU hipErrorNoBinaryForGpu
GB_CUDA_INVALID_PTX hipErrorInvalidKernelFile
GB_CUDA_INVALID_HANDLE hipErrorInvalidHandle
GB_CUDA_NOT_FOUND hipErrorNotFound
GB_CUDA_NOT_READY hipErrorNotReady
GB_CUDA_ILLEGAL_ADDRESS hipErrorIllegalAddress
GB_CUDA_LAUNCH_OUT_OF_RESOURCES hipErrorLaunchOutOfResources
GB_CUDA_PEER_ACCESS_ALREADY_ENABLED hipErrorPeerAccessAlreadyEnabled
GB_CUDA_PEER_ACCESS_NOT_ENABLED hipErrorPeerAccessNotEnabled
GB_CUDA_HOST_MEMORY_ALREADY_REGISTERED hipErrorHostMemoryAlreadyRegistered
GB_CUDA_HOST_MEMORY_NOT_REGISTERED hipErrorHostMemoryNotRegistered
GB_CUDA_LAUNCH_FAILED hipErrorLaunchFailure
GB_CUDA_NOT_SUPPORTED hipErrorNotSupported
GB_CUDA_UNKNOWN hipErrorUnknown
GB_CUDA_FUNCTION_MAX_THREADS HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
GB_CUDA_FUNCTION_STATIC_SHARED HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
GB_CUDA_FUNCTION_LOCAL_BYTES HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
GB_CUDA_FUNCTION_REGISTERS HIP_FUNC_ATTRIBUTE_NUM_REGS
GB_CUDA_STREAM_NON_BLOCKING hipStreamNonBlocking
GB_CUDA_EVENT_BLOCKING_SYNC hipEventBlockingSync
GB_CUDA_EVENT_DISABLE_TIMING hipEventDisableTiming
GB_CUDA_HOST_PORTABLE hipHostMallocPortable
GB_CUDA_HOST_MAPPED hipHostMallocMapped
GB_CUDA_HOST_PORTABLE hipHostRegisterPortable
GB_CUDA_HOST_MAPPED hipHostRegisterMapped
GB_CUDA_MANAGED_GLOBAL hipMemAttachGlobal
END

# "ours theirs" a line: the rows of device-hip.c, by their vendor's names.
cat >"$dir/attributes" <<'END'
GB_CUDA_MAX_THREADS_PER_BLOCK hipDeviceAttributeMaxThreadsPerBlock
GB_CUDA_MAX_SHARED_PER_BLOCK hipDeviceAttributeMaxSharedMemoryPerBlock
GB_CUDA_WARP_SIZE hipDeviceAttributeWarpSize
GB_CUDA_MULTIPROCESSORS hipDeviceAttributeMultiprocessorCount
GB_CUDA_INTEGRATED hipDeviceAttributeIntegrated
GB_CUDA_COMPUTE_MODE hipDeviceAttributeComputeMode
GB_CUDA_L2_BYTES hipDeviceAttributeL2CacheSize
GB_CUDA_ASYNC_ENGINES hipDeviceAttributeAsyncEngineCount
GB_CUDA_UNIFIED_ADDRESSING hipDeviceAttributeUnifiedAddressing
GB_CUDA_MANAGED_MEMORY hipDeviceAttributeManagedMemory
GB_CUDA_PAGEABLE_ACCESS hipDeviceAttributePageableMemoryAccess
GB_CUDA_CONCURRENT_MANAGED hipDeviceAttributeConcurrentManagedAccess
GB_CUDA_MAX_SHARED_OPTIN hipDeviceAttributeSharedMemPerBlockOptin
GB_CUDA_PAGEABLE_BY_HOST_TABLES hipDeviceAttributePageableMemoryAccessUsesHostPageTables
END

check_numbers() {
    {
        cat "$dir/head"
        sed 's/\(.*\) \(.*\)/static_assert((int)\1 == (int)\2, "\2");/' "$dir/numbers"
        sed -n 's/^ *{ \(GB_CUDA_[A-Z0-9_]*\), \([0-9]*\) },$/\1 \2/p' "$1" |
            while read -r ours number; do
                theirs=$(sed -n "s/^$ours //p" "$dir/attributes")
                echo "static_assert((int)${theirs:-nobody} == $number, \"$ours\");"
            done
    } >"$dir/numbers.cpp"
    compile "$dir/numbers.cpp"
}
claim 'numbers agree' check_numbers "$adapted"
claim 'each was compared' [ "$(grep -c static_assert "$dir/numbers.cpp")" -eq \
    $(($(wc -l <"$dir/numbers") + $(wc -l <"$dir/attributes"))) ]

# ---- the BLAS ----

blas=$top_srcdir/backends/cuda/driver/blas.def
blas_adapted=$top_srcdir/backends/hip/blas-hip.c
blas_header=
for folder in "${ROCM_PATH:-/opt/rocm}/include" /usr/include; do
    [ -n "$blas_header" ] || ! [ -f "$folder/rocblas/rocblas.h" ] || blas_header=$folder
done
cat >"$dir/blas-head" <<END
#include "$blas_header/rocblas/rocblas.h"
#include "backends/cuda/driver/blas.h"
#include "tests/cuda/same.h"
END

check_blas() {
    {
        cat "$dir/blas-head"
        sed -n 's/^GB_BLAS_CALL(\([a-z_]*\), "[^"]*", "\([a-z_]*\)", \((.*)\))$/\1 \2 \3/p' "$1" |
            while read -r id name parameters; do
                echo "static int ours_$id $parameters;"
                echo "static_assert(agree(&$name, &ours_$id), \"$name\");"
            done
    } >"$dir/blas.cpp"
    compile "$dir/blas.cpp"
}

# What is called behind the function that stands before it.
check_gemm() {
    {
        cat "$dir/blas-head"
        sed -n '/^static int (\*own_gemm)/,/;$/p' "$1" | sed 's/(\*own_gemm)/own_gemm/'
        echo 'static_assert(agree(&rocblas_gemm_strided_batched_ex, &own_gemm), "gemm");'
    } >"$dir/gemm.cpp"
    compile "$dir/gemm.cpp"
}

# "number status" a line: those that have a name, where "[5] =" says the first's number.
blas_statuses() {
    sed -n '/^static const char \*const statuses/,/^};/p' "$1" | grep -o '\[[0-9][0-9]*\]\|"[a-z_]*"' |
        tr -d '[]"' | awk '/^[0-9]/ { n = $1; next } { print n++, $1 }'
}

check_blas_numbers() {
    {
        cat "$dir/blas-head"
        sed -n '/^enum {$/,/^};/p' "$1"
        while read -r ours theirs; do
            echo "static_assert((int)($ours) == (int)$theirs, \"$theirs\");"
        done <<'END'
PERF_DEGRADED rocblas_status_perf_degraded
GB_CUDA_BLAS_SUCCESS rocblas_status_success
FIRST_OP+GB_CUDA_BLAS_AS_IT_IS rocblas_operation_none
FIRST_OP+GB_CUDA_BLAS_TRANSPOSED rocblas_operation_transpose
F16 rocblas_datatype_f16_r
F32 rocblas_datatype_f32_r
BF16 rocblas_datatype_bf16_r
GB_CUDA_BLAS_NO_ATOMICS rocblas_atomics_not_allowed
0 rocblas_gemm_algo_standard
0 rocblas_gemm_flags_none
0 rocblas_pointer_mode_host
END
        blas_statuses "$1" | while read -r number status; do
            echo "static_assert($number == (int)$status, \"$status\");"
        done
    } >"$dir/blas-numbers.cpp"
    compile "$dir/blas-numbers.cpp"
}

if [ -n "$blas_header" ]; then
    n_plain=$(grep '^GB_BLAS_CALL' "$blas" | grep -vc 'GB_HIP_[A-Z]*(')
    claim "all $n_plain rows of the BLAS that are called as they are agree" check_blas "$blas"
    claim 'each was compared' [ "$(grep -c static_assert "$dir/blas.cpp")" -eq "$n_plain" ]
    claim 'its product agrees' check_gemm "$blas_adapted"
    claim 'its numbers agree' check_blas_numbers "$blas_adapted"
    claim 'each was compared' [ "$(grep -c static_assert "$dir/blas-numbers.cpp")" -eq \
        $((11 + $(grep -o '"rocblas_status_' "$blas_adapted" | wc -l))) ]
else
    n=$((n + 1))
    echo "ok $n - the BLAS agrees # SKIP rocblas/rocblas.h is not here"
fi

# ---- the comparison sees what is wrong ----

# found TEXT COMMAND FILE: what is no good is found.
found() {
    n=$((n + 1))
    if $2 "$3" >"$dir/out" 2>"$dir/err"; then
        echo "not ok $n - $1 is found"
    else
        echo "ok $n - $1 is found"
    fi
}
{
    cat <<'END'
a smaller number|check|backends/cuda/driver/driver.def|s/(size_t \*bytes, int device)/(int *bytes, int device)/
an address for a size|check|backends/cuda/driver/driver.def|s/(void \*memory), (memory)/(size_t memory), (memory)/
a parameter less|check_kept|backends/hip/device-hip.c|s/(\*peer_enable)(int peer, unsigned flags)/(*peer_enable)(int peer)/
a pointer for a number|check_kept|backends/hip/device-hip.c|s/(\*set_device)(int device)/(*set_device)(void *device)/
another attribute|check_numbers|backends/hip/device-hip.c|s/{ GB_CUDA_WARP_SIZE, 87 }/{ GB_CUDA_WARP_SIZE, 10 }/
END
    [ -z "$blas_header" ] || cat <<'END'
the BLAS without a size|check_blas|backends/cuda/driver/blas.def|s/void \*workspace, size_t size/void *workspace/
a product without flags|check_gemm|backends/hip/blas-hip.c|s/int32_t solution, uint32_t flags/int32_t solution/
a product with smaller strides|check_gemm|backends/hip/blas-hip.c|s/int64_t stride_d/int stride_d/
another type|check_blas_numbers|backends/hip/blas-hip.c|s/BF16 = 168/BF16 = 169/
another status|check_blas_numbers|backends/hip/blas-hip.c|s/\[11\] = "rocblas/[12] = "rocblas/
END
} >"$dir/wrong"
while IFS='|' read -r text command file edit; do
    sed "$edit" "$top_srcdir/$file" >"$dir/other"
    claim "not the same: with $text" \
        sh -c '! cmp -s "$1" "$2"' - "$top_srcdir/$file" "$dir/other"
    found "$text" "$command" "$dir/other"
done <"$dir/wrong"
echo "1..$n"
