#!/bin/sh
# SPDX-License-Identifier: MIT
# The module on lavapipe: cases of ggmlbackend-conformance pass with subgroups of 4, 8
# and 16 invocations, in memory that the host cannot map, and with bindings that show
# little, while the validation layer looks at each call.
#
# A run takes a part of the cases, another one each; with GGMLBACKEND_TEST_ALL set all
# of them are run with each size.  With GGMLBACKEND_TEST_OPERATION only the cases of
# that operation run, and the first run that fails is the last.  None run with
# GGMLBACKEND_TEST_LANES=0, which leaves out those on the emulated cards too.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
. "$top_srcdir/tests/tools/claim.sh"
takes_long
only=${GGMLBACKEND_TEST_OPERATION-}
[ -z "$layer" ] || export GGMLBACKEND_VULKAN_VALIDATE=1
[ -n "$layer" ] || echo '# nothing is validated: there is no validation layer'

# Types of weights in each way that products take them, types of caches: cases of what
# reads sixteen bytes at a time where it may.
wide='MUL_MAT -> f32\[17,(9,64|1,1|4,1|5,1|33,1),1\]'
wide="$wide|FLASH_ATTN_EXT .*(,72,2,1\\]|\\[20,64,1,1\\])"
# And with these each pipeline, but for a few that all kinds of cases have; of groups of
# nodes those that few cases have.
each="^($wide|MUL_MAT -> f32\\[(11,2,3,2|1,5,1,1)\\] b?f[0-9]*\\["
each="$each|GET_ROWS -> (f32\\[[0-9]*,[0-9]*,1,1\\] [a-zA-Z0-9_]*\\[256,|.* bf16\\[)"
each="$each|CPY -> (q8_|f32.256,3,2,2)|DIV|MUL -> f32.(600,2,3,1|33,7,1,2)"
each="$each|MUL_MAT -> f32.5,[0-9]*,1,1\\]"
each="$each|ACC|ADD_REL_POS|ARANGE|ARGSORT|CROSS_ENTROPY|REPEAT_BACK|RMS_NORM_BACK"
each="$each|SOFT_MAX_BACK)"

# Products that dot products of bytes compute.
dots='^MUL_MAT(_ID)? -> f32\[(17,33,1|17,9,64|[0-9]*,[0-9]*,(17|33)),1\] (q[2-8]|iq4_)'

# Bits of a vector, what the device shall not have or shall have nevertheless, part, each,
# wide or dots, cases that pass at least.
runs() {
    if [ -n "${GGMLBACKEND_TEST_ALL-}" ]; then
        cat <<'END'
128 -           1/1 18000
256 -           1/1 18000
512 -           1/1 18000
256 staging     1/1 18000
256 staging,transfer 1/1 18000
256 no-push,no-storage16 1/1 18000
256 many-submits 1/1 18000
256 small-range 1/1 18000
256 no-subgroup,no-int-dot,no-f16,no-storage16,no-coopmat 1/1 18000
256 no-narrow   1/1 18000
256 no-narrow,int-dot 1/1 18000
256 no-narrow,no-wide 1/1 18000
END
        return
    fi
    cat <<'END'
256 -           5/24 750
256 staging     2/96 180
256 no-push,no-storage16 6/96 180
256 many-submits 7/96 180
256 small-range 8/96 180
256 -           each 500
256 no-narrow   each 500
256 no-narrow,no-wide wide 200
256 no-narrow,int-dot dots 40
256 no-narrow   5/96 180
128 -           1/192 80
512 -           9/192 80
END
}

# A device that never ends its work ends the run.
patience=
command -v timeout >/dev/null && patience='timeout 1800'

# run BITS WORDS PART LEAST: no case fails, and the layer says nothing.
run() {
    case $3 in
    each) set -- "$1" "$2" "$4" --case "$each" ;;
    wide) set -- "$1" "$2" "$4" --case "^($wide)" ;;
    dots) set -- "$1" "$2" "$4" --case "$dots" ;;
    *) set -- "$1" "$2" "$4" --part "$3" ;;
    esac
    export LP_NATIVE_VECTOR_WIDTH="$1" GGMLBACKEND_VULKAN_TEST="count,${2#-}"
    least=$3
    shift 3
    $patience "$top_builddir/ggmlbackend-conformance" --device Vulkan0 "$@" \
        ${only:+--op "$only"} >"$dir/table" 2>"$dir/messages"
    status=$?
    sed -n 's/^.*vulkan dispatches: //p' "$dir/messages" >>"$dir/dispatches"
    sed -n 's/^.*vulkan groups: //p' "$dir/messages" >>"$dir/groups"
    cases=$(awk '$1 == "all" { print $2 }' "$dir/table")
    # The client's own functions are the client's to run.
    refused=$(awk '$4 + 0 > 0 && $1 != "all" && $1 !~ /^MAP_/ {
        printf "%s%s %d", n++ ? ", " : "", $1, $4 }' "$dir/table")
    grep 'vulkan validation:' "$dir/messages" >"$dir/invalid"
    {
        grep -m 20 FAILED "$dir/messages"
        sort -u "$dir/invalid" | head -n 20
        [ "$status" -eq 0 ] || tail -n 3 "$dir/messages"
    } >&2
    [ "$status" -eq 0 ] && ! [ -s "$dir/invalid" ] &&
        ! grep -q 'nothing is validated' "$dir/messages" &&
        [ "${cases:-0}" -ge "$([ -n "$only" ] && echo 0 || echo "$least")" ]
}

runs >"$dir/runs"
while read -r bits words part least; do
    claim "$bits bits, $words, part $part" run "$bits" "$words" "$part" "$least"
    echo "# $cases cases pass; refused: ${refused:-none}"
    [ -z "$only" ] || [ "$status" -eq 0 ] || break
done <"$dir/runs"

# What measures a device.
measure() {
    GGMLBACKEND_VULKAN_TEST=count "$top_builddir/ggmlbackend-bench" --device Vulkan0 \
        -s 0.000009 -k tiny/adds 2>"$dir/messages" || return
    sed -n 's/^.*vulkan dispatches: \(limit_\)/\1/p' "$dir/messages" >>"$dir/dispatches"
    ! grep 'vulkan validation:' "$dir/messages" >&2
}

# Pipelines that never ran in any of the runs, but for those with cooperative matrices,
# which coopmat.sh has, and with dot products of bytes or many tiles, which ranges.sh has.
never() {
    awk '{ n[$1] += $2 } END { for (name in n) if (n[name] == 0) print name }' \
        "$dir/dispatches" | sed '/^gemmcoop_/d; /^attentioncoop_/d; /^gemmdot_/d
            /^gemm_.*_64$/d' | sort
}

each_ran() {
    never >"$dir/never"
    rows=$(awk '{ print $1 }' "$dir/dispatches" | sort -u | wc -l)
    paste -sd' ' "$dir/never" >&2
    [ "$rows" -gt 200 ] && ! [ -s "$dir/never" ]
}

# Groups of nodes of each pattern were computed together.
each_group() {
    awk '{ n[$1] += $2 } END { for (name in n) print name, n[name] }' "$dir/groups" |
        sort >"$dir/patterns"
    [ -s "$dir/patterns" ] && ! grep ' 0$' "$dir/patterns" >&2
}
if [ -z "$only" ]; then
    claim 'groups were computed' each_group
    echo "# groups: $(paste -sd, "$dir/patterns")"
    [ ! -x "$top_builddir/ggmlbackend-bench" ] || claim 'the device is measured' measure
    claim 'each pipeline ran' each_ran
    echo "# $rows pipelines, those that other tests have aside"
fi
echo "1..$n"
