#!/bin/sh
# SPDX-License-Identifier: MIT
# ggmlbackend-info names the device, the level of kernels and the environment.
tool=$top_builddir/ggmlbackend-info
n=0

# says TEXT PATTERN COMMAND…
says() {
    text=$1 pattern=$2
    shift 2
    n=$((n + 1))
    if "$@" 2>&1 | grep -q -- "$pattern"; then
        echo "ok $n - $text"
    else
        echo "not ok $n - $text"
    fi
}

says 'the CPU is a device' '^CPU: .*, CPU' "$tool"
says 'the level of kernels is named, with a reason' '^CPU kernels: [a-z]' "$tool"
says 'a forced level is in use' '^CPU kernels: generic' \
    env GGMLBACKEND_CPU_LEVEL=generic "$tool"
says 'a variable that is set is shown' '^GGMLBACKEND_CPU_LEVEL is set to generic' \
    env GGMLBACKEND_CPU_LEVEL=generic "$tool"
says '--env shows those that are not' '^GGMLBACKEND_STRICT is not set' "$tool" --env
says '--json is JSON with devices' '"devices"' "$tool" --json
says '--help' '^Usage' "$tool" --help
says '--version' '[0-9]\.[0-9]' "$tool" --version
n=$((n + 1))
"$tool" --frobnicate >/dev/null 2>&1
if [ $? -eq 2 ]; then
    echo "ok $n - a wrong option ends with 2"
else
    echo "not ok $n - a wrong option ends with 2"
fi
echo "1..$n"
