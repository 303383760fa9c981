#!/bin/sh
# SPDX-License-Identifier: MIT
# What the runner of the installed tests makes of tests that pass, fail, are
# skipped or end too early.
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/bin" "$scratch/include" "$scratch/t/examples" \
    "$scratch/t/some" || exit 99
sed "s|@bindir@|$scratch/bin|; s|@includedir@|$scratch/include|" \
    "$top_srcdir/tests/installed/run.in" >"$scratch/t/run"
echo '#!/bin/sh' >"$scratch/bin/ggmlbackend-none"
chmod +x "$scratch/bin/ggmlbackend-none"
echo 'tests/none/gone  reads minds' >"$scratch/t/not-installed"
dir=$scratch
. "$top_srcdir/tests/tools/claim.sh"

# add NAME SCRIPT
add() {
    echo "$2" >"$scratch/t/some/$1.sh"
    echo "tests/some/$1.sh" >>"$scratch/t/list"
}

# runs STATUS ARGUMENT...: what it says is in err, which result shows.
runs() {
    wanted=$1
    shift
    sh "$scratch/t/run" "$@" >"$dir/err" 2>&1
    [ $? -eq "$wanted" ]
}

prints() {
    grep -qxF -- "$1" "$dir/err"
}

add good 'echo ok 1 - a; echo "ok 2 # SKIP no b"; echo 1..2'
add where 'echo 1..2
test "$PWD" = "$top_builddir" && echo ok 1
test -x ggmlbackend-none && test -d "$top_srcdir/tests/some" && echo ok 2'
add cmocka 'echo 1..2; echo ok 1 - a; echo "not ok 2 # SKIP b"'
add nothing 'echo "1..0 # SKIP no machine"'
runs 0
result 'tests that pass or are skipped are no failure'
prints '# TOTAL: 7' && prints '# PASS:  4' && prints '# SKIP:  3' && prints '# FAIL:  0'
result 'all are counted'
prints 'ok 2 - tests/some/good.sh # SKIP no b'
result 'a reason stays'
prints 'ok 6 - tests/some/cmocka.sh # SKIP b'
result 'what cmocka 1.1.5 skips is skipped'
prints 'ok 7 - tests/some/nothing.sh # SKIP no machine'
result 'a program that is skipped counts once'
test "$(grep -c '^ok ' "$dir/err")" -eq 7 && prints '1..7'
result 'the plan is that of all'

add bad 'echo 1..2; echo ok 1; echo "not ok 2 - b"; echo why >&2; exit 1'
runs 1
result 'one that fails is a failure'
prints '# tests/some/bad.sh: why' && prints '# FAIL:  1'
result 'with what it said'
runs 0 '*/good.sh' '*/where.sh'
result 'patterns choose'
prints '# 2 programs'
result 'those that they name'
runs 2 nobody
result 'a pattern that names none is an error'
add short 'echo 1..3; echo ok 1'
runs 1 '*/short.sh' && grep -q '^not ok 2 .* after 1 of 3 tests' "$dir/err"
result 'one that stops early is a failure'
add killed 'echo 1..1; echo ok 1; kill -9 $$'
runs 1 '*/killed.sh' && grep -q 'ended with status 137' "$dir/err"
result 'one that ends by a signal is a failure'
add silent ':'
runs 1 '*/silent.sh'
result 'one that says nothing is a failure'
runs 0 -l && prints tests/some/good.sh &&
    prints '# tests/none/gone is not installed: reads minds'
result 'names and reasons are listed'
runs 2 --frobnicate
result 'a wrong option is refused'
echo "1..$n"
