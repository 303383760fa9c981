#!/bin/sh
# SPDX-License-Identifier: MIT
# One set of sources for all vendors' cards: what depends on the vendor, the compiler
# or the architecture stands in few files, backends/hip stays small, and no kernel is
# there twice.
cd "$top_srcdir" || exit 99
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
. tests/tools/claim.sh

# Files that may ask for whom they are compiled: where devices' words and instructions
# are, and which names of the drivers' functions are meant.
cat >"$dir/may" <<'END'
backends/cuda/driver/driver.h
backends/cuda/driver/platform.h
backends/cuda/kernels/clang.cuh
backends/cuda/kernels/device-clang.cuh
backends/cuda/kernels/device.cuh
backends/cuda/kernels/mma.cuh
backends/hip/device-hip.c
backends/hip/hipify.h
END
words='(GB_USE_HIP|__HIP[A-Z_]*|__GFX|__gfx|__AMDGCN|__AMDGPU|__CUDA_ARCH|__CUDACC|__NVCC|__NVPTX)'

# ask FILE…: those with such a condition.
ask() {
    grep -lE "(^ *# *(el)?if|defined\(|&& |\|\| ).*$words" "$@"
}
find backends lib include tools bench examples -type f \
    \( -name '*.[ch]' -o -name '*.def' -o -name '*.cu' -o -name '*.cuh' \) |
    LC_ALL=C sort >"$dir/sources"
# shellcheck disable=SC2046
ask $(cat "$dir/sources") >"$dir/do"
only_where_they_may() {
    ! grep -vxFf "$dir/may" "$dir/do" >&2
}
claim "conditions on the platform stand where they may" only_where_they_may
printf '%s\n' '#if defined(X) && \' '    defined(__gfx906__)' >"$dir/sample.cu"
printf '%s\n' '# ifdef GB_USE_HIP' >"$dir/sample.c"
says "and others would be seen" \
    [ "$(ask "$dir/sample.cu" "$dir/sample.c" | wc -l)" -eq 2 ]

# Neither blank nor comment.
lines=$(cat backends/hip/*.[ch] | grep -cvE '^ *(/?\*.*)?$')
says "backends/hip has $lines lines of code, of 700" [ "$lines" -lt 700 ]

# Kernels are in backends/cuda alone, each name once.
find backends -name '*.cu' ! -path 'backends/cuda/kernels/*' >"$dir/elsewhere"
says "there are no kernels elsewhere" [ ! -s "$dir/elsewhere" ]
{
    echo '#define GB_CUDA_KERNEL(file, name, args, threads, shared, variant) \'
    echo 'KERNEL name'
    echo '#include "backends/cuda/kernels/kernels.def"'
} >"$dir/kernels.c"
${CC:-cc} -E -P -I. "$dir/kernels.c" | grep -o 'KERNEL *[a-z0-9_]*' |
    sort >"$dir/names"
says "there are $(wc -l <"$dir/names") kernels" [ "$(wc -l <"$dir/names")" -gt 100 ]
says "none is there twice" [ -z "$(uniq -d "$dir/names")" ]
echo "1..$n"
