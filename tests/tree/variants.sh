#!/bin/sh
# SPDX-License-Identifier: MIT
# The pages that name the CPU variants name those of the list, in its order.
cd "$top_srcdir" || exit 99
list=$(sed -n 's/^GB_CPU_VARIANT(\[\([a-z0-9_]*\)\].*/\1/p' \
    backends/cpu/variants.m4 | paste -sd' ' -)

# check NUMBER PAGE TEXT: in TEXT, the names as the page has them.
check() {
    if [ -n "$list" ] && [ "$list" = "$3" ]; then
        echo "ok $1 - $2"
    else
        echo "# the list: $list"
        echo "# the page: $3"
        echo "not ok $1 - $2"
    fi
}

echo 1..3
check 1 doc/architecture.md "$(sed -n '/^| variant | machine /,/^$/p' \
    doc/architecture.md | sed -n 's/^| `\([^`]*\)`.*/\1/p' | paste -sd' ' -)"
check 2 include/ggmlbackend.h "$(sed -n '/^ \* Name of the level/,/ \*\/$/p' \
    include/ggmlbackend.h | tr ' ' '\n' | sed -n 's/.*"\([a-z].*\)".*/\1/p' |
    paste -sd' ' -)"
check 3 man/ggmlbackend-info.1.in "$(sed -n \
    '/^\.It Ev GGMLBACKEND_CPU_LEVEL/,/^\.It Ev GGMLBACKEND_M/p' \
    man/ggmlbackend-info.1.in | sed -n 's/^\.Cm \([^ ]*\).*/\1/p' |
    paste -sd' ' -)"
