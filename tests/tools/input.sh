#!/bin/sh
# SPDX-License-Identifier: MIT
# Models that are no files, and files that are cut short while they are read.
gguf=$top_builddir/ggmlbackend-gguf
run=$top_builddir/ggmlbackend-run
bench=$top_builddir/ggmlbackend-bench
dir=input-tool-$$
mkdir "$dir" || exit 99
trap 'rm -rf "$dir"' EXIT
"$top_builddir/examples/make-tiny-model" "$dir/kept" || exit 99
mkfifo "$dir/fifo" "$dir/out-fifo" || exit 99
n=0

# result TEXT WORDS STATUS: it ended with 1, and one line of err has WORDS.
result() {
    n=$((n + 1))
    if [ "$3" -eq 1 ] && [ "$(wc -l <"$dir/err")" -eq 1 ] &&
        grep -q -- "$2" "$dir/err"; then
        echo "ok $n - $1"
    else
        sed "s/^/# status $3: /" "$dir/err"
        echo "not ok $n - $1"
    fi
}

# Nobody waits for the other end of a pipe, nor reads a device for ever.
for file in "$dir/fifo" /dev/zero "$dir"; do
    for command in "$gguf show" "$gguf show --json" "$gguf check" \
        "$run -p x -m" "$run --no-mmap -p x -m" "$bench -s 0.001 -m"; do
        name=${command##*/ggmlbackend-}
        timeout 20 $command "$file" >"$dir/out" 2>"$dir/err"
        result "$name with ${file##*/}" 'not a regular file' $?
    done
    timeout 20 "$gguf" convert --type f16 "$file" "$dir/x" >"$dir/out" 2>"$dir/err"
    result "gguf convert with ${file##*/}" 'not a regular file' $?
done

# A closed input is none: the model, which is opened next, is not read in its place.
"$run" -m "$dir/kept" -n 3 -f - <&- >"$dir/out" 2>"$dir/err"
result 'a prompt from a closed input' 'Bad file descriptor' $?
"$gguf" types >&- 2>"$dir/err"
result 'a table on a closed output' 'Bad file descriptor' $?
# Its table goes to standard error: no stream gets into the file.
"$gguf" convert --type f16 "$dir/kept" "$dir/x" <&- >&- 2>&-
"$gguf" convert --type f16 "$dir/kept" "$dir/y" >"$dir/out" 2>"$dir/err"
n=$((n + 1))
cmp -s "$dir/x" "$dir/y" || printf 'not '
echo "ok $n - a conversion without standard streams"

# The model is open when the program asks for its text: then the file is cut.
for option in '' --no-mmap; do
    cp "$dir/kept" "$dir/model.gguf"
    timeout 60 "$run" $option -m "$dir/model.gguf" -f "$dir/fifo" -n 4 \
        >"$dir/out" 2>"$dir/err" &
    pid=$!
    exec 3>"$dir/fifo"
    : >"$dir/model.gguf"
    echo the hello >&3
    exec 3>&-
    wait $pid
    status=$?
    if [ -z "$option" ]; then
        result 'a model that is cut while it is mapped' \
            'run: .*/model.gguf: has lost pages' $status
    else
        n=$((n + 1))
        [ $status -eq 0 ] || printf 'not '
        echo "ok $n - one that was copied is whole"
    fi
done

# The output takes 64 KiB or so before somebody reads: then the file is cut.
for option in '' --no-mmap; do
    cp "$dir/kept" "$dir/model.gguf"
    timeout 60 "$gguf" convert $option --type f16 "$dir/model.gguf" \
        "$dir/out-fifo" >"$dir/out" 2>"$dir/err" &
    pid=$!
    exec 3<"$dir/out-fifo"
    : >"$dir/model.gguf"
    cat <&3 >/dev/null
    exec 3<&-
    wait $pid
    result "convert $option of a file that is cut meanwhile" \
        'model.gguf: \(has lost pages\|was cut short while\)' $?
done

# File systems that cannot map a file are read: a function comes between.
echo '#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    if (fd >= 0 && (prot & PROT_EXEC) == 0 && lseek(fd, 0, SEEK_END) > 0) {
        char magic[4] = "";
        if (pread(fd, magic, 4, 0) == 4 && magic[0] == 71 && magic[1] == 71) {
            errno = ENODEV;
            return MAP_FAILED;
        }
    }
    return (void *)syscall(SYS_mmap, at, size, prot, flags, fd, offset);
}' >"$dir/no-map.c"
no_map=$(pwd)/$dir/no-map.so
# read_instead TEXT TIMES COMMAND…: all is well, and that is said so many times.
read_instead() {
    text=$1 times=$2
    shift 2
    n=$((n + 1))
    if env LD_PRELOAD="$no_map" "$@" >"$dir/out" 2>"$dir/err" &&
        [ "$(grep -c 'warning: .*cannot be mapped (.*), so it is read instead' \
            "$dir/err")" -eq "$times" ]; then
        echo "ok $n - no mapping: $text"
    else
        sed 's/^/# /' "$dir/err"
        echo "not ok $n - no mapping: $text"
    fi
}
if [ "$(uname -m)" = x86_64 ] &&
    $CC -w -shared -fPIC -o "$no_map" "$dir/no-map.c" 2>/dev/null &&
    env LD_PRELOAD="$no_map" "$gguf" types >"$dir/out" 2>&1; then
    read_instead 'run' 1 "$run" -m "$dir/kept" -p the -n 2 --json
    read_instead 'run --no-mmap' 0 "$run" --no-mmap -m "$dir/kept" -p the -n 2 --json
    read_instead 'check' 1 "$gguf" check "$dir/kept"
    read_instead 'check --no-mmap' 0 "$gguf" check --no-mmap "$dir/kept"
    read_instead 'show' 0 "$gguf" show "$dir/kept"
    read_instead 'convert' 1 "$gguf" convert --type f16 "$dir/kept" "$dir/f16"
    # The file's own limit and the model's weights are two mappings, told once.
    read_instead 'bench' 1 "$bench" -m "$dir/kept" -t 1 -s 0.001 -p 2 -g 1 --json
    "$gguf" convert --type f16 "$dir/kept" "$dir/mapped" >"$dir/out" 2>"$dir/err"
    n=$((n + 1))
    cmp "$dir/f16" "$dir/mapped" || printf 'not '
    echo "ok $n - and what is written is the same"
else
    n=$((n + 1))
    echo "ok $n # SKIP no function can come between"
fi
echo "1..$n"
