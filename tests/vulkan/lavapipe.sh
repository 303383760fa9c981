# SPDX-License-Identifier: MIT
# For scripts that begin with `. "$top_srcdir/tests/vulkan/lavapipe.sh"`: the module of
# this build, or the part of the library, on lavapipe and no other device.  Where one of
# the two is not there, the script ends with the reason.
top_builddir=$(cd "$top_builddir" && pwd)
module=$top_builddir/backends/vulkan/.libs/libggml-vulkan.so

# first FILE...: the first that there is.
first() {
    for file; do
        if [ -e "$file" ]; then
            echo "$file"
            return
        fi
    done
}

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

# For scripts that take long, which GGMLBACKEND_TEST_LANES=0 leaves out, as it does
# those on the emulated cards.
takes_long() {
    [ "${GGMLBACKEND_TEST_LANES-}" != 0 ] || skip_all 'nothing that takes long is asked for'
}

if grep -q '^#define GB_BUILTIN_VULKAN 1' "$top_builddir/config.h" 2>/dev/null; then
    module=
elif ! [ -f "$module" ]; then
    skip_all 'no module in this build'
fi
[ -x "$top_builddir/ggmlbackend-conformance" ] || skip_all 'no programs in this build'
[ -n "$(first /usr/lib/*/libvulkan.so.1 /usr/lib*/libvulkan.so.1 /usr/local/lib*/libvulkan.so.1)" ] ||
    skip_all 'there is no libvulkan.so.1'
icd=$(first /usr/share/vulkan/icd.d/lvp_icd*.json /usr/local/share/vulkan/icd.d/lvp_icd*.json \
    /etc/vulkan/icd.d/lvp_icd*.json)
[ -n "$icd" ] || skip_all 'there is no lavapipe'
layer=$(first /usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json \
    /usr/local/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json \
    /etc/vulkan/explicit_layer.d/VkLayer_khronos_validation.json)

dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
# Caches of driver and layer stay in the build folder.
mkdir -p "$top_builddir/tests/vulkan/cache"
export XDG_CACHE_HOME="$top_builddir/tests/vulkan/cache"
export MESA_SHADER_CACHE_DIR="$XDG_CACHE_HOME"
export VK_ICD_FILENAMES="$icd" GGML_BACKEND_PATH="$module"
export GGMLBACKEND_VULKAN_SOFTWARE=1
# Nearly all the time goes into lavapipe's compiler: it leaves out LLVM's passes that make
# code faster.
export GALLIVM_PERF="${GALLIVM_PERF-nopt}"
# Later layers look for hazards between shaders only where they are asked to.
export VK_KHRONOS_VALIDATION_SYNCVAL_SHADER_ACCESSES_HEURISTIC=true
unset VK_DRIVER_FILES VK_ADD_DRIVER_FILES VK_INSTANCE_LAYERS VK_LAYER_PATH
unset GGML_VK_VISIBLE_DEVICES GGMLBACKEND_VULKAN_TEST GGMLBACKEND_VULKAN_VALIDATE
