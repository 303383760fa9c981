#!/bin/sh
# SPDX-License-Identifier: MIT
# The example is built as a project of its own, with pkg-config's answers alone,
# and computes.
source=$top_srcdir/examples/own-backend-2023
if ! [ -f "$top_builddir/.libs/lib${symbol_prefix}ggmlbackend.so" ]; then
    echo '1..0 # SKIP no shared library in this build'
    exit 0
fi
case " $CC $CFLAGS " in
*sanitize*)
    echo '1..0 # SKIP instrumented library'
    exit 0
    ;;
esac
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cp "$source/Makefile" "$source/plain23.c" "$source/use.c" "$scratch/" || exit 99
chmod -R u+w "$scratch"
n=0
package=${symbol_prefix}ggmlbackend

# works TEXT COMMAND…
works() {
    text=$1
    shift
    n=$((n + 1))
    if "$@" >"$scratch/out" 2>&1; then
        echo "ok $n - $text"
    else
        sed 's/^/# /' "$scratch/out"
        echo "not ok $n - $text"
    fi
}

PKG_CONFIG_PATH=$top_builddir
LD_LIBRARY_PATH=$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PKG_CONFIG_PATH LD_LIBRARY_PATH
unset MAKEFLAGS MFLAGS MAKELEVEL
works 'the level comes first on the include path' \
    sh -c '${PKG_CONFIG:-pkg-config} --cflags "$1"-2023 |
        grep "^-I[^ ]*include/level-2023 "' sh "$package"
works 'so it does for 2024-10' \
    sh -c '${PKG_CONFIG:-pkg-config} --cflags "$1"-2024 |
        grep "^-I[^ ]*include/level-2024 "' sh "$package"
works 'the backend and the program are built' \
    ${MAKE:-make} -C "$scratch" CC="$CC" PACKAGE="$package" \
    CFLAGS='-g -O2 -Wall -Wextra -Werror'
works 'the CPU and it compute together' \
    ${MAKE:-make} -C "$scratch" check CC="$CC" PACKAGE="$package"
echo "1..$n"
