#!/bin/sh
# SPDX-License-Identifier: MIT
# The entry points of the driver and of the BLAS are declared as the vendor's
# headers declare them, where there are these headers: types may have other names, but every parameter is a
# pointer where the vendor's is one, and as large.
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"
table=$top_srcdir/backends/cuda/driver/driver.def
blas=$top_srcdir/backends/cuda/driver/blas.def

# header FOLDER…: that of the first that has it.
header() {
    for folder; do
        if [ -f "$folder/cuda.h" ]; then
            echo "$folder"
            return 0
        fi
    done
    return 1
}

nvcc=$(command -v nvcc) && nvcc=$(dirname "$(dirname "$nvcc")")/include
if ! folder=$(header "${CUDA_HOME:-/nowhere}/include" \
    "${CUDA_PATH:-/nowhere}/include" "${nvcc:-/nowhere}" \
    /usr/local/cuda/include); then
    echo '1..0 # SKIP cuda.h is not here'
    exit 0
fi

if ! echo 'int is_64[sizeof(void *) == 8 ? 1 : -1];' |
    ${CC:-cc} -x c -fsyntax-only - 2>/dev/null; then
    echo '1..0 # SKIP the driver is for 64 bits'
    exit 0
fi

# rows TABLE: "id name (parameters)" a line, of either table.
rows() {
    sed -n -e 's/^GB_DRIVER_CALL([A-Z]*, \([a-z_]*\), "\([A-Za-z0-9_]*\)", [^,]*, \((.*)\), (.*))$/\1 \2 \3/p' \
        -e 's/^GB_BLAS_CALL(\([a-z_]*\), "\([A-Za-z0-9_]*\)", [^,]*, \((.*)\))$/\1 \2 \3/p' "$1"
}

# check TABLE HEADER: each row of TABLE against the vendor's header.
check() {
    {
        printf '#define __CUDA_API_VERSION_INTERNAL\n#include "%s"\n' "$2"
        echo '#include "backends/cuda/driver/blas.h"'
        echo '#include "tests/cuda/same.h"'
        rows "$1" | while read -r id name parameters; do
            echo "static int ours_$id $parameters;"
            echo "static_assert(agree(&$name, &ours_$id), \"$name is declared so\");"
        done
    } >"$dir/check.cpp"
    # shellcheck disable=SC2086
    $CXX -std=c++14 -fsyntax-only -w -I"$folder" -I"$dir" -I"$top_srcdir" \
        "$dir/check.cpp"
}

# compare TABLE HEADER
compare() {
    count=$(grep -c '^GB_[A-Z]*_CALL' "$1")
    claim "all $count rows agree with ${2##*/}" check "$1" "$2"
    claim 'each was compared' \
        [ "$(grep -c static_assert "$dir/check.cpp")" -eq "$count" ]
}

compare "$table" cuda.h

# For C++ that header has each function of the BLAS twice, in the end; without that:
has_blas=
if [ -f "$folder/cublas_api.h" ]; then
    has_blas=yes
    sed '/^static inline cublasStatus_t cublasMigrateComputeType/,/^#endif/{/^#endif/!d;}' \
        "$folder/cublas_api.h" >"$dir/cublas_api.h"
    compare "$blas" "$dir/cublas_api.h"
fi

# Numbers: "ours theirs" a line, results by their names.
numbers() {
    sed -n '/^enum gb_cuda_result/,/^}/s/^ *GB_CUDA_\([A-Z_0-9]*\) = [1-9].*/GB_CUDA_\1 CUDA_ERROR_\1/p' \
        "$top_srcdir/backends/cuda/driver/driver.h"
    cat <<'END'
GB_CUDA_MAX_THREADS_PER_BLOCK CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK
GB_CUDA_MAX_SHARED_PER_BLOCK CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK
GB_CUDA_WARP_SIZE CU_DEVICE_ATTRIBUTE_WARP_SIZE
GB_CUDA_MULTIPROCESSORS CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
GB_CUDA_INTEGRATED CU_DEVICE_ATTRIBUTE_INTEGRATED
GB_CUDA_COMPUTE_MODE CU_DEVICE_ATTRIBUTE_COMPUTE_MODE
GB_CUDA_L2_BYTES CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
GB_CUDA_ASYNC_ENGINES CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT
GB_CUDA_UNIFIED_ADDRESSING CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING
GB_CUDA_MAJOR CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
GB_CUDA_MINOR CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
GB_CUDA_MANAGED_MEMORY CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY
GB_CUDA_PAGEABLE_ACCESS CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS
GB_CUDA_CONCURRENT_MANAGED CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS
GB_CUDA_MAX_SHARED_OPTIN CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
GB_CUDA_PAGEABLE_BY_HOST_TABLES CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES
GB_CUDA_FUNCTION_MAX_THREADS CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
GB_CUDA_FUNCTION_STATIC_SHARED CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
GB_CUDA_FUNCTION_LOCAL_BYTES CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
GB_CUDA_FUNCTION_REGISTERS CU_FUNC_ATTRIBUTE_NUM_REGS
GB_CUDA_FUNCTION_MAX_DYNAMIC_SHARED CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
GB_CUDA_STREAM_NON_BLOCKING CU_STREAM_NON_BLOCKING
GB_CUDA_EVENT_BLOCKING_SYNC CU_EVENT_BLOCKING_SYNC
GB_CUDA_EVENT_DISABLE_TIMING CU_EVENT_DISABLE_TIMING
GB_CUDA_HOST_PORTABLE CU_MEMHOSTALLOC_PORTABLE
GB_CUDA_HOST_MAPPED CU_MEMHOSTALLOC_DEVICEMAP
GB_CUDA_HOST_READ_ONLY CU_MEMHOSTREGISTER_READ_ONLY
GB_CUDA_MANAGED_GLOBAL CU_MEM_ATTACH_GLOBAL
GB_CUDA_ATTRIBUTE_MAY_BEGIN_EARLY CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
GB_CUDA_PORT_LETS_NEXT_BEGIN CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC
GB_CUDA_EDGE_PROGRAMMATIC CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
GB_CUDA_MAP_UINT16 CU_TENSOR_MAP_DATA_TYPE_UINT16
GB_CUDA_MAP_NO_INTERLEAVE CU_TENSOR_MAP_INTERLEAVE_NONE
GB_CUDA_MAP_SWIZZLE_128 CU_TENSOR_MAP_SWIZZLE_128B
GB_CUDA_MAP_L2_128 CU_TENSOR_MAP_L2_PROMOTION_L2_128B
GB_CUDA_MAP_ZEROS_OUTSIDE CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE
END
}

blas_numbers() {
    sed -n '/^enum gb_cuda_blas_status/,/^}/s/^ *GB_CUDA_BLAS_\([A-Z_]*\) = [0-9]*,$/GB_CUDA_BLAS_\1 CUBLAS_STATUS_\1/p' \
        "$top_srcdir/backends/cuda/driver/blas.h"
    cat <<'END'
GB_CUDA_BLAS_NO_ATOMICS CUBLAS_ATOMICS_NOT_ALLOWED
GB_CUDA_BLAS_AS_IT_IS CUBLAS_OP_N
GB_CUDA_BLAS_TRANSPOSED CUBLAS_OP_T
GB_CUDA_BLAS_F32 CUDA_R_32F
GB_CUDA_BLAS_F16 CUDA_R_16F
GB_CUDA_BLAS_BF16 CUDA_R_16BF
GB_CUDA_BLAS_COMPUTE_F32 CUBLAS_COMPUTE_32F
GB_CUDA_BLAS_ANY_ALGORITHM CUBLAS_GEMM_DEFAULT
END
}

# How many numbers a header has.
count() {
    grep -c '^ *GB_CUDA_[A-Z_0-9]* = -*[0-9]' \
        "$top_srcdir/backends/cuda/driver/$1"
}

# compare_numbers LIST HEADER
compare_numbers() {
    {
        printf '#include "%s"\n#include "backends/cuda/driver/blas.h"\n' "$2"
        "$1" | while read -r ours theirs; do
            echo "static_assert((int)$ours == (int)$theirs, \"$ours\");"
        done
    } >"$dir/numbers.cpp"
    $CXX -std=c++14 -fsyntax-only -w -I"$folder" -I"$top_srcdir" \
        "$dir/numbers.cpp"
}

claim 'numbers agree' compare_numbers numbers cuda.h
# GB_CUDA_SUCCESS, which is 0, alone is left out.
claim 'each was compared' \
    [ "$(numbers | wc -l)" -eq $(($(count driver.h) - 1)) ]
if [ -n "$has_blas" ]; then
    claim 'numbers of the BLAS agree' compare_numbers blas_numbers "$dir/cublas_api.h"
    claim 'each was compared' [ "$(blas_numbers | wc -l)" -eq "$(count blas.h)" ]
fi

# The comparison sees another type, another count, and a value for a pointer.
while IFS='|' read -r text command; do
    sed "$command" "$table" >"$dir/other.def"
    claim "not the same: a table with $text" \
        sh -c '! cmp -s "$1" "$2"' - "$table" "$dir/other.def"
    n=$((n + 1))
    if check "$dir/other.def" cuda.h >"$dir/out" 2>"$dir/err"; then
        echo "not ok $n - $text is found"
    else
        echo "ok $n - $text is found"
    fi
done <<'END'
a smaller number|s/(size_t \*bytes, int device)/(int *bytes, int device)/
a parameter less|s/(unsigned flags), (flags)/(void), ()/
an address by value|s/(gb_cuda_stream \*stream, unsigned flags)/(gb_cuda_address stream, unsigned flags)/
END
echo "1..$n"
