#!/bin/sh
# SPDX-License-Identifier: MIT
# Each shader is valid, and takes no more of a device than every device has: no
# capability beyond the first, 16 KiB of shared memory, work groups of 256, 128 bytes of
# push constants, and as many bindings as its row of pipelines.def says.
sources=$top_srcdir/backends/vulkan/shaders
folder=$top_builddir/backends/vulkan/shaders
if ! [ -f "$folder/rows" ]; then
    echo '1..0 # SKIP no shaders in this build'
    exit 0
fi
if ! command -v spirv-val >/dev/null || ! command -v spirv-dis >/dev/null; then
    echo '1..0 # SKIP there are no spirv-val and spirv-dis'
    exit 0
fi
n=0
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# is_empty TEXT FILE: passes when FILE, what is wrong, is empty.
is_empty() {
    n=$((n + 1))
    if [ -s "$2" ]; then
        sed 's/^/# /' "$2"
        printf 'not '
    fi
    echo "ok $n - $1"
}

# facts FILE: what the shader takes, a line.
facts() {
    spirv-dis "$1" | awk -f "$top_srcdir/tests/vulkan/spirv.awk" | tr '\n' ' '
}

# judge: of lines "name bindings facts", those that take too much.
judge() {
    awk '{
        for (i = 3; i <= NF; i += 2) {
            most = $i == "threads" ? 256 : $i == "shared" ? 16384 : \
                $i == "pushed" ? 128 : $2
            if ($i == "capability" ? $(i + 1) != "Shader" : $(i + 1) + 0 > most)
                print $1 ": " $i " " $(i + 1)
        }
        if ($0 !~ / threads [1-9]/)
            print $1 ": no shader"
    }'
}

# The check itself: what is within the limits, and one of each that is not.
printf '%s\n' 'good 2 capability Shader threads 256 shared 16384 bindings 2 pushed 128' \
    'a 2 capability Shader capability Float16 threads 1 shared 0 bindings 2 pushed 8' \
    'b 2 capability Shader threads 257 shared 0 bindings 2 pushed 8' \
    'c 2 capability Shader threads 64 shared 16388 bindings 2 pushed 8' \
    'd 2 capability Shader threads 64 shared 4 bindings 3 pushed 8' \
    'e 2 capability Shader threads 64 shared 4 bindings 2 pushed 132' 'f 2' >"$scratch/sample"
judge <"$scratch/sample" | sed 's/:.*//' >"$scratch/found"
printf '%s\n' a b c d e f | diff - "$scratch/found" >"$scratch/wrong"
is_empty 'shaders that take too much are found' "$scratch/wrong"

sed -n 's/^GB_VK_PIPELINE(\([^,]*\), *[^,]*, *\([0-9]*\),.*/\1 \2/p' \
    "$sources/pipelines.def" >"$scratch/rows"
grep -c '^GB_VK_PIPELINE' "$sources/pipelines.def" |
    grep -vx "$(wc -l <"$scratch/rows")" >"$scratch/wrong"
[ -s "$scratch/rows" ] || echo 'there are none' >"$scratch/wrong"
is_empty 'rows are read as the makefile reads them' "$scratch/wrong"

while read -r name bindings; do
    if spirv-val --target-env vulkan1.2 "$folder/$name.spv" >"$scratch/said" 2>&1; then
        echo "$name $bindings $(facts "$folder/$name.spv")" >>"$scratch/facts"
    else
        sed "s/^/$name: /" "$scratch/said"
    fi
done <"$scratch/rows" >"$scratch/wrong"
is_empty "all $(wc -l <"$scratch/rows") are valid" "$scratch/wrong"
judge <"$scratch/facts" >"$scratch/wrong"
is_empty 'none takes more than every device has' "$scratch/wrong"

# What is included stands before a shader's layout, where compilers take the size of
# its work groups for 1.
awk '/gl_WorkGroupSize/ && !/^ *#define/ && !is_macro { print FILENAME ": " $0 }
    { is_macro = /\\$/ && (is_macro || /^ *#define/) }' "$sources"/common/*.glsl >"$scratch/wrong"
is_empty 'included functions do not ask for the size of work groups' "$scratch/wrong"
echo "1..$n"
