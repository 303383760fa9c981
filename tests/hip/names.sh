#!/bin/sh
# SPDX-License-Identifier: MIT
# What the linker sees of the HIP backend is called otherwise than CUDA's, whose sources
# it has: one library may have both (backends/hip/names.h).
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"

# names BACKEND: those that its host code and its images define.
names() {
    for archive in "backends/$1/.libs/libhost.a" "tests/$1/.libs/libimages.a"; do
        ${NM:-nm} -g -P "$top_builddir/$archive" | awk '$2 ~ /^[A-TV-Z]$/ { print $1 }'
    done | sort -u
}
if ! [ -f "$top_builddir/tests/hip/.libs/libimages.a" ]; then
    echo '1..0 # SKIP no module in this build'
    exit 0
fi
names cuda >"$dir/cuda"
names hip >"$dir/hip"
says "CUDA's code has $(wc -l <"$dir/cuda") names" [ "$(wc -l <"$dir/cuda")" -gt 300 ]
says "HIP's code has $(wc -l <"$dir/hip") names" [ "$(wc -l <"$dir/hip")" -gt 300 ]
comm -12 "$dir/cuda" "$dir/hip" >"$dir/both"
none_is_both() {
    ! grep . "$dir/both" >&2
}
claim 'no name is there twice' none_is_both
echo "1..$n"
