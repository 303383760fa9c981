#!/bin/sh
# SPDX-License-Identifier: MIT
# The library's objects end the process in ggml_abort alone, and keep writable
# state only in the files that may (style: few places, each with its lock).  No two
# of the parts that it may be linked of define the same name.
cd "$top_builddir" || exit 99
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

find lib backends -path '*/.libs/*.o' ! -name 'libtestutil*' >"$scratch/objects"
if ! [ -s "$scratch/objects" ]; then
    find lib backends -name '*.o' ! -name 'libtestutil*' >"$scratch/objects"
fi
case " $CC $CFLAGS " in
*sanitize* | *coverage*)
    echo '1..0 # SKIP instrumented objects'
    exit 0
    ;;
esac

# Which object calls what.
# shellcheck disable=SC2086
tr '\n' '\0' <"$scratch/objects" | xargs -0 ${NM:-nm} -A -u |
    awk '{ sub(/:$/, "", $1); print $1, $NF }' >"$scratch/calls"
grep -E ' (abort|exit|_exit|_Exit|quick_exit|__assert_fail|__assert_rtn|raise|kill)$' \
    "$scratch/calls" | grep -v 'lib/base/\(\.libs/\)\?abort\.o ' >"$scratch/enders"

# Which object has writable data: objects in sections that are not read-only once
# the library is loaded.
allowed='lib/base/(lock|log|abort|env|clock|status)\.o|lib/loader/(image|module|registry)\.o|lib/type/grid\.o'
allowed="$allowed|backends/sim/reg\.o|backends/cpu/api/init\.o|backends/cpu/isa/select\.o|backends/cpu/pool/numa\.o"
allowed="$allowed|backends/cpu/plan/profile\.o|lib/trace/trace\.o|lib/loader/direct-(cuda|vulkan)\.o"
allowed="$allowed|backends/cuda/driver/(blas|driver|errors|nvml)\.o"
allowed="$allowed|backends/hip/(blas|device)-hip\.o"
allowed="$allowed|backends/vulkan/driver/driver\.o|backends/vulkan/device/(pinned|reg|settings)\.o"
allowed="$allowed|backends/cuda/device/(live|peer|pinned|reg|settings|split-type)\.o"
tr '\n' '\0' <"$scratch/objects" | xargs -0 objdump -t | awk '
    / file format / { sub(/: *file format .*/, ""); o = $0 }
    / O / {
        for (i = 2; i < NF; i++)
            if ($i ~ /^(\.t?data|\.t?bss|\*COM\*)/ && $i !~ /^\.data\.rel\.ro/)
                print o ": " $NF " in " $i
    }' | sed 's/\.libs\///; s/lib[a-z0-9_]*_la-//; s/backends_hip_//' |
    grep -vE "^($allowed): " >"$scratch/state"

# Each backend may be built in: what several of them need is in none of their parts.
set -- .libs/libcore.a .libs/libcpu.a .libs/libfuse.a .libs/libnode.a
for part in backends/*/.libs/libhost.a; do
    [ ! -f "$part" ] || set -- "$@" "$part"
done
: >"$scratch/twice"
${NM:-nm} -g --defined-only "$@" >"$scratch/defined" ||
    echo 'a part was not read' >"$scratch/twice"
awk 'NF == 3 { print $3 }' "$scratch/defined" | sort | uniq -d |
    sed 's/$/ is defined twice/' >>"$scratch/twice"

echo 1..4
if [ -s "$scratch/objects" ] && [ "$(wc -l <"$scratch/objects")" -gt 50 ]; then
    echo 'ok 1 - the objects were found'
else
    echo 'not ok 1 - the objects were found'
fi
for file in enders state twice; do
    if [ -s "$scratch/$file" ]; then
        sed 's/^/# /' "$scratch/$file"
        printf 'not '
    fi
    case $file in
    enders) echo 'ok 2 - nothing but ggml_abort ends the process' ;;
    state) echo 'ok 3 - writable state lies where it may' ;;
    twice) echo 'ok 4 - no name stands in two parts of the library' ;;
    esac
done
