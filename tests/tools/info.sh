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
says '--list names devices' '^CPU$' "$tool" --list
says '--help' '^Usage' "$tool" --help
says '--version' '[0-9]\.[0-9]' "$tool" --version

# Modules: one that is broken, and the simulated device where there are modules.
modules=$(mktemp -d) || exit 99
trap 'rm -rf "$modules"' EXIT
echo text >"$modules/libggml-text.so"
says 'a backend says where it comes from' '^backend CPU, part of the library' "$tool"
says 'the folder of modules is named' '^modules are installed in /' "$tool"
says 'a refused module is named, with the reason' \
    '^refused: .*/libggml-text.so: is no ELF file' \
    env GGMLBACKEND_MODULE_PATH="$modules" "$tool"
says '--list warns of it' 'warning: .*/libggml-text.so: is no ELF file' \
    env GGMLBACKEND_MODULE_PATH="$modules" "$tool" --list
says '--json has it as well' '"reason": *"is no ELF file"' \
    env GGMLBACKEND_MODULE_PATH="$modules" "$tool" --json
says 'a file that is asked for and missing is warned of' 'warning: module .*missing' \
    env GGML_BACKEND_PATH="$modules/missing.so" "$tool"
if [ -f "$top_builddir/.libs/libggml-sim.so" ]; then
    says 'devices of a module are listed' '^Sim0: ' \
        env GGMLBACKEND_MODULE_PATH="$top_builddir/.libs" "$tool"
    says 'with the file of the module' '^backend Sim, module /.*/libggml-sim.so, ' \
        env GGMLBACKEND_MODULE_PATH="$top_builddir/.libs" "$tool"
    says '--list has them' '^Sim0$' \
        env GGMLBACKEND_MODULE_PATH="$top_builddir/.libs" "$tool" --list
    says 'what is known of a device is shown' '^    PCI: ffff:01:00.0$' \
        env GGMLBACKEND_MODULE_PATH="$top_builddir/.libs" "$tool"
    says '--json has it' '"PCI": *"ffff:00:00.0"' \
        env GGMLBACKEND_MODULE_PATH="$top_builddir/.libs" "$tool" --json
    says 'a module that is not for this machine says why' \
        '^refused: .*/libggml-sim.so: does not work here: GGMLBACKEND_SIM is none$' \
        env GGMLBACKEND_MODULE_PATH="$top_builddir/.libs" GGMLBACKEND_SIM=none "$tool"
    says 'memory of cards can be limited' '^Sim0: .*, 512 of 512 MiB free' \
        env GGMLBACKEND_MODULE_PATH="$top_builddir/.libs" GGMLBACKEND_GPU_MEMORY=512M \
        "$tool"
    says '--json has the file' '"module": *"/.*/libggml-sim.so"' \
        env GGMLBACKEND_MODULE_PATH="$top_builddir/.libs" "$tool" --json
fi

n=$((n + 1))
"$tool" --frobnicate >/dev/null 2>&1
if [ $? -eq 2 ]; then
    echo "ok $n - a wrong option ends with 2"
else
    echo "not ok $n - a wrong option ends with 2"
fi
echo "1..$n"
