# SPDX-License-Identifier: MIT
# For gpu-resources and gpu-resources-hip, which begin with
#     . "$(dirname "$0")/gpu-table.sh"
# and know then: $folder of the images, $archs that are looked at (empty: all), $kept,
# the table that is brought up to date (empty: the rows are printed), $dir, a folder of
# their own, and in $dir/kernels a line for each kernel of kernels.def: file kernel
# threads dynamic VARIANT.
set -u
export LC_ALL=C
folder=${1:?usage: $(basename "$0") FOLDER [--arch LIST] [--update TABLE]}
archs='' kept=''
shift
while [ $# -ge 2 ]; do
    case $1 in
    --arch) archs=$2 ;;
    --update) kept=$2 ;;
    esac
    shift 2
done
top=${top_srcdir:-$(dirname "$0")/..}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

{
    echo '#define GB_CUDA_KERNEL(file, name, args, threads, shared, variant) \'
    echo 'KERNEL file name threads shared variant'
    echo '#include "backends/cuda/kernels/kernels.def"'
} >"$dir/kernels.c"
# shellcheck disable=SC2086
${CC:-cc} -E -P -I"$top" "$dir/kernels.c" | tr -s ' ' '\n' | awk '
    $1 == "KERNEL" {
        for (i = 0; i < 5; i++) {
            getline
            printf "%s%s", $1, i < 4 ? " " : "\n"
        }
    }' >"$dir/kernels" && [ -s "$dir/kernels" ] || exit 99

# with_columns COMPILER COLUMNS: $dir/rows, of architecture and kernel first, as the
# table, or in the place of the kept one's rows of the same architectures.  Rows of
# other architectures stay as they are, but for kernels that are no more.
with_columns() {
    [ -s "$dir/rows" ] || {
        echo "$(basename "$0"): the images in $folder have none of the kernels" >&2
        return 1
    }
    {
        echo "# SPDX-License-Identifier: MIT"
        echo "# What kernels take of a card; build-aux/$(basename "$0") has the columns."
        echo "# $1"
        echo "$2" | tr ' ' '\t'
    } >"$dir/table"
    if [ -z "$kept" ]; then
        cat "$dir/table" "$dir/rows"
        return
    fi
    touch "$kept"
    awk '
    FILENAME ~ /rows$/ { is_new[$1] = 1; next }
    FILENAME ~ /kernels$/ { is_kernel[$2] = 1; next }
    !/^#/ && $1 != "arch" && !($1 in is_new) && $2 in is_kernel
    ' "$dir/rows" "$dir/kernels" "$kept" >"$dir/others"
    [ ! -s "$dir/others" ] ||
        echo "$(basename "$0"): not in this build, and left as they were: $(
            cut -f1 "$dir/others" | sort -un | paste -sd' ')"
    sort -k2,2 -k1,1n "$dir/rows" "$dir/others" >>"$dir/table" &&
        cp "$dir/table" "$kept"
}
