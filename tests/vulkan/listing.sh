#!/bin/sh
# SPDX-License-Identifier: MIT
# Which devices are listed, and the reason where there is none: without a loader, with
# one that is broken, without drivers, with drivers that are not there, and with
# variables that say which devices to show.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
. "$top_srcdir/tests/tools/claim.sh"

# info [NAME=VALUE...]: what ggmlbackend-info says with these variables.
info() {
    env "$@" "$top_builddir/ggmlbackend-info"
}

# lists TEXT [NAME=VALUE...]: lavapipe is there.
lists() {
    text=$1
    shift
    claim "listed $text" info "$@"
    says "  as Vulkan0 alone" grep -c '^Vulkan0: llvmpipe' "$dir/out"
    says "  with nothing refused" [ -z "$(sed -n '/^refused/p; /^Vulkan1/p' "$dir/out")" ]
}

# lacks TEXT REASON [NAME=VALUE...]: it is not, which is no failure, for a reason.
lacks() {
    text=$1 reason=$2
    shift 2
    claim "not listed $text" info "$@"
    says '  nor anything of its kind' [ -z "$(grep '^Vulkan' "$dir/out")" ]
    says "  since $reason" grep -e "^refused: .*does not work here: .*$reason" "$dir/out"
}

lists 'with software asked for'
lacks 'without' 'it is software, which GGMLBACKEND_VULKAN_SOFTWARE=1 lists' \
    GGMLBACKEND_VULKAN_SOFTWARE=
lacks 'with 0, which is no' 'it is software' GGMLBACKEND_VULKAN_SOFTWARE=0

# ---- loaders and drivers ----

mkdir "$dir/empty" "$dir/other"
: >"$dir/empty/libvulkan.so.1"
printf 'int nothing;\n' >"$dir/other.c"
path=${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
lacks 'with a loader that is no library' libvulkan.so.1 LD_LIBRARY_PATH="$dir/empty$path"
if $CC -shared -fPIC -o "$dir/other/libvulkan.so.1" "$dir/other.c" 2>/dev/null; then
    lacks 'with another library of that name' vkGetInstanceProcAddr \
        LD_LIBRARY_PATH="$dir/other$path"
fi
lacks 'without drivers' 'VK_ERROR_INCOMPATIBLE_DRIVER; no driver is installed' \
    VK_ICD_FILENAMES="$dir/none.json"
cat >"$dir/gone.json" <<'END'
{ "file_format_version": "1.0.0",
  "ICD": { "library_path": "/nonexistent/libvulkan_gone.so", "api_version": "1.2.0" } }
END
lacks 'with a driver whose file is gone' VK_ERROR_INCOMPATIBLE_DRIVER \
    VK_ICD_FILENAMES="$dir/gone.json"
lists 'with that one beside lavapipe' VK_ICD_FILENAMES="$dir/gone.json:$icd"

# ---- variables ----

# warns TEXT: it is said in the log.
warns() {
    says "  said so" grep -e "$1" "$dir/err"
}

lists 'by its number' GGML_VK_VISIBLE_DEVICES=0
for list in 7 0,0 '0,' x -1 0x0 '0 ' 99999999999999999999; do
    lists "with a list that is none: '$list'" GGML_VK_VISIBLE_DEVICES="$list"
    warns 'GGML_VK_VISIBLE_DEVICES: .* and not used'
done
for size in x -1 1e9 1GB 99999999999999999999999; do
    lists "with a size that is none: '$size'" GGML_VK_FORCE_MAX_ALLOCATION_SIZE="$size"
    warns 'GGML_VK_FORCE_MAX_ALLOCATION_SIZE: .* and not used'
done
for size in 1048576 1024K 1024k 1M 1m 6G 6g 0 0G ''; do
    lists "with a size: '$size'" GGML_VK_FORCE_MAX_ALLOCATION_SIZE="$size"
    says '  and no word of it' [ -z "$(grep 'GGML_VK_FORCE' "$dir/err")" ]
done
lists 'with a layer that is not there' VK_LAYER_PATH="$dir/empty" GGMLBACKEND_VULKAN_VALIDATE=1
warns 'nothing is validated'
echo "1..$n"
