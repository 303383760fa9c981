#!/bin/sh
# SPDX-License-Identifier: MIT
# Every source file names its licence in its first lines.
cd "$top_srcdir" || exit 99
missing=$(find lib include backends tools examples tests fuzz m4 man cmake \
    build-aux/check-includes build-aux/check-symbols build-aux/run-test \
    \( -name '*.[ch]' -o -name '*.cmake' -o -name '*.cmake.in' -o -name '*.cpp' -o -name '*.def' -o -name '*.mk' -o -name '*.sh' -o \
    -name 'gb-*.m4' -o -name 'variants*.m4' -o -name '*.[1-8]' -o -name '*.[1-8].in' -o -name '*.awk' -o -name 'check-*' -o -name 'run-test' \) -type f |
    while IFS= read -r file; do
        head -n 3 "$file" | grep -q SPDX-License-Identifier || echo "# $file"
    done)
echo 1..1
if [ -n "$missing" ]; then
    echo "$missing"
    echo 'not ok 1 - every file names its licence'
else
    echo 'ok 1 - every file names its licence'
fi
