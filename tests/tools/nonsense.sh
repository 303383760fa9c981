#!/bin/sh
# SPDX-License-Identifier: MIT
# Every option of every program with arguments that mean nothing, and what all
# programs have: each ends with 2, and each line begins with the program's name.
dir=nonsense-tool-$$
mkdir "$dir" || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"
build=$(cd "$top_builddir" && pwd)
newline='
'

# refused TOOL ARGUMENT…: with 2, nothing on standard output, and in its words.
refused() {
    tool=$1
    shift
    n_swept=$((n_swept + 1))
    "$build/$tool" "$@" >"$dir/out" 2>"$dir/one"
    status=$?
    if [ $status -ne 2 ] || [ -s "$dir/out" ] || ! [ -s "$dir/one" ] ||
        grep -v "^$tool: " "$dir/one" >"$dir/other"; then
        echo "status $status of $*: $(cat "$dir/one")" >>"$dir/err"
    fi
}

# What is no number to any program, then what is no whole one.
numbers() {
    for text in '' ' ' '	' + - +1 ' 1' '1 ' "1$newline" 1x x 0x1 0X1p3 inf -inf \
        infinity nan 'nan(1)' 1e 1e+ . -. .e1 1.2.3 1,,2 , ,1 1, 1_0 "1'0" \
        1e999 99999999999999999999 -99999999999999999999 -1e-1; do
        refused "$@$text"
    done
}
whole() {
    for text in 1.5 1. .5 1e0 1e3; do
        refused "$@$text"
    done
}

for name in bench conformance gguf info run; do
    tool=ggmlbackend-$name
    for option in -h -V --help --version; do
        claim "$tool $option" "$build/$tool" $option
        case $option in
        -h | --help) says 'says the usage' grep -q "^Usage: $tool" "$dir/out" ;;
        *) says 'says the version' grep -q "^$tool .*[0-9]\.[0-9]" "$dir/out" ;;
        esac
        says 'and nothing else' test ! -s "$dir/err"
    done
    n_swept=0
    : >"$dir/err"
    "$build/$tool" --help | awk '/^  (-[a-zA-Z], |    )--/ {
        sub(/^ */, ""); sub(/   *.*/, ""); sub(/^-., /, ""); print
    }' >"$dir/options"
    refused "$tool" --frobnicate
    refused "$tool" --frobnicate=1
    refused "$tool" -%
    refused "$tool" -é
    while read -r option argument; do
        case $argument in
        '') refused "$tool" "$option=1" ;;
        N | S | T | P | MIB)
            numbers "$tool" "$option="
            case $argument in N | MIB) whole "$tool" "$option=" ;; esac
            ;;
        N,...)
            numbers "$tool" "$option="
            numbers "$tool" "$option=1,"
            ;;
        KxN)
            numbers "$tool" "$option="
            numbers "$tool" "$option=32x"
            refused "$tool" "$option=32"
            refused "$tool" "$option=32x4x2"
            ;;
        I/N)
            numbers "$tool" "$option=1/"
            refused "$tool" "$option=2/1"
            refused "$tool" "$option=1"
            ;;
        MODE)
            refused "$tool" "$option="
            refused "$tool" "$option=maybe"
            ;;
        TEXT | REGEX) ;;
        *) refused "$tool" "$option=" ;;
        esac
    done <"$dir/options"
    says "$tool: $n_swept arguments that mean nothing" test ! -s "$dir/err"
    [ -s "$dir/err" ] && sed 's/^/# /' "$dir/err"
    # An option's argument that is missing, and the program by another path.
    while read -r option argument; do
        [ -z "$argument" ] || refused "$tool" "$option"
    done <"$dir/options"
    says "$tool: options without their argument" test ! -s "$dir/err"
done

# A letter means the same option in each program that has it.
for name in bench conformance gguf info run; do
    "$build/ggmlbackend-$name" --help | sed -n 's/^  \(-[a-zA-Z]\), \(--[a-z-]*\).*/\1 \2/p'
done | sort -u >"$dir/letters"
sed 's/ .*//' "$dir/letters" | uniq -d >"$dir/err"
says "letters mean one thing each" test ! -s "$dir/err"
says 'of at least ten' test "$(wc -l <"$dir/letters")" -ge 10
echo "1..$n"
