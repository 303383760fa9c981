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

missing=$(echo "$files" | while IFS= read -r file; do
    [ -f "$file" ] || continue
    head -n 3 "$file" | LC_ALL=C grep -qa 'SPDX-License-Identifier' ||
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
