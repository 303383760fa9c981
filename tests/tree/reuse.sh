#!/bin/sh
# SPDX-License-Identifier: MIT
# Licence and copyright of every file are known to the tool that asks for them.
if ! command -v reuse >/dev/null; then
    echo '1..0 # SKIP there is no reuse'
    exit 0
fi
if ! git -C "$top_srcdir" rev-parse --git-dir >/dev/null 2>&1; then
    echo '1..0 # SKIP which files are sources is known to git alone'
    exit 0
fi
echo 1..1
if report=$(reuse --root "$top_srcdir" lint 2>&1); then
    echo 'ok 1 - reuse lint'
else
    echo "$report" | sed 's/^/# /'
    echo 'not ok 1 - reuse lint'
fi
