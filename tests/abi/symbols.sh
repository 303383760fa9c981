#!/bin/sh
# SPDX-License-Identifier: MIT
# The exported names are those of the list, and the list is what the headers
# declare: every exported name is public, and everything public is exported.
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
exec sh "$top_srcdir/build-aux/check-symbols" "$top_srcdir" \
    "$top_builddir/.libs/lib${symbol_prefix}ggmlbackend.so" "$scratch" \
    "$symbol_prefix"
