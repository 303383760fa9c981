#!/bin/sh
# SPDX-License-Identifier: MIT
# GPU-assisted validation: the layer puts into each shader what asks whether an index
# lies within its buffer, and says where one does not.  Some cases of each operation,
# others with each seed, pass without a word.  For make check-vulkan-long.
#
# lavapipe takes minutes to compile what becomes of large shaders, so there is a limit
# for each operation, and those that it is known to be too short for are left out.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
takes_long
. "$top_srcdir/tests/tools/claim.sh"
[ -n "$layer" ] || skip_all 'there is no validation layer'
command -v timeout >/dev/null || skip_all 'there is no timeout'
limit=${GGMLBACKEND_TEST_SECONDS:-60}
seed=${GGMLBACKEND_TEST_SEED:-1}
shim=$top_builddir/tests/vulkan/shim/.libs

# Of one case each, which LLVM compiles for more than a minute: it makes a coroutine of a
# shader with barriers, and what the layer adds to each read makes it a large one.
left_out='MUL_MAT MUL_MAT_ID FLASH_ATTN_EXT'

# The layer of 1.3.239 has no push descriptors there.
export GGMLBACKEND_VULKAN_VALIDATE=1 GGMLBACKEND_VULKAN_TEST=no-push
export VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT
export LP_NATIVE_VECTOR_WIDTH=128

# part OPERATION N: the cases of a part of N.
part() {
    timeout -k 5 "$limit" "$top_builddir/ggmlbackend-conformance" --device Vulkan0 \
        --op "$1" --part $((seed % $2 + 1))/"$2" >"$dir/table" 2>"$dir/messages"
    status=$?
    cases=$(awk '$1 == "all" { print $2 + $3 }' "$dir/table")
}

# assist OPERATION: the smallest part that has a case.
assist() {
    for parts in 1600 400 100 25 5 1; do
        part "$1" "$parts"
        [ "$status" -eq 0 ] && [ "${cases:-0}" -eq 0 ] || break
    done
    [ "$status" -ne 124 ] || echo "no end within $limit s" >&2
    {
        grep -m 20 FAILED "$dir/messages"
        grep 'vulkan validation:' "$dir/messages" | sort -u | head -n 20
    } >"$dir/wrong"
    cat "$dir/wrong" >&2
    [ "$status" -eq 0 ] && ! [ -s "$dir/wrong" ]
}

# What goes beyond is found: the shim has operand 0 begin behind the buffer's end.
found() {
    [ -e "$shim/libvulkan.so.1" ] || return 0
    (
        export LD_LIBRARY_PATH="$shim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
        export GGMLBACKEND_TEST_VK_LIMITS=beyond:0x10000000
        part ABS 25
    )
    grep 'vulkan validation: .*out of bounds' "$dir/messages"
}

claim 'what goes beyond the end is found' found
echo "# left out, since their shaders take too long to compile: $left_out"
"$top_builddir/ggmlbackend-conformance" --list >"$dir/operations"
total=0 refused=
while read -r operation; do
    case " $left_out " in *" $operation "*) continue ;; esac
    claim "$operation" assist "$operation" </dev/null
    total=$((total + ${cases:-0}))
    [ "${cases:-0}" -gt 0 ] || refused="$refused $operation"
done <"$dir/operations"
echo "# $total cases; none of:${refused:- -}"
claim 'cases ran' [ "$total" -ge 70 ]
echo "1..$n"
