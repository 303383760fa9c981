#!/bin/sh
# SPDX-License-Identifier: MIT
# The example is built as a project of its own, with pkg-config's answers alone,
# and its module is used by the example's program and by ours.
source=$top_srcdir/examples/own-backend
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
cp "$source/Makefile" "$source/plain.c" "$source/use.c" "$scratch/" || exit 99
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
works 'the module and the program are built' \
    ${MAKE:-make} -C "$scratch" CC="$CC" PACKAGE="$package" \
    CFLAGS='-g -O2 -Wall -Wextra -Werror'
works 'the module exports one symbol' \
    sh -c '${NM:-nm} -D --defined-only "$1" | grep -c " T " | grep -x 1' sh \
    "$scratch/libggml-plain.so"
works 'it computes what the CPU does' \
    ${MAKE:-make} -C "$scratch" check CC="$CC" PACKAGE="$package"
works 'it is on the timeline' \
    sh -c 'GGMLBACKEND_TRACE="$1/trace" "$1/use" "$1/libggml-plain.so" &&
        grep "\"name\":\"loops\",\"cat\":\"backend\"" "$1/trace"' sh "$scratch"
works 'it is installed where modules are looked for' \
    ${MAKE:-make} -C "$scratch" install CC="$CC" PACKAGE="$package" \
    DESTDIR="$scratch/root" MODULE_DIR=/modules
GGMLBACKEND_MODULE_PATH=$scratch/root/modules
export GGMLBACKEND_MODULE_PATH
if [ -x "$top_builddir/ggmlbackend-conformance" ]; then
    works 'programs find it there' \
        sh -c '"$1/ggmlbackend-info" | grep "^Plain: "' sh "$top_builddir"
    works 'and show what it knows of its device' \
        sh -c '"$1/ggmlbackend-info" | grep "^    UUID: 1d5c0e3b-"' sh "$top_builddir"
    works 'it says why it is not there' \
        sh -c 'GGMLBACKEND_GPU_DEVICES=1 "$1/ggmlbackend-info" |
            grep "^refused: .*does not work here: GGMLBACKEND_GPU_DEVICES has 1"' \
        sh "$top_builddir"
    works 'every operation that it offers is right' \
        "$top_builddir/ggmlbackend-conformance" --device Plain
fi
echo "1..$n"
