#!/bin/sh
# SPDX-License-Identifier: MIT
# ggmlbackend-bench beside libraries that say more than they should, end in the
# middle, or are not what is used; and the side of it that measures for another.
tool=$top_builddir/ggmlbackend-bench
library=$top_builddir/.libs/libggmlbackend.so.0
dir=$(pwd)/against-$$
mkdir "$dir" || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"

# serve LINES [OPTION…]: what the serving side answers to LINES.
serve() {
    lines=$1
    shift
    # shellcheck disable=SC2059
    printf -- "$lines" | "$tool" -t 1 -k 'tiny/*' --serve "$@"
}

claim 'it greets, and ends with its input' serve ''
says 'it names the library, the backend and the device' \
    grep -q '^{"library": "\(/.*\|unknown library\)", "backend": .*, "device": "CPU"}$' \
    "$dir/out"
claim 'it answers each line with a result' serve '0 0 1\n0 0 3\n1 0 2\n'
says 'of the case that was asked for' sh -c '
    sed 1d "$1" | sed "s/{\"name\": \"\([^\"]*\)\".*/\1/" | tr "\n" " " |
        grep -qx "tiny/adds tiny/adds tiny/mixed "' - "$dir/out"
says 'with as many samples at least' awk -F'[][]' '
    NR > 1 && split($2, s, ",") < (NR == 2 ? 1 : NR == 3 ? 3 : 2) { exit 1 }' \
    "$dir/out"
for line in 'tiny/adds' '0 1' '3 0 1' '0 0 1001' '-1 0 1'; do
    refuse 1 "'$line' is none" 'standard input: is not' serve "$line\\n"
done
refuse 1 'on a device that is not there' 'none' serve '' --device none

if ! [ -f "$library" ] || ! $CC -x c -shared -fPIC -o "$dir/empty.so" /dev/null \
    2>/dev/null; then
    skip 'no shared library, or no compiler'
    echo "1..$n"
    exit 0
fi

# The same library as another file of another name.
LC_ALL=C sed 's/libggmlbackend\.so\.0/libggmlbackenx.so.0/g' "$library" \
    >"$dir/libggmlbackenx.so.0" || exit 99
LD_LIBRARY_PATH=$dir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# before NAME SOURCE: a library that has SOURCE and needs the other one.
before() {
    echo "$2" >"$dir/$1.c"
    $CC -w -shared -fPIC -o "$dir/$1.so" "$dir/$1.c" -Wl,--no-as-needed \
        "$dir/libggmlbackenx.so.0" || exit 99
}

against() {
    "$tool" -t 1 -s 0.001 -k tiny/adds -k tiny/mixed --against "$dir/$1.so" $2
}

before plain 'int plain;'
claim 'a library that finds its functions elsewhere' against plain
says 'has its name on top' grep -q '^B: .*/libggmlbackenx.so.0$' "$dir/out"
says 'and a line for each case' \
    test "$(grep -c '^tiny/.*B is [a-z]*, p [=<]' "$dir/out")" -eq 2

before greets '#include <stdio.h>
__attribute__((constructor)) static void f(void)
{ puts("hello"); puts("{ no JSON"); fflush(stdout); }'
claim 'what a library prints when it is loaded is not looked at' \
    against greets --json
says 'nor anything but results written' sh -c '! grep -v "^{\"name\"" "$1"' - \
    "$dir/out"
claim 'but goes to standard error once' test "$(grep -c hello "$dir/err")" -eq 1

before stops '#include <stdlib.h>
__attribute__((constructor)) static void f(void)
{ if (getenv("LD_PRELOAD") != NULL) exit(3); }'
claim 'one that ends the process that uses it is an error' \
    sh -c '! "$@"' - "$tool" -t 1 --against "$dir/stops.so"

before dies '#include <stdlib.h>
#include <signal.h>
__attribute__((constructor)) static void f(void)
{ if (getenv("LD_PRELOAD") != NULL) raise(SIGKILL); }'
refuse 1 'one that ends it by a signal' 'dies.so:.*: ended by signal 9' against dies

before waits '#include <signal.h>
#include <stdio.h>
#include <string.h>
__attribute__((constructor)) static void f(void)
{
    char line[4096] = "";
    FILE *file = fopen("/proc/self/cmdline", "r");
    size_t n = fread(line, 1, sizeof(line) - 1, file);
    fclose(file);
    for (size_t i = 0; i < n; i++)
        if (strcmp(line + i, "--serve") == 0)
            raise(SIGKILL);
}'
refuse 1 'ours, ended by a signal' 'libggmlbackend.*: ended by signal 9' \
    env LD_PRELOAD="$dir/waits.so" "$tool" -t 1 --against "$dir/plain.so"

before claims '#include <stdio.h>
__attribute__((constructor)) static void f(void)
{ puts("{\"library\": 5}"); fflush(stdout); }'
refuse 1 'one that greets by itself' 'is no result of this program' against claims

# Not computed, but ended, in the first case only: that is one with many nodes.
before falls '#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
int ggml_graph_n_nodes(void *);
int ggml_backend_graph_compute_async(void *backend, void *graph)
{
    int (*next)(void *, void *) =
        (int (*)(void *, void *))dlsym(RTLD_NEXT,
                                        "ggml_backend_graph_compute_async");
    static int first;

    if (first == 0)
        first = ggml_graph_n_nodes(graph);
    if (ggml_graph_n_nodes(graph) == first && getenv("FALL") != NULL)
        raise(SIGKILL);
    if (ggml_graph_n_nodes(graph) == first && getenv("GIVE_UP") != NULL)
        exit(4);
    if (getenv("FAIL") != NULL)
        return -1;
    return next(backend, graph);
}'
FALL=1
export FALL
claim 'a case that ends the library by a signal' against falls
says 'is warned of' grep -q 'libggmlbackenx.*: ended by signal 9 in tiny/adds' \
    "$dir/err"
says 'and has no time' grep -q '^tiny/adds  *1 .* - *$' "$dir/out"
claim 'the same as JSON' against falls --json
says 'says that it is not supported' \
    grep -q '"tiny/adds".*"supported": false.*libggmlbackenx' "$dir/out"
unset FALL
GIVE_UP=1
export GIVE_UP
claim 'one that ends without a signal is an error' \
    sh -c '! "$@"' - "$tool" -t 1 -s 0.001 -k tiny/adds --against "$dir/falls.so"
unset GIVE_UP
FAIL=1
export FAIL
refuse 1 'one that does not compute' 'was not computed' against falls
unset FAIL

# Ours, which the program is linked to, is found before one that only needs it.
echo 'int needs;' >"$dir/needs.c"
$CC -w -shared -fPIC -o "$dir/needs.so" "$dir/needs.c" -Wl,--no-as-needed \
    "$library" || exit 99
refuse 1 'a library whose functions are ours' 'libggmlbackend.* is used instead' \
    against needs
refuse 1 'a device that neither has' 'none' \
    "$tool" --device none --against "$dir/plain.so"
echo "1..$n"
