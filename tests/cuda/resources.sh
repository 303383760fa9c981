#!/bin/sh
# SPDX-License-Identifier: MIT
# What kernels take of a card: backends/cuda/resources.tsv is what this build's images
# are, where the same compiler made them, and its rows keep the rules below but for
# those of resources.exceptions.  make gpu-resources writes the table anew.
top_builddir=$(cd "$top_builddir" && pwd)
table=$top_srcdir/backends/cuda/resources.tsv
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"
. "$top_srcdir/tests/cuda/resource-rules.sh"

# Name, architectures, kernels, columns whose sum is looked at, what it has to be.
cat >"$dir/rules" <<'END'
local      .          ^gb_(gemv|gemm|(mma8?|wgmma)_gemm|((mma8?|wgmma)_)?attention)_ local  none
stack      .          ^gb_(gemv|gemm|(mma8?|wgmma)_gemm|((mma8?|wgmma)_)?attention)_ ldl,stl none
hgmma      ^90a$      ^gb_wgmma_(gemm|attention)_                      hgmma        some
mma8       ^[891]     ^gb_mma8_gemm_                                   hmma,imma    some
mma        ^75$       ^gb_mma_gemm_                                    hmma,imma    some
dot4       .          ^gb_gemv_(iq|tq|q)                               idp          some
wide       .          ^gb_gemv_                                        ldg128,ldgsts,tma some
attention8 ^[891]     ^gb_mma8_attention_                              hgmma,hmma   some
attention  ^75$       ^gb_mma_attention_                               hgmma,hmma   some
END

exceptions=$top_srcdir/tests/cuda/resources.exceptions
claim "the kept table keeps the rules" look_at_rules "$exceptions" "$table"

# Do the rules see what is wrong?
awk -F '\t' 'BEGIN { OFS = FS }
    $1 == "arch" {
        for (i = 1; i <= NF; i++)
            column[$i] = i
    }
    !/^#/ && $1 != "arch" {
        $column["local"] = $column["ldl"] = 8
        n = split("hgmma hmma imma idp ldg128 ldgsts tma", list, " ")
        for (i = 1; i <= n; i++)
            $column[list[i]] = 0
    }
    { print }' "$table" >"$dir/spoilt.tsv"
claim "each rule is broken by a table that is wrong everywhere" \
    every_rule_is_broken "$dir/spoilt.tsv"

# The rows of this build.
why=
compiler=$(cut -d' ' -f1 "$top_builddir/backends/cuda/compiler" 2>/dev/null)
images=$top_builddir/backends/cuda/kernels
release=$("${compiler:-false}" --version 2>/dev/null |
    sed -n 's/.*release .*V\([0-9.]*\)$/\1/p')
if ! [ -f "$images/gemv.image" ]; then
    why='no images in this build'
elif [ "nvcc $release" != "$(sed -n 's/^# \(nvcc .*\)/\1/p' "$table")" ]; then
    why="the table is of $(sed -n 's/^# \(nvcc .*\)/\1/p' "$table"), the images are not"
else
    NVCC=$compiler top_srcdir=$top_srcdir sh "$top_srcdir/build-aux/gpu-resources" \
        "$images" >"$dir/all" 2>"$dir/err"
    status=$?
    [ $status -ne 77 ] || why='no cuobjdump and nvdisasm'
fi
if [ -n "$why" ]; then
    skip "$why"
else
    claim "the images can be looked at" [ "$status" -eq 0 ]
    compare_rows "$table" "$dir/all"
fi
echo "1..$n"
