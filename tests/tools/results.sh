#!/bin/sh
# SPDX-License-Identifier: MIT
# Files of results that ggmlbackend-bench compares and draws: what they may have,
# what counts, and what is refused; and options that are not usable.
tool=$top_builddir/ggmlbackend-bench
dir=results-tool-$$
mkdir "$dir" || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"

# line NAME UNIT WORK SECONDS [MORE]: a result; MORE begins with a comma.
line() {
    echo "{\"name\": \"$1\", \"threads\": 2, \"supported\": true," \
        "\"unit\": \"$2\", \"work\": $3, \"seconds\": [$4]$5}"
}

many() {
    awk -v from="$1" 'BEGIN { for (i = 0; i < 30; i++)
        printf "%s%.4f", (i > 0 ? ", " : ""), from + i / 1000 }'
}

# Each kind of unit: 2e9 operations in 4 s, 3e9 bytes in 2 s, 8 tokens in half a
# second, 4 steps in 1 µs; B takes twice as long.
{
    line ops GOP/s 2e9 4 ', "limit": "fp32", "limit_value": 1'
    line bytes GB/s 3e9 2 ', "limit": "read", "limit_value": 3'
    line tokens tokens/s 8 0.5 ', "limit": 3'
    line wait ns 4 1e-6 ', "limit": "line", "limit_value": 125'
    line idle ns 4 1e-6 ', "limit": "none", "limit_value": 0'
    line large GB/s 2e12 1
} >"$dir/a"
{
    line ops GOP/s 2e9 8 ', "limit": "fp32", "limit_value": 1'
    echo
    line bytes GB/s 3e9 4
    line tokens tokens/s 8 1
    line wait ns 4 2e-6 ', "limit": "line", "limit_value": 125'
    line idle ns 4 2e-6
    line large GB/s 1e12 1 | tr -d '\n'
} >"$dir/b"
claim 'a file without an end of its last line is compared' \
    "$tool" --compare --json "$dir/a" "$dir/b"
for row in ops:0.5:0.25 bytes:1.5:0.75 tokens:16.0:8.0 wait:250.0:500.0 \
    large:2000.0:1000.0; do
    name=${row%%:*} values=${row#*:}
    says "$name of both" grep -q \
        "\"$name\".*\"a\": ${values%:*}, \"b\": ${values#*:}, \"ratio\": 0.5, " \
        "$dir/out"
done
claim 'the same for people' "$tool" --compare "$dir/a" "$dir/b"
says 'with the share of the limit that each has' \
    grep -q '^ops .*, 50.0% and 25.0% of fp32$' "$dir/out"
says 'of what is waited for as well' \
    grep -q '^wait .*, 50.0% and 25.0% of line$' "$dir/out"
says 'where both have a limit' sh -c \
    'test "$(grep -c " of " "$1")" -eq 2' - "$dir/out"
says 'and as many digits as there is room for' \
    grep -q '^large .* 2000 GB/s .* 1000 GB/s' "$dir/out"

# More samples than are counted out, and equal ones.
{
    line far ns 1 "$(many 1)"
    line equal ns 1 '1, 1, 1'
    line one ns 1 1
} >"$dir/c"
{
    line far ns 1 "$(many 9)"
    line equal ns 1 '1, 1, 1'
    line one ns 1 2
} >"$dir/d"
claim 'many samples' "$tool" --compare "$dir/c" "$dir/d"
says 'that have nothing in common' grep -q '^far .* B is slower, p < 0.0001' \
    "$dir/out"
says 'equal ones' grep -q '^equal .* B is same, p = 1.0000' "$dir/out"
says 'one each' grep -q '^one .* B is same, p = 1.0000' "$dir/out"

# What is not supported, of another unit or on other threads is left out.
{
    line ops GB/s 2e9 8
    echo '{"name": "bytes", "threads": 2, "supported": false, "unit": "GB/s",' \
        '"work": 0, "seconds": []}'
    line bytes GB/s 3e9 4
    line tokens tokens/s 8 1
} >"$dir/e"
claim 'a case that one cannot run' "$tool" --compare --json "$dir/a" "$dir/e"
says 'is not compared, nor another unit' sh -c \
    'test "$(wc -l <"$1")" -eq 1 && grep -q "\"tokens\"" "$1"' - "$dir/out"
claim 'in whichever file it is' "$tool" --compare --json "$dir/e" "$dir/a"
says 'with the same words' test "$(wc -l <"$dir/out")" -eq 1
cat "$dir/a" "$dir/e" >"$dir/f"
claim 'what was run, and could not be in another run' \
    "$tool" --compare --json "$dir/f" "$dir/a"
says 'has the samples that there are' grep -q '"bytes".*"a": 1.0,' "$dir/out"
claim 'it is not drawn' "$tool" --plot "$dir/e.svg" "$dir/e" "$dir/a"
says 'but where it was run' sh -c \
    'test "$(grep -c ">bytes, " "$1")" -eq 0 && grep -q ">tokens, " "$1"' - \
    "$dir/e.svg"
line 'a>b"&' GB/s 3e9 4 | sed 's/"&/\&/' >"$dir/odd"
claim 'a name with signs of XML' "$tool" --plot "$dir/odd.svg" "$dir/odd"
says 'has them replaced' grep -q 'a&gt;b&amp;' "$dir/odd.svg"

# Of two libraries in one file the first counts.
{
    line ops GOP/s 2e9 4 ', "library": "/first"'
    line ops GOP/s 2e9 40 ', "library": "/second"'
    line bytes GB/s 3e9 2 ', "library": "/first"'
    line tokens tokens/s 8 0.5
} >"$dir/two"
claim 'a file with two libraries' "$tool" --compare --json "$dir/two" "$dir/b"
says 'is warned of' \
    grep -q 'warning: .*/two: only the results of /first are looked at' "$dir/err"
says 'and has the results of the first' grep -q '"ops".*"a": 0.5,' "$dir/out"
says 'and those of none' grep -q '"tokens".*"a": 16.0,' "$dir/out"

# From standard input, and more than fits into the memory that is asked for first.
i=0
while [ $i -lt 200 ]; do
    cat "$dir/a"
    i=$((i + 1))
done >"$dir/large"
claim 'a file of some size' "$tool" --compare --json "$dir/large" "$dir/b"
says 'is read to its end' grep -q '"large".*"a": 2000.0,' "$dir/out"
claim 'standard input' \
    sh -c '"$1" --compare --json - "$2/b" <"$2/a"' - "$tool" "$dir"
says 'is a file as well' grep -q '"ops".*"a": 0.5, ' "$dir/out"
refuse 1 'a folder' 'irectory' "$tool" --compare "$dir" "$dir/b"
refuse 1 'a folder as standard input' 'standard input: .*irectory' \
    sh -c '"$1" --compare - "$2/b" <"$2"' - "$tool" "$dir"

# What is no result.
while read -r text; do
    echo "$text" >"$dir/bad"
    refuse 1 "no result: $text" 'bad, line 1: ' \
        "$tool" --compare "$dir/bad" "$dir/a"
done <<'END'
{"threads": 2, "supported": true, "unit": "GB/s", "work": 1, "seconds": [1]}
{"name": "x", "threads": 2, "supported": true, "work": 1, "seconds": [1]}
{"name": "x", "threads": 2, "supported": true, "unit": "GW", "work": 1, "seconds": [1]}
{"name": "x", "threads": 2, "supported": true, "unit": "GB/s", "work": 1, "seconds": []}
{"name": "x", "threads": 2, "supported": true, "unit": "GB/s", "work": 1}
{"name": "x", "threads": 2, "supported": true, "unit": "GB/s", "work": 0, "seconds": [1]}
{"name": "x", "threads": 2, "supported": true, "unit": "GB/s", "work": 1, "seconds": [1, -1]}
{"name": "x", "threads": 2, "supported": true, "unit": "GB/s", "work": 1, "seconds": ["1"]}
[1, 2]
END
line "$(awk 'BEGIN { while (n++ < 40) printf "long-name" }')" GB/s 1 1 >"$dir/bad"
refuse 1 'a name that is too long' 'bad, line 1: is no result' \
    "$tool" --compare "$dir/bad" "$dir/a"
echo >"$dir/lines"
refuse 1 'empty lines alone' 'lines: has no results' \
    "$tool" --compare "$dir/lines" "$dir/a"
{
    cat "$dir/a"
    echo '{'
    cat "$dir/a"
} >"$dir/g"
refuse 1 'a file that fails behind good lines' 'g, line 7: is not JSON' \
    "$tool" --compare "$dir/a" "$dir/g"
refuse 1 'a file of one unit with one of another' 'have no case in common' \
    sh -c '"$1" --compare "$2/odd" "$2/c"' - "$tool" "$dir"
if [ -c /dev/full ]; then
    refuse 1 'results on a full disk' 'standard output' sh -c \
        '"$1" --compare "$2/a" "$2/b" >/dev/full' - "$tool" "$dir"
    refuse 1 'as JSON' 'JSON was not written\|standard output' sh -c \
        '"$1" --compare --json "$2/a" "$2/b" >/dev/full' - "$tool" "$dir"
else
    skip 'no device that is full'
fi

# Options.
refuse 2 'a third file' "unexpected argument 'z'" "$tool" --compare x y z
refuse 2 'files and a model' 'are not measured again' \
    "$tool" --plot "$dir/x.svg" -m model "$dir/a"
refuse 2 'files and a library' 'are not measured again' \
    "$tool" --plot "$dir/x.svg" --against library "$dir/a"
refuse 2 'a size of one number' 'is not like 4096x4096' "$tool" --size 64
refuse 2 'a size of three' 'is not like 4096x4096' "$tool" --size 64x64x64
refuse 2 'a size with a comma' "has no 'x' between" "$tool" --size 64,64
refuse 2 'depths with an x' "has no ',' between" "$tool" --depth 1x2
refuse 2 'no number at all' 'is not a whole number' "$tool" -g ''
refuse 2 'a number of too many digits' 'is too long' \
    "$tool" -p 1000000000000000000000001
refuse 2 'a number beyond all' 'is not between' "$tool" -p 99999999999999999999
refuse 2 'too many numbers' 'is too long' \
    "$tool" -p 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17
claim 'as many as there may be' \
    "$tool" -p 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 -m none --list
says 'are a case each' test "$(grep -c '^model/prompt=' "$dir/out")" -eq 16
set --
while [ $# -lt 64 ]; do set -- "$@" -k 'tiny/*'; done
claim 'as many patterns as there may be' "$tool" "$@" --list
says 'list what fits' test "$(wc -l <"$dir/out")" -eq 3
refuse 2 'one pattern more' 'more than 32 patterns' "$tool" "$@" -k x
refuse 2 'seconds that are no number' "'x' is not a number" "$tool" -s x
refuse 2 'seconds that are none' "'' is not a number" "$tool" -s ''
refuse 2 'seconds of no number' "'nan' is not a number" "$tool" -s nan
refuse 2 'seconds that have gone by' 'is not between' "$tool" -s -1
refuse 2 'seconds without end' 'is not between' "$tool" -s 1e9
head -c 4096 /dev/zero | tr '\0' x >"$dir/short"
refuse 1 'a model that is no GGUF file' "begins with 'xxxx', not 'GGUF'" \
    "$tool" -t 2 -m "$dir/short"
echo "1..$n"
