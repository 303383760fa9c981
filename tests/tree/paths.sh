#!/bin/sh
# SPDX-License-Identifier: MIT
# Each file of the tree that a page names exists: a path from the top of the tree, or
# its last parts, as `device/plan.c` in a page about a backend.  Programs are named
# without .c, and NAME, <name> and * stand for anything.
cd "$top_srcdir" || exit 99
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# Folders whose contents are the build's are no part of the tree.
find . \( -name .git -o -name .libs -o -name .deps -o -name autom4te.cache -o -name build \) \
    -prune -o -print | sed 's|^\./||' >"$scratch/tree"
# And what make makes.
find . -name local.mk | sed 's|^\./||' | while read -r list; do
    folder=${list%/*}
    sed "s|%D%|$folder|g" "$list" | grep -oE '[-A-Za-z0-9_.]+(/[-A-Za-z0-9_.]+)+'
done | awk '{ print; while (sub(/\/[^\/]*$/, "")) print }' | sort -u >>"$scratch/tree"
# Others' files, and what a program writes.
cat >>"$scratch/tree" <<'END'
backends/cuda/kernels/norm.image
gpu-report/report.md
rocblas/library
rocblas/rocblas.h
END
pages=$(ls README.md HACKING SECURITY.md debian/README.source doc/*.md doc/*/*.md \
    2>/dev/null)

# missing PAGE…: "page:line: path" for each that is not there.
missing() {
    awk '
    # Its last parts in all lengths, with and without what ends a name.
    FILENAME == ARGV[1] {
        rest = $0
        split($0, parts, "/")
        top[parts[1]] = 1
        while (1) {
            there[rest] = 1
            bare = rest
            while (sub(/\.[a-z0-9.]*$/, "", bare))
                there[bare] = 1
            if (!sub(/^[^\/]*\//, "", rest))
                break
        }
        next
    }
    # A path by its look: of a folder at the top, or of a file of source.
    function is_path(word,   first) {
        if (word !~ /[a-z].*\/|\/.*[a-z]/ || word ~ /[A-Z][A-Z]|[<>$*{}~=]|\.\.\.|\/\/|\.libs|\.l[ao]$/)
            return 0
        first = word
        sub(/\/.*/, "", first)
        return (first in top) ||
            word ~ /\.(c|h|cu|cuh|cpp|comp|glsl|def|mk|m4|md|sh|map|svg|tsv)$/
    }
    {
        line = $0
        gsub(/https?:[^ )>]*/, "", line)
        n = split(line, words, /[^-A-Za-z0-9_.\/<>$*{}~=]+/)
        for (i = 1; i <= n; i++) {
            word = words[i]
            sub(/^(\.\.?\/)+/, "", word)
            sub(/[.\/-]+$/, "", word)
            if (is_path(word) && !(word in there))
                print FILENAME ":" FNR ": " word
        }
    }' "$scratch/tree" "$@"
}

echo 1..2
# shellcheck disable=SC2086
missing $pages >"$scratch/missing"
sed 's/^/# is not there: /' "$scratch/missing"
[ ! -s "$scratch/missing" ] || printf 'not '
echo 'ok 1 - files that pages name exist'

# Of these the last two are missing.
cat >"$scratch/page" <<'END'
See `lib/base/status.c`, `base/status.h`, tests/base/status, (doc/abi.md) and
tools/NAME/options.def, lib/base/*.c, https://example.org/lib/none.c, 30/70 tokens/s;
lib/base/no-such.c and `base/none-such.h`.
END
missing "$scratch/page" | sed 's/.*: //' >"$scratch/found"
printf '%s\n' lib/base/no-such.c base/none-such.h | cmp -s - "$scratch/found" || printf 'not '
echo 'ok 2 - others are found'
