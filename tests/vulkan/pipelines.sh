#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/vulkan/pipelines-cases on lavapipe: pipelines that cannot be made, many at once, and
# files of them, damaged, cut, another's, in folders that cannot be written, written by
# several processes; which devices have files; and what a device can be asked to do
# without.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
. "$top_srcdir/tests/tools/claim.sh"
unset GGMLBACKEND_VULKAN_CACHE GGML_VK_DISABLE_F16 GGML_VK_DISABLE_COOPMAT
[ -z "$layer" ] || export GGMLBACKEND_VULKAN_VALIDATE=1

# run LEAST [NAME=VALUE...]: all tests pass, LEAST at least, and the layer says nothing.
run() {
    least=$1
    shift
    env "$@" CMOCKA_MESSAGE_OUTPUT=TAP \
        "$top_builddir/tests/vulkan/pipelines-cases" >"$dir/tap" 2>"$dir/messages"
    status=$?
    [ "$status" -eq 0 ] || { cat "$dir/tap" && tail -n 20 "$dir/messages"; } >&2
    [ "$status" -eq 0 ] && [ "$(grep -v SKIP "$dir/tap" | grep -c '^ok')" -ge "$least" ] &&
        ! grep 'vulkan validation:' "$dir/messages" >&2
}

# sum [NAME=VALUE...]: one operation, its cases right.
sum() {
    env "$@" "$top_builddir/ggmlbackend-conformance" --device Vulkan0 --op SQR --part 1/12
}

mkdir "$dir/cache"
claim 'files that are damaged or cut, and pipelines for many threads' \
    run 3 GGMLBACKEND_VULKAN_CACHE="$dir/cache"
claim 'a pipeline that cannot be made' run 1 GGMLBACKEND_VULKAN_TEST=fail-unary
claim 'one that finds no memory' run 1 GGMLBACKEND_VULKAN_TEST=short-unary
claim 'a folder that is not there yet' \
    run 1 GGMLBACKEND_VULKAN_TEST=fail-unary GGMLBACKEND_VULKAN_CACHE="$dir/new/below"
says '  which is made' [ -n "$(ls "$dir/new/below")" ]

# ---- files ----

mkdir "$dir/home"
claim 'lavapipe has files of its own' \
    sum XDG_CACHE_HOME="$dir/home" HOME="$dir/home"
says '  so there is none of ours' [ ! -e "$dir/home/ggmlbackend" ]
for no in off 0; do
    claim "none are wanted: $no" sum GGMLBACKEND_VULKAN_CACHE=$no
    says '  so there is none' [ ! -e "$no" ]
done

# warns TEXT: the log has one line about a file, with it.
warns() {
    says "  said in one line: $1" [ "$(grep -c "\.cache: not .*: .*$1" "$dir/err")" -eq 1 ]
}

: >"$dir/file"
claim 'a folder that is none' sum GGMLBACKEND_VULKAN_CACHE="$dir/file"
says '  said' grep 'Not a directory' "$dir/err"
claim 'a folder that cannot be made' sum GGMLBACKEND_VULKAN_CACHE=/proc/none/here
warns 'No such file'
if [ "$(id -u)" -ne 0 ]; then
    mkdir -m 500 "$dir/locked"
    claim 'a folder that cannot be written' sum GGMLBACKEND_VULKAN_CACHE="$dir/locked"
    warns 'Permission denied'
fi
one=$(echo "$dir"/cache/vulkan-*.cache)
mkdir "$dir/other"
sed 's/mesa/mess/g' "$one" >"$dir/other/${one##*/}"
chmod 600 "$dir/other/${one##*/}"
claim 'a file that something else wrote' sum GGMLBACKEND_VULKAN_CACHE="$dir/other"
warns 'damaged'
claim '  is replaced' cmp "$one" "$dir/other/${one##*/}"

# Four that begin without a file.
at_once() {
    rm -f "$one"
    for i in 1 2 3 4; do
        sum GGMLBACKEND_VULKAN_CACHE="$dir/cache" >"$dir/sum.$i" 2>&1 &
        eval "p$i=\$!"
    done
    wait "$p1" && wait "$p2" && wait "$p3" && wait "$p4"
}
claim 'processes write one file at once' at_once
says '  and one is left' [ "$(echo "$dir"/cache/*)" = "$one" ]
claim '  that is right' sum GGMLBACKEND_VULKAN_CACHE="$dir/cache"
says '  and taken without a word' [ "$(grep -c '\.cache' "$dir/err")" -eq 0 ]

# ---- threads ----

several() {
    env GGMLBACKEND_LOG=debug MESA_SHADER_CACHE_DIR="$dir/home" \
        "$top_builddir/tests/vulkan/device" 2>&1 | grep -c 'new pipelines'
}
if [ "$(nproc)" -gt 1 ]; then
    claim 'a graph that needs several has threads for them' several
fi
# On the first CPU of those that the script may use.
alone() {
    first=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
    taskset -c "$first" env GGMLBACKEND_LOG=debug MESA_SHADER_CACHE_DIR="$dir/home" \
        "$top_builddir/tests/vulkan/device" >"$dir/tap" 2>&1 &&
        ! grep 'new pipelines' "$dir/tap" >&2
}
if command -v taskset >/dev/null; then
    claim '  but not where it may use one CPU' alone
else
    skip 'no program binds a process to one CPU'
fi

# ---- what a device has ----

# has WORD NAME=VALUE...: the device has it, and with the variable it is not used.
has() {
    word=$1
    shift
    claim "without $word" env "$@" "$top_builddir/ggmlbackend-info"
    says '  named' [ -n "$(grep "^ *not used:.*$word" "$dir/out")" ]
    says '  and not used' [ -z "$(grep "^ *features:.*$word" "$dir/out")" ]
}
"$top_builddir/ggmlbackend-info" | sed -n 's/^ *features: //p' >"$dir/features"
says 'features are listed' grep -e 'subgroup [1-9][0-9]*, ' "$dir/features"
for word in subgroup f16 storage16 wide; do
    ! grep -q "$word" "$dir/features" || has $word "GGMLBACKEND_VULKAN_TEST=plain,no-$word"
done
has f16 GGML_VK_DISABLE_F16=1
# lavapipe does not say that it is fast at them.
asks() {
    env GGMLBACKEND_VULKAN_TEST="$1" "$top_builddir/ggmlbackend-info" |
        grep "^ *features:.*$1"
}
if asks int-dot >/dev/null; then
    has int-dot GGMLBACKEND_VULKAN_TEST=plain
    has int-dot GGMLBACKEND_VULKAN_TEST=int-dot,no-int-dot
else
    skip 'lavapipe, or the compiler of shaders, has no dot products of bytes'
fi
claim 'a device without any' sum \
    GGMLBACKEND_VULKAN_TEST=no-subgroup,no-int-dot,no-f16,no-storage16
echo "1..$n"
