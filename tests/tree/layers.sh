#!/bin/sh
# SPDX-License-Identifier: MIT
# The table of layers that people read is the one that programs read, and the
# picture of them is what draw-layers makes of both.
cd "$top_srcdir" || exit 99
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# same NUMBER TEXT FILE FILE
same() {
    if [ -s "$3" ] && diff "$3" "$4" >"$scratch/difference"; then
        echo "ok $1 - $2"
    else
        sed 's/^/# /' "$scratch/difference"
        echo "not ok $1 - $2"
    fi
}

echo 1..2
# Rows of one folder whose last column has folders of lib alone.
sed -n 's/^| `\([a-z/]*\)` | [^|]* | \([a-z –]*\) |$/\1:\2/p' \
    doc/architecture.md | grep -v '^include:' | awk -F: '{
        n = split($2, names, " ")
        line = $1 ":"
        for (i = 1; i <= n; i++)
            if (names[i] ~ /^[a-z]/)
                line = line (names[i] == "public" ? " " : " lib/") names[i]
        print line
    }' >"$scratch/people"
sed -n '/^lib\/[a-z]*:/p; /^backends\/cpu:/p' build-aux/layers >"$scratch/programs"
same 1 'doc/architecture.md has the table of build-aux/layers' \
    "$scratch/programs" "$scratch/people"
sh build-aux/draw-layers . >"$scratch/layers.svg"
same 2 'doc/layers.svg is current' "$scratch/layers.svg" doc/layers.svg
