#!/bin/sh
# SPDX-License-Identifier: MIT
# What the programs write is there when it is whole; nothing else is touched.
gguf=$top_builddir/ggmlbackend-gguf
bench=$top_builddir/ggmlbackend-bench
dir=output-tool-$$
mkdir "$dir" || exit 99
trap 'rm -rf "$dir"' EXIT
"$top_builddir/examples/make-tiny-model" "$dir/in.gguf" || exit 99
cp "$dir/in.gguf" "$dir/kept" || exit 99
size=$(wc -c <"$dir/in.gguf")
head -c $((size - 64)) "$dir/in.gguf" >"$dir/cut.gguf"
echo old >"$dir/old"
. "$top_srcdir/tests/tools/claim.sh"

# refuse TEXT WORDS COMMAND…: it ends with 1 and one line that has WORDS.
refuse() {
    text=$1 words=$2
    shift 2
    n=$((n + 1))
    "$@" >"$dir/out" 2>"$dir/err"
    status=$?
    if [ $status -eq 1 ] && [ "$(wc -l <"$dir/err")" -eq 1 ] &&
        grep -q -- "$words" "$dir/err"; then
        echo "ok $n - $text"
    else
        sed "s/^/# status $status: /" "$dir/err"
        echo "not ok $n - $text"
    fi
}

# Is nothing of a half written file left?
is_tidy() {
    [ -z "$(find "$dir" -name '.ggmlbackend-*')" ]
}

convert() {
    "$gguf" convert --type q8_0 "$1" "$2"
}

ln "$dir/in.gguf" "$dir/hard"
ln -s in.gguf "$dir/soft"
for name in in.gguf hard soft; do
    refuse "its own input, by the name $name" 'is the file that is read' \
        convert "$dir/in.gguf" "$dir/$name"
    claim 'is left as it was' cmp "$dir/in.gguf" "$dir/kept"
done
refuse 'the input by a link, the output by its name' 'is the file that is read' \
    convert "$dir/soft" "$dir/in.gguf"
claim 'leaves it as it was' cmp "$dir/in.gguf" "$dir/kept"

echo old >"$dir/y"
refuse 'a convert that fails' 'ends before' convert "$dir/cut.gguf" "$dir/y"
claim 'leaves the older file there' cmp "$dir/y" "$dir/old"
claim 'and nothing beside it' is_tidy
ln -s nothing "$dir/dangling"
refuse 'a link to nothing' 'not there' convert "$dir/in.gguf" "$dir/dangling"
refuse 'a folder' 'irectory' convert "$dir/in.gguf" "$dir"

# Over an older file: its mode stays, its other names keep the old contents.
chmod 640 "$dir/y"
ln "$dir/y" "$dir/y-too"
ln -s y "$dir/to-y"
claim 'an older file is replaced, by a link to it' convert "$dir/in.gguf" "$dir/to-y"
claim 'with a whole one' "$gguf" check "$dir/y"
claim 'the link is still one' test -h "$dir/to-y"
claim 'the mode is what it was' \
    sh -c 'ls -l "$1" | grep -q "^-rw-r-----"' - "$dir/y"
claim 'another name of the old one has the old contents' cmp "$dir/y-too" "$dir/old"
claim 'a new file has the usual mode' \
    sh -c 'umask 027; "$1" convert --type f16 "$2" "$3" &&
        ls -l "$3" | grep -q "^-rw-r-----"' - "$gguf" "$dir/in.gguf" "$dir/new"

# Root may write everything; others keep what they have protected.
echo old >"$dir/protected"
chmod 444 "$dir/protected"
if ! [ -w "$dir/protected" ]; then
    refuse 'a file that may not be written' 'denied' \
        convert "$dir/in.gguf" "$dir/protected"
    claim 'is left as it was' cmp "$dir/protected" "$dir/old"
else
    skip 'nothing is protected from this user'
fi

# What is no regular file is written to, and stays.
mkfifo "$dir/fifo" || exit 99
cat "$dir/fifo" >"$dir/from-fifo" &
claim 'a pipe is written to' convert "$dir/in.gguf" "$dir/fifo"
wait
claim 'with the same bytes' cmp "$dir/from-fifo" "$dir/y"
claim 'and stays' test -p "$dir/fifo"
cat "$dir/fifo" >"$dir/from-fifo" &
refuse 'a pipe, by a convert that fails' 'ends before' \
    convert "$dir/cut.gguf" "$dir/fifo"
wait
claim 'stays as well' test -p "$dir/fifo"
claim 'a device is written to' convert "$dir/in.gguf" /dev/null
claim 'and stays as well' test -c /dev/null
if [ -c /dev/full ]; then
    refuse 'a device that is full' 'space' convert "$dir/in.gguf" /dev/full
    claim 'is still there' test -c /dev/full
    full() {
        "$@" >/dev/full
    }
    refuse 'an answer on a device that is full' 'output: No space' \
        full "$top_builddir/ggmlbackend-run" -m "$dir/in.gguf" -p the -n 100
else
    skip 'no device that is full'
fi

# A signal, here that of a file larger than it may be, ends it without a trace.
echo old >"$dir/z"
(
    ulimit -c 0
    ulimit -f 1
    convert "$dir/in.gguf" "$dir/z"
) >/dev/null 2>&1
status=$?
claim 'a signal ends it' test $status -gt 128
claim 'and takes away what was half written' is_tidy
claim 'not what was there' cmp "$dir/z" "$dir/old"

# The same of drawings.
echo '{"name": "x", "threads": 1, "supported": true, "unit": "GOP/s",' \
    '"work": 1e9, "seconds": [1, 2]}' >"$dir/results"
echo old >"$dir/plot"
claim 'a drawing replaces an older one' "$bench" --plot "$dir/plot" "$dir/results"
claim 'and is one' grep -q '</svg>' "$dir/plot"
if [ -c /dev/full ]; then
    refuse 'a drawing on a device that is full' 'space' \
        "$bench" --plot /dev/full "$dir/results"
else
    skip 'no device that is full'
fi
claim 'nothing half written stays' is_tidy
echo "1..$n"
