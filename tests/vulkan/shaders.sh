#!/bin/sh
# SPDX-License-Identifier: MIT
# Each shader is valid, and with the constants of each of its pipelines it takes no
# more of a device than every device has: no capability beyond the first, but for what
# needs.def says, 16 KiB of shared memory (32 with cooperative matrices), work groups of
# 256, 128 bytes of push constants, and as many bindings as its row of pipelines.def says.
#
# Shaders that the compiler could not make are empty, and left out; so are those that
# spirv-val is too old for.  Both are named.
sources=$top_srcdir/backends/vulkan/shaders
folder=$top_builddir/backends/vulkan/shaders
if ! [ -f "$folder/rows" ]; then
    echo '1..0 # SKIP no shaders in this build'
    exit 0
fi
for tool in spirv-val spirv-dis spirv-opt; do
    if ! command -v "$tool" >/dev/null; then
        echo "1..0 # SKIP there is no $tool"
        exit 0
    fi
done
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

# facts FILE CONSTANTS: what the shader takes with them, in a line.
facts() {
    spirv-opt --set-spec-const-default-value="$2" --freeze-spec-const \
        --fold-spec-const-op-composite "$1" -o "$scratch/frozen" &&
        spirv-dis "$scratch/frozen" | awk -f "$top_srcdir/tests/vulkan/spirv.awk" |
        tr '\n' ' '
}

# judge: of lines "name bindings facts", those that take too much; of $scratch/allowed,
# "name capability", what they may.
: >"$scratch/allowed"
judge() {
    awk 'FILENAME != "-" { may[$1, $2] = 1; next }
    {
        for (i = 3; i <= NF; i += 2) {
            most = $i == "threads" ? 256 : \
                $i == "shared" ? (($1, "CooperativeMatrixKHR") in may ? 32768 : 16384) : \
                $i == "pushed" ? 128 : $2
            if ($i == "capability" ? $(i + 1) != "Shader" && !(($1, $(i + 1)) in may) : \
                    $(i + 1) + 0 > most)
                print $1 ": " $i " " $(i + 1)
        }
        if ($0 !~ / threads [1-9]/)
            print $1 ": no shader"
    }' "$scratch/allowed" -
}

# The check itself: what is within the limits, and one of each that is not.
printf '%s\n' 'good 2 capability Shader threads 256 shared 16384 bindings 2 pushed 128' \
    'a 2 capability Shader capability Float16 threads 1 shared 0 bindings 2 pushed 8' \
    'b 2 capability Shader threads 257 shared 0 bindings 2 pushed 8' \
    'c 2 capability Shader threads 64 shared 16388 bindings 2 pushed 8' \
    'd 2 capability Shader threads 64 shared 4 bindings 3 pushed 8' \
    'e 2 capability Shader threads 64 shared 4 bindings 2 pushed 132' 'f 2' \
    'able 2 capability Shader capability Float16 threads 64 shared 0 bindings 2 pushed 8' \
    'g 2 capability Float16 capability Int8 threads 64 shared 0 bindings 2 pushed 8' \
    >"$scratch/sample"
printf '%s\n' 'able Float16' 'g Float16' >"$scratch/allowed"
judge <"$scratch/sample" | sed 's/:.*//' >"$scratch/found"
printf '%s\n' a b c d e f g | diff - "$scratch/found" >"$scratch/wrong"
is_empty 'shaders that take too much are found' "$scratch/wrong"

# Lines "name shader bindings 0:constant 1:constant…".
sed -n 's/^GB_VK_PIPELINE(\([^,]*\), *\([^,]*\), *\([0-9]*\), *[^,]*,\(.*\))$/\1 \2 \3\4/p' \
    "$sources/pipelines.def" | tr -d , | awk '{
        printf "%s %s %s", $1, $2, $3
        for (i = 4; i <= NF; i++)
            printf " %d:%s", i - 4, $i
        print ""
    }' >"$scratch/rows"
sed -n 's/^GB_VK_SHADER(\([^,]*\), .*/\1/p' "$sources/shaders.def" >"$scratch/shaders"
{
    grep -c '^GB_VK_PIPELINE' "$sources/pipelines.def" | grep -vx "$(wc -l <"$scratch/rows")"
    [ -s "$scratch/rows" ] || echo 'there are no pipelines'
    # Those that are of no pipeline, or not there.
    sort "$scratch/shaders" >"$scratch/a"
    awk '{ print $2 }' "$scratch/rows" | sort -u | diff "$scratch/a" -
} >"$scratch/wrong"
is_empty 'each shader has pipelines' "$scratch/wrong"

# Reasons for those that nobody looks at here, "name reason"; the others.
while read -r name; do
    if ! [ -s "$folder/$name.spv" ]; then
        echo "$name is empty: the compiler does not know what it takes"
    elif spirv-val --target-env vulkan1.2 "$folder/$name.spv" 2>&1 |
        grep -q 'Invalid capability operand: 6022'; then
        echo "$name is not looked at: spirv-val does not know cooperative matrices"
    fi
done <"$scratch/shaders" >"$scratch/left"
sed 's/^/# /' "$scratch/left"
# remaining FIELD FILE: lines of it whose field is no shader that is left out.
remaining() {
    awk -v field="$1" 'FILENAME != "-" { left[$1]; next } !($field in left)' \
        "$scratch/left" - <"$2" >"$2.remaining" && mv "$2.remaining" "$2"
}
remaining 1 "$scratch/shaders"
remaining 2 "$scratch/rows"
# Only these may be left out.
grep -v '^[a-z]*coop\|^[a-z]*dot_' "$scratch/left" >"$scratch/wrong"
is_empty 'those that are left out have cooperative matrices or dot products' "$scratch/wrong"

while read -r name; do
    spirv-val --target-env vulkan1.2 "$folder/$name.spv" 2>&1 | sed "s/^/$name: /"
done <"$scratch/shaders" >"$scratch/wrong"
is_empty "all $(wc -l <"$scratch/shaders") are valid" "$scratch/wrong"
while read -r name shader bindings constants; do
    echo "$name $bindings $(facts "$folder/$shader.spv" "$constants")"
done <"$scratch/rows" >"$scratch/facts"
sed -n 's/^GB_VK_FEATURE(\([^,]*\),.*"\(.*\)")$/feature GB_VK_HAS_\1 \2/p' \
    "$sources/../ops/features.def" >"$scratch/features"
sed -n 's/^GB_VK_NEEDS(\([^,]*\), *\(.*\))$/needs \1 \2/p' "$sources/needs.def" |
    cat "$scratch/features" - "$scratch/rows" | awk '
    $1 == "feature" {
        for (i = 3; i <= NF; i++)
            able[$2] = able[$2] " " $i
        next
    }
    $1 == "needs" {
        for (i = 3; i <= NF; i++)
            may[$2] = may[$2] able[$i]
        next
    }
    {
        n = split(may[$2], list, " ")
        for (i = 1; i <= n; i++)
            print $1, list[i]
    }' >"$scratch/allowed"
judge <"$scratch/facts" >"$scratch/wrong"
is_empty 'none takes more than every device has' "$scratch/wrong"

# What is included stands before a shader's layout, where compilers take the size of
# its work groups for 1.
awk '/gl_WorkGroupSize/ && !/^ *#define/ && !is_macro { print FILENAME ": " $0 }
    { is_macro = /\\$/ && (is_macro || /^ *#define/) }' "$sources"/common/*.glsl >"$scratch/wrong"
is_empty 'included functions do not ask for the size of work groups' "$scratch/wrong"
echo "1..$n"
