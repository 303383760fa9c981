#!/bin/sh
# SPDX-License-Identifier: MIT
# Every file names its licence in its first lines, but for those of which
# .reuse/dep5 says that they cannot.
cd "$top_srcdir" || exit 99
if files=$(git ls-files 2>/dev/null) && [ -n "$files" ]; then
    :
else
    # What a tarball has besides is of autoconf and the like.
    files=$(find backends bench cmake doc examples fuzz include lib m4/gb-*.m4 man \
        tests tools -type f ! -name variants.mk)
fi

# Patterns of the paragraph whose comment says so.
exempt=$(awk '/^Files:/ { sub(/^Files: */, ""); files = $0 }
    /^Comment: These have no line/ { print files }' .reuse/dep5)

# is_exempt FILE
is_exempt() {
    case $1 in
    .reuse/dep5 | COPYING | LICENSES/*) return 0 ;;
    esac
    set -f
    for pattern in $exempt; do
        # shellcheck disable=SC2254
        case $1 in
        $pattern)
            set +f
            return 0
            ;;
        esac
    done
    set +f
    return 1
}

# Those that are there, and of these the ones that name it.
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
echo "$files" | while IFS= read -r file; do
    [ ! -f "$file" ] || printf '%s\n' "$file"
done >"$scratch/there"
tr '\n' '\0' <"$scratch/there" | LC_ALL=C xargs -0 awk '
    FNR <= 3 && /SPDX-License-Identifier/ { print FILENAME }' >"$scratch/named"
missing=$(LC_ALL=C grep -vxFf "$scratch/named" "$scratch/there" |
    while IFS= read -r file; do
        is_exempt "$file" || echo "# $file"
    done)
echo 1..2
if [ "$(echo "$files" | wc -l)" -gt 900 ] && [ -n "$exempt" ]; then
    echo 'ok 1 - the files were found'
else
    echo 'not ok 1 - the files were found'
fi
if [ -n "$missing" ]; then
    echo "$missing"
    printf 'not '
fi
echo 'ok 2 - every file names its licence'
