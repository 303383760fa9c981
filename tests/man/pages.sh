# SPDX-License-Identifier: MIT
# For the tests beside it: TAP, and what the pages of the build folder name.
n=0

# result TEXT FILE: passes when FILE, what is wrong, is empty.
result() {
    n=$((n + 1))
    if [ -s "$2" ]; then
        sed 's/^/# /' "$2"
        printf 'not '
    fi
    echo "ok $n - $1"
}

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# Those that are made, and those written by hand.
all_pages() {
    for page in "$top_builddir"/man/*.[1-8] "$top_srcdir"/man/*.[1-8]; do
        [ -f "$page" ] && printf '%s\n' "$page"
    done | awk -F/ '!($NF in seen) { seen[$NF] = 1; print }'
}

# "name page" for each name of the pages given.
names_of() {
    awk '
    FNR == 1 { is_done = 0 }
    /^\.Nd / { is_done = 1 }
    /^\.Nm / && !is_done {
        page = FILENAME
        sub(/^.*\//, "", page)
        print $2 " " page
    }' "$@"
}
