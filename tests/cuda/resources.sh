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

# Name, architectures, kernels, columns whose sum is looked at, what it has to be.
cat >"$dir/rules" <<'END'
local      .          ^gb_(gemv|gemm|mma8?_gemm|wgmma_gemm|(mma8?_)?attention)_ local  none
stack      .          ^gb_(gemv|gemm|mma8?_gemm|wgmma_gemm|(mma8?_)?attention)_ ldl,stl none
hgmma      ^90a$      ^gb_wgmma_gemm_                                  hgmma        some
mma8       ^[891]     ^gb_mma8_gemm_                                   hmma,imma    some
mma        ^75$       ^gb_mma_gemm_                                    hmma,imma    some
dot4       .          ^gb_gemv_(iq|tq|q)                               idp          some
wide       .          ^gb_gemv_                                        ldg128,ldgsts,tma some
attention8 ^[891]     ^gb_mma8_attention_                              hgmma,hmma   some
attention  ^75$       ^gb_mma_attention_                               hgmma,hmma   some
END

# kept LINE…: awk program over rules, exceptions and table; prints what is wrong.
look_at_rules() {
    awk '
    FILENAME ~ /rules$/ {
        n_rules++
        for (i = 1; i <= 5; i++)
            rule[n_rules, i] = $i
        next
    }
    /^#/ || NF == 0 { next }
    FILENAME ~ /exceptions$/ {
        n_exceptions++
        for (i = 1; i <= 4; i++)
            exception[n_exceptions, i] = $i
        next
    }
    $1 == "arch" {
        for (i = 1; i <= NF; i++)
            column[$i] = i
        next
    }
    {
        for (r = 1; r <= n_rules; r++) {
            if ($1 !~ rule[r, 2] || $2 !~ rule[r, 3])
                continue
            n_looked[r]++
            n = split(rule[r, 4], list, ",")
            for (sum = i = 0; i++ < n; )
                sum += $column[list[i]]
            if (rule[r, 5] == "none" ? sum == 0 : sum > 0)
                continue
            for (e = 1; e <= n_exceptions; e++)
                if (exception[e, 1] == rule[r, 1] && $1 ~ exception[e, 2] &&
                    $2 ~ exception[e, 3] && sum <= exception[e, 4])
                    break
            used[e] = 1
            if (e > n_exceptions)
                print rule[r, 1] ": " $2 " at " $1 ": " rule[r, 4] " " sum
        }
    }
    END {
        for (r = 1; r <= n_rules; r++)
            if (!n_looked[r])
                print rule[r, 1] ": no kernel of the table is meant"
        for (e = 1; e <= n_exceptions; e++)
            if (!used[e])
                print "exception no longer needed: " exception[e, 1] " " \
                    exception[e, 2] " " exception[e, 3]
    }' "$dir/rules" "$1" "$2" >"$dir/wrong"
    cat "$dir/wrong" >&2
    ! [ -s "$dir/wrong" ]
}
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
every_rule_is_broken() {
    ! look_at_rules "$exceptions" "$dir/spoilt.tsv" 2>"$dir/said" &&
        [ "$(cut -d: -f1 "$dir/said" | sort -u)" = \
            "$(awk '{ print $1 }' "$dir/rules" | sort -u)" ]
}
claim "each rule is broken by a table that is wrong everywhere" every_rule_is_broken

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
    # Of architectures that both have.
    for i in "$table" "$dir/all"; do
        awk '!/^#/ && $1 != "arch" { print $1 }' "$i" | sort -u
    done | sort | uniq -d >"$dir/archs"
    for i in "$table" "$dir/all"; do
        awk 'NR == FNR { is_both[$1] = 1; next } $1 in is_both' "$dir/archs" "$i" \
            >"$dir/$(basename "$i").rows"
    done
    claim "the images can be looked at" [ "$status" -eq 0 ]
    claim "there is an architecture that the table has" [ -s "$dir/archs" ]
    diff "$dir/resources.tsv.rows" "$dir/all.rows" >"$dir/out" 2>&1
    [ ! -s "$dir/out" ]
    cp "$dir/out" "$dir/err"
    [ ! -s "$dir/out" ]
    result "they are as the table says ($(paste -sd' ' "$dir/archs")); else make gpu-resources"
fi
echo "1..$n"
