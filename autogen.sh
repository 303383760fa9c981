#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes configure and what it needs; for builds from git.
set -eu
cd "$(dirname "$0")"

# need PROGRAM PACKAGE: Debian's package of that name has it.
missing='' packages=''
need() {
    command -v "$1" >/dev/null && return
    missing="$missing $1"
    packages="$packages $2"
}

need m4 m4
need autoreconf autoconf
need "${AUTOMAKE-automake}" automake
need "${LIBTOOLIZE-libtoolize}" libtool
need "${PKG_CONFIG-pkg-config}" pkgconf
if [ -n "$missing" ]; then
    echo "autogen.sh: missing:$missing (Debian: apt-get install$packages)" >&2
    exit 1
fi
m4 backends/cpu/variants.mk.m4 backends/cpu/variants.m4 >backends/cpu/variants.mk
exec autoreconf -fi "$@"
