#!/bin/sh
# SPDX-License-Identifier: MIT
# What kernels take of AMD's cards: backends/hip/resources.tsv is what this build's code
# objects are, where the same compiler made them, and its rows keep the rules below but
# for those of resources.exceptions.  make gpu-resources writes the table anew.
top_builddir=$(cd "$top_builddir" && pwd)
table=$top_srcdir/backends/hip/resources.tsv
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"
. "$top_srcdir/tests/cuda/resource-rules.sh"

# Name, architectures, kernels, columns whose sum is looked at, what it has to be.
# Scalar registers that find no place go to lanes of vector registers, not to memory:
# the table tells how many, and they are allowed.
cat >"$dir/rules" <<'END'
spilled    .  .                        vspills          none
memory     .  .                        private,scratch  none
dot4       .  ^gb_gemv_(iq|tq|q)       dot4             some
wide       .  ^gb_gemv_                load128          some
mfma       ^gfx9(08|0a|42) ^gb_(mfma_gemm|matrix_(gemm|attention))_ mfma some
wmma       ^gfx1[12] ^gb_matrix_(gemm|attention)_ wmma         some
resident   .  ^gb_gemv_                waves            some
END
exceptions=$top_srcdir/tests/hip/resources.exceptions
claim "the kept table keeps the rules" look_at_rules "$exceptions" "$table"

# Do the rules see what is wrong?
awk -F '\t' 'BEGIN { OFS = FS }
    $1 == "arch" {
        for (i = 1; i <= NF; i++)
            column[$i] = i
    }
    !/^#/ && $1 != "arch" {
        $column["vspills"] = $column["private"] = 1000
        n = split("dot4 mfma wmma load128 waves", list, " ")
        for (i = 1; i <= n; i++)
            $column[list[i]] = 0
    }
    { print }' "$table" >"$dir/spoilt.tsv"
claim "each rule is broken by a table that is wrong everywhere" \
    every_rule_is_broken "$dir/spoilt.tsv"

# The rows of this build.
why=
compiler=$(cut -d' ' -f1 "$top_builddir/backends/hip/compiler" 2>/dev/null)
images=$top_builddir/backends/hip/kernels
release=$("${compiler:-false}" --offload-arch=gfx906 --version 2>/dev/null |
    sed -n 's/.*clang version \([0-9.]*\).*/clang \1/p' | head -n 1)
if ! ls "$images"/*/gemv.image >/dev/null 2>&1; then
    why='no code objects in this build'
elif [ "$release" != "$(sed -n 's/^# \(clang .*\)/\1/p' "$table")" ]; then
    why="the table is of $(sed -n 's/^# \(clang .*\)/\1/p' "$table"), the code objects are not"
else
    HIPCC=$compiler top_srcdir=$top_srcdir sh "$top_srcdir/build-aux/gpu-resources-hip" \
        "$images" >"$dir/all" 2>"$dir/err"
    status=$?
    [ $status -ne 77 ] || why='no llvm-readelf and llvm-objdump'
fi
if [ -n "$why" ]; then
    skip "$why"
else
    claim "the code objects can be looked at" [ "$status" -eq 0 ]
    compare_rows "$table" "$dir/all"
fi
echo "1..$n"
