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
[ "${GGMLBACKEND_TEST_LANES-}" != 0 ] || skip_all 'no long lists are asked for'
only=${GGMLBACKEND_TEST_OPERATION-}
[ -z "$layer" ] || export GGMLBACKEND_VULKAN_VALIDATE=1
[ -n "$layer" ] || echo '# nothing is validated: there is no validation layer'

# Bits of a vector, what the device shall not have, part, cases that pass at least.
runs() {
    if [ -n "${GGMLBACKEND_TEST_ALL-}" ]; then
        cat <<'END'
128 -           1/1 18000
256 -           1/1 18000
512 -           1/1 18000
256 staging     1/1 18000
256 no-push     1/1 18000
256 many-submits 1/1 18000
256 small-range 1/1 18000
256 no-subgroup,no-int-dot,no-f16,no-storage16,no-coopmat 1/1 18000
256 no-narrow   1/1 18000
END
        return
    fi
    cat <<'END'
256 -           5/12 1500
256 staging     2/48 370
256 no-push     6/48 370
256 many-submits 7/96 180
256 small-range 8/48 370
256 no-narrow   5/24 750
128 -           1/96 180
512 -           9/96 180
END
}

# A device that never ends its work ends the run.
patience=
command -v timeout >/dev/null && patience='timeout 1800'

# run BITS WORDS PART LEAST: no case fails, and the layer says nothing.
run() {
    export LP_NATIVE_VECTOR_WIDTH="$1" GGMLBACKEND_VULKAN_TEST="count,${2#-}"
    $patience "$top_builddir/ggmlbackend-conformance" --device Vulkan0 --part "$3" \
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
        [ "${cases:-0}" -ge "$([ -n "$only" ] && echo 0 || echo "$4")" ]
}

runs >"$dir/runs"
while read -r bits words part least; do
    claim "$bits bits, $words, part $part" run "$bits" "$words" "$part" "$least"
    echo "# $cases cases pass; refused: ${refused:-none}"
    [ -z "$only" ] || [ "$status" -eq 0 ] || break
done <"$dir/runs"

# Those of each pipeline that never ran in any of the runs.
never() {
    awk '{ n[$1] += $2 } END { for (name in n) if (n[name] == 0) print name }' \
        "$dir/dispatches" | sort
}

# A sample has most of them, and all cases have each.
each_ran() {
    never >"$dir/never"
    rows=$(awk '{ print $1 }' "$dir/dispatches" | sort -u | wc -l)
    left=$(wc -l <"$dir/never")
    paste -sd' ' "$dir/never" >&2
    [ "$rows" -gt 200 ] &&
        [ "$left" -le $([ -n "${GGMLBACKEND_TEST_ALL-}" ] && echo 0 || echo $((rows / 4))) ]
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
    claim 'pipelines ran' each_ran
    echo "# of $rows pipelines $left did not: $(paste -sd' ' "$dir/never")"
fi
echo "1..$n"
