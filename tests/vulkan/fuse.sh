#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/vulkan/fuse-cases on lavapipe: random graphs give the same bits whether groups of
# nodes are computed together or not, and node by node, each pattern is among the groups, and the
# validation layer finds nothing wrong; with the shaders for processors and with those
# for cards, dot products of bytes among them.  With GGMLBACKEND_TEST_ALL=1 three thousand graphs.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
takes_long
. "$top_srcdir/tests/tools/claim.sh"
[ -z "$layer" ] || export GGMLBACKEND_VULKAN_VALIDATE=1

# run NAME [ARGUMENT]: the program passes, and the layer says nothing.
run() {
    CMOCKA_MESSAGE_OUTPUT=TAP "$top_builddir/tests/vulkan/fuse-cases" ${2+"$2"} \
        >"$dir/tap-$1" 2>"$dir/messages-$1"
    status=$?
    grep -v 'vulkan dispatches:\|vulkan groups:' "$dir/messages-$1" >&2
    grep '^# graph' "$dir/tap-$1" >"$dir/graphs-$1"
    sed -n 's/^.*vulkan groups: //p' "$dir/messages-$1" >"$dir/groups-$1"
    [ "$status" -eq 0 ] && grep '^ok 1' "$dir/tap-$1" && [ -s "$dir/graphs-$1" ] &&
        ! grep 'vulkan validation:' "$dir/messages-$1"
}

run_without() {
    GGMLBACKEND_GPU_FUSE=off run off
}

dispatches() {
    sed -n 's/^.*vulkan dispatches: //p' "$dir/messages-$1" |
        awk '{ n += $2 } END { print n + 0 }'
}

# Of eleven patterns each has groups, or none has.
all_have() {
    awk '{ print } $2 == 0 { n++ } END { exit !(NR == 11 && n == 0) }' "$dir/groups-on" >&2
}
none_has() {
    awk '{ n += $2 } END { exit !(NR == 11 && n == 0) }' "$dir/groups-off"
}
fewer() {
    [ "$(dispatches on)" -gt 0 ] &&
        [ $(($(dispatches on) * 10)) -lt $(($(dispatches off) * 9)) ]
}
other_settings() {
    GGMLBACKEND_GPU_FUSE=sometimes "$top_builddir/ggmlbackend-info" >/dev/null 2>"$dir/said" &&
        grep 'GGMLBACKEND_GPU_FUSE: sometimes is neither on nor off, and not used' "$dir/said"
}

for words in count count,no-narrow,int-dot; do
    export GGMLBACKEND_VULKAN_TEST="$words"
    claim "$words: graphs with groups" run on
    claim "$words: graphs without groups" run_without
    claim "$words: the same bits" cmp "$dir/graphs-on" "$dir/graphs-off"
    claim "$words: graphs of one node" run one by-node
    claim "$words: the same bits node by node" cmp "$dir/graphs-on" "$dir/graphs-one"
    claim "$words: each pattern has groups" all_have
    claim "$words: there are none where they are off" none_has
    claim "$words: a tenth fewer dispatches" fewer
    echo "# $(wc -l <"$dir/graphs-on") graphs, $(dispatches on) dispatches instead of $(dispatches off)"
    echo "# groups: $(paste -sd, "$dir/groups-on")"
done
claim 'other settings are told' other_settings
echo "1..$n"
