#!/bin/sh
# SPDX-License-Identifier: MIT
# Files include and call only what their layer may (doc/architecture.md has the table).
exec sh "$top_srcdir/build-aux/check-includes" "$top_srcdir" "$top_builddir" \
    "$symbol_prefix"
