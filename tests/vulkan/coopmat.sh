#!/bin/sh
# SPDX-License-Identifier: MIT
# coopmat.sh [FOLDER] - cooperative matrices of the Vulkan backend, on a lavapipe that
# has them (Mesa 26.1): products, with experts too, and attention pass conformance while
# the validation layer looks at each call, and so do values that F16 does not have.
# Subgroups have 8 invocations: with 4 that driver allows too few of them in a work
# group, and with 16 it ends the process in these shaders.  Not part of make check.
#
#     make check-vulkan-coopmat [COOPMAT=FOLDER]
#
# FOLDER, by default coopmat of the build folder, gets the packages of Debian 13 and its
# backports that this takes, by apt and without root, when they are not there yet (380
# MB); programs run by the dynamic linker of these.  Where the build's own compiler of
# shaders does not know cooperative matrices, FOLDER/build gets a build by the packages'.
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd) || exit 99
top_builddir=$(cd "${top_builddir:-.}" && pwd) || exit 99
mkdir -p "${1:-coopmat}" && folder=$(cd "${1:-coopmat}" && pwd) || exit 99
tree=$folder/tree
libraries=$tree/usr/lib/x86_64-linux-gnu
linker=$tree/usr/lib64/ld-linux-x86-64.so.2
# For GLSLC, and for tests/vulkan/shaders.sh.
tools='glslc spirv-val spirv-dis spirv-opt'

stop() {
    echo "coopmat.sh: $1" >&2
    exit 99
}

# ---- the packages ----

install() {
    apt=$folder/apt
    rm -rf "$apt" "$tree.new" || return
    mkdir -p "$apt/etc" "$apt/state/lists/partial" "$apt/cache/archives/partial" \
        "$tree.new" "$folder/bin" || return
    : >"$apt/status"
    for suite in trixie trixie-backports; do
        echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
            "${DEBIAN_MIRROR:-http://deb.debian.org/debian} $suite main"
    done >"$apt/etc/sources.list"
    cat >"$apt.conf" <<END
Dir::Etc "$apt/etc";
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Acquire::Languages "none";
APT::Architecture "amd64";
APT::Architectures "amd64";
APT::Install-Recommends "false";
Debug::NoLocking "true";
END
    export APT_CONFIG="$apt.conf"
    apt-get -q update && apt-get -q -y -t trixie-backports --download-only install \
        mesa-vulkan-drivers vulkan-validationlayers glslc spirv-tools || return
    for package in "$apt"/cache/archives/*.deb; do
        dpkg -x "$package" "$tree.new" || return
    done
    for tool in $tools; do
        cat >"$folder/bin/$tool" <<END && chmod +x "$folder/bin/$tool" || return
#!/bin/sh
exec '$linker' --library-path '$libraries' '$tree/usr/bin/$tool' "\$@"
END
    done
    unset APT_CONFIG
    rm -rf "$apt" "$apt.conf" && mv "$tree.new" "$tree"
}

[ "$(uname -m)" = x86_64 ] || stop 'the packages are for x86_64'
[ -d "$tree" ] || install >"$folder/install.log" 2>&1 || {
    tail -n 3 "$folder/install.log" >&2
    stop "the packages are not there: $folder/install.log"
}

# ---- the build ----

build=$top_builddir
if ! [ -s "$build/backends/vulkan/shaders/gemmcoop_f16.spv" ]; then
    build=$folder/build
    mkdir -p "$build" && cd "$build" || exit 99
    {
        { [ -f Makefile ] || "$top_srcdir/configure" --disable-static --with-cuda=no \
            --with-hip=no --with-vulkan=module GLSLC="$folder/bin/glslc"; } &&
            make -j2 all && make tests/vulkan/ranges-cases tests/vulkan/functions-cases
    } >"$folder/build.log" 2>&1 || {
        tail -n 5 "$folder/build.log" >&2
        stop "the build failed: $folder/build.log"
    }
    [ -s backends/vulkan/shaders/gemmcoop_f16.spv ] ||
        stop "$folder/bin/glslc made no shader with cooperative matrices"
fi

# ---- the tests ----

. "$top_srcdir/tests/tools/claim.sh"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
mkdir -p "$folder/cache"
export XDG_CACHE_HOME="$folder/cache" MESA_SHADER_CACHE_DIR="$folder/cache"
export GGML_BACKEND_PATH="$build/backends/vulkan/.libs/libggml-vulkan.so"
export VK_DRIVER_FILES="$tree/usr/share/vulkan/icd.d/lvp_icd.json"
export VK_LAYER_PATH="$tree/usr/share/vulkan/explicit_layer.d"
export GGMLBACKEND_VULKAN_SOFTWARE=1 GGMLBACKEND_VULKAN_VALIDATE=1
export GGMLBACKEND_VULKAN_TEST=coopmat,no-narrow,count LP_NATIVE_VECTOR_WIDTH=256
export VK_KHRONOS_VALIDATION_SYNCVAL_SHADER_ACCESSES_HEURISTIC=1
unset VK_ICD_FILENAMES VK_ADD_DRIVER_FILES VK_INSTANCE_LAYERS GGML_VK_VISIBLE_DEVICES
unset GGML_VK_DISABLE_COOPMAT GGML_VK_DISABLE_F16

# inside PROGRAM ARGUMENTS…: by the packages' dynamic linker.
inside() {
    program=$1
    shift
    "$linker" --library-path "$build/.libs:$libraries" "$program" "$@" \
        >"$dir/table" 2>"$dir/messages"
    status=$?
    sed -n 's/^.*vulkan dispatches: //p' "$dir/messages" >>"$dir/dispatches"
    grep 'vulkan validation:' "$dir/messages" >"$dir/invalid"
    {
        grep -m 20 FAILED "$dir/messages"
        sort -u "$dir/invalid" | head -n 20
        [ "$status" -eq 0 ] || tail -n 3 "$dir/messages"
    } >&2
    [ "$status" -eq 0 ] && ! [ -s "$dir/invalid" ] &&
        ! grep -q 'nothing is validated' "$dir/messages"
}

lists() {
    inside "$build/.libs/ggmlbackend-info" && grep '^ *features:.*coopmat [0-9]' "$dir/table"
}

ranges() {
    CMOCKA_MESSAGE_OUTPUT=TAP inside "$build/tests/vulkan/.libs/ranges-cases" &&
        grep -q '^ok 5' "$dir/table"
}

functions() {
    CMOCKA_MESSAGE_OUTPUT=TAP inside "$build/tests/vulkan/.libs/functions-cases" &&
        grep -q '^ok 2' "$dir/table"
}

# conform OPERATION
conform() {
    inside "$build/.libs/ggmlbackend-conformance" --device Vulkan0 --op "$1"
    passed=$?
    cases=$(awk '$1 == "all" { print $2 }' "$dir/table")
    return $passed
}

# The largest, for which no case of conformance has enough rows and columns.
tiles() {
    CMOCKA_MESSAGE_OUTPUT=TAP inside "$build/tests/vulkan/.libs/ranges-cases" tiles &&
        grep -q '^ok 1' "$dir/table"
}

each_ran() {
    awk '$1 ~ /coop/ { n[$1] += $2 }
        END {
            for (name in n) {
                count++
                if (n[name] == 0)
                    print name " did not run"
            }
            if (count < 40)
                print count + 0 " shaders"
        }' "$dir/dispatches" >&2
    ! [ -s "$dir/err" ]
}

valid() {
    for file in "$build"/backends/vulkan/shaders/*coop*.spv; do
        "$folder/bin/spirv-val" --target-env vulkan1.2 "$file" || return
    done
}

{
claim 'shaders with cooperative matrices are valid' valid
claim 'lavapipe has cooperative matrices' lists
grep -e ' driver:' -e ' features:' "$dir/table" | sed 's/^/#/'
claim 'values that F16 does not have' ranges
claim 'products in large tiles' tiles
claim 'functions of a float' functions
for operation in MUL_MAT MUL_MAT_ID FLASH_ATTN_EXT; do
    claim "$operation" conform "$operation"
    echo "# ${cases:-no} cases pass"
done
claim 'each shader with cooperative matrices ran' each_ran
echo "1..$n"
} | tee "$folder/tap"
! grep -q '^not ok' "$folder/tap"
