#!/bin/sh
# SPDX-License-Identifier: MIT
# What an operation of the CPU takes as scratch is added and multiplied by
# lib/base/checked.h alone: no function of backends/cpu/ops that returns a size_t
# has a sum or product of anything but constants.  Left out is line.c, which is
# about what lies in memory already.
cd "$top_srcdir" || exit 99
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# sizes FILE…: "file: function" for each function that returns a size_t, and
# "file: function: text" for each sum or product in it.
sizes() {
    for file in "$@"; do
        awk -v file="$file" '
        # Constants among themselves are added up by the compiler.
        function look(body,   constant) {
            gsub(/\/\*[^*]*(\*+[^*\/][^*]*)*\*+\//, "", body)
            gsub(/[ \t]+/, " ", body)
            gsub(/sizeof\([^()]*\)/, "8", body)
            constant = "([0-9]+|[A-Z][A-Z_0-9]+)"
            while (sub(constant " [*+] " constant, "8", body)) {}
            while (match(body, /[^ ]+ ?(\*|\+|<<|\+=|\*=) [^ ]+/)) {
                print file ": " name ": " substr(body, RSTART, RLENGTH)
                body = substr(body, RSTART + RLENGTH)
            }
        }
        /^(static )?(inline )?size_t$/ { is_type = 1; next }
        is_type && /^[a-z_0-9]+\(/ {
            name = $0
            sub(/\(.*/, "", name)
            in_head = 1
        }
        { is_type = 0 }
        in_head && /;$/ { in_head = 0 }
        in_head && /^{/ { print file ": " name; in_head = 0; in_body = 1 }
        in_body && /^}/ { look(body); in_body = 0; body = "" }
        in_body { body = body " " $0 }' "$file"
    done
}

files=$(find backends/cpu/ops -name '*.[ch]' ! -name line.c | sort)
# shellcheck disable=SC2086
sizes $files >"$scratch/found"
grep -v ': .*: ' "$scratch/found" | sed 's/.*: //' >"$scratch/functions"
# Those of the tables must be among them.
sed -n 's/^ *\.\(scratch\|shared\) = \([a-z_0-9]*\),$/\2/p' \
    backends/cpu/ops/*.c | sort -u >"$scratch/rows"
grep -vxFf "$scratch/functions" "$scratch/rows" >"$scratch/unseen"
cat >"$scratch/sample.c" <<'END'
static size_t
good(const struct ggml_tensor *node)
{
    return gb_mul_or_max((size_t)node->ne[0], 2 * sizeof(float) + MANY);
}

static size_t
bad(const struct ggml_tensor *node)
{
    return (size_t)node->ne[0] *
           sizeof(float);
}
END
sizes "$scratch/sample.c" | sed 's/.*sample.c: //' >"$scratch/sample"

# result NUMBER TEXT STATUS
result() {
    [ "$3" -eq 0 ] || printf 'not '
    echo "ok $1 - $2"
}

echo 1..3
printf 'good\nbad\nbad: (size_t)node->ne[0] * 8;\n' |
    diff - "$scratch/sample" | sed 's/^/# /' >"$scratch/difference"
cat "$scratch/difference"
! [ -s "$scratch/difference" ]
result 1 'a product is found' $?
sed 's/^/# not looked at: /' "$scratch/unseen"
[ -s "$scratch/rows" ] && ! [ -s "$scratch/unseen" ]
result 2 'all functions of the tables were looked at' $?
grep ': .*: ' "$scratch/found" | sed 's/^/# /' >"$scratch/bad"
cat "$scratch/bad"
! [ -s "$scratch/bad" ]
result 3 'none adds or multiplies without a check' $?
