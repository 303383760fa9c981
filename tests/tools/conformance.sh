#!/bin/sh
# SPDX-License-Identifier: MIT
# Every operation passes on each level of CPU kernels that this machine has, none being
# refused, and every operation of the interface has cases.
#
# Levels take one part of three, which the seed chooses, and the last one, which
# operations are counted at, all cases.  With GGMLBACKEND_TEST_ALL set each level takes
# all (make check-cpu-long).  GGMLBACKEND_TEST_PARTS=N is another number of parts; where
# it is above three, the last level takes one part of N, too: .ci/run has smaller parts
# where another compiler or a sanitizer has made the same sources.
tool=$top_builddir/ggmlbackend-conformance
levels=$("$top_builddir/ggmlbackend-info" --json |
    sed 's/.*"cpu_levels": *\[\([^]]*\)].*/\1/' | tr -d '",')
out=conformance-$$.out
trap 'rm -f "$out" "$out".*' EXIT
seed=${GGMLBACKEND_TEST_SEED:-1}
# of N: the part that the seed chooses.
of() {
    echo "$((seed % $1 + 1))/$1"
}
# First the tiles in plain C, so that the last level has all cases.
case " $levels " in
*' amx_generic '*)
    # shellcheck disable=SC2086
    levels="amx_generic $(echo $levels | sed 's/ *amx_generic//')"
    ;;
esac
last=${levels##* }
n=1
for level in $levels; do
    parts=${GGMLBACKEND_TEST_PARTS:-3} least=19000
    [ -z "${GGMLBACKEND_TEST_ALL-}" ] || parts=1
    if [ "$parts" -gt 3 ]; then
        least=$((least / parts))
    elif [ "$level" = "$last" ]; then
        parts=1
    fi
    part=$(of "$parts")
    # Products are all that it does not share with generic.
    what=
    [ "$level" != amx_generic ] || what='-o MUL_MAT'
    # shellcheck disable=SC2086
    if GGMLBACKEND_CPU_LEVEL=$level "$tool" $what --part "$part" >"$out" 2>&1 &&
        awk '$1 == "all" && $4 == 0 { ok = 1 } END { exit !ok }' "$out"; then
        echo "ok $n - $level: $(awk '$1 == "all" { print $2 " cases" }' "$out"), part $part"
    else
        grep FAILED "$out" | head -n 20 | sed 's/^/# /'
        awk '$4 > 0 { print "# " $1 ": " $4 " cases unsupported" }' "$out"
        echo "not ok $n - $level"
    fi
    n=$((n + 1))
done
cases=$(awk '$1 == "all" { print $2 }' "$out")
if [ "${cases:-0}" -ge "$least" ]; then
    echo "ok $n - at least $least cases"
else
    echo "not ok $n - at least $least cases"
fi
n=$((n + 1))
# Views move nothing, and two operations have no forward form at this level.
header=$top_srcdir/include/ggml/tensor.h
missing=$(sed -n 's/^ *GGML_OP_\([A-Z0-9_]*\) *= .*/\1/p' "$header" 2>/dev/null |
    grep -vx 'NONE\|RESHAPE\|VIEW\|PERMUTE\|TRANSPOSE\|UNARY\|FLASH_ATTN_BACK\|COUNT' |
    while read -r op; do
        grep -q "^$op " "$out" || echo "$op"
    done)
if ! [ -f "$header" ]; then
    echo "ok $n # SKIP no header that names all operations"
elif [ "$part" != 1/1 ]; then
    echo "ok $n # SKIP not all cases have run"
elif [ -z "$missing" ]; then
    echo "ok $n - every operation has cases"
else
    echo "# $missing" | tr '\n' ' '
    echo
    echo "not ok $n - every operation has cases"
fi
n=$((n + 1))
sed -n 's/^ *GGML_\(UNARY_\)\{0,1\}OP_\([A-Z0-9_]*\) *[=,].*/\2/p' \
    "$top_srcdir/include/ggml/tensor.h" | grep -vx COUNT | sort -u >"$out.names"
if "$tool" --list | sort -u | diff "$out.names" - >"$out" && [ -s "$out.names" ]; then
    echo "ok $n - every operation and function of a number is listed"
else
    sed 's/^/# /' "$out"
    echo "not ok $n - every operation and function of a number is listed"
fi
n=$((n + 1))
"$tool" -o RELU >"$out" 2>&1
if [ "$(awk 'NR > 1 && $2 > 0 { print $1 }' "$out" | paste -sd' ')" = 'RELU all' ]; then
    echo "ok $n - one function of a number can be asked for"
else
    echo "not ok $n - one function of a number can be asked for"
fi
n=$((n + 1))
# What is known of a part is known of the whole, and no case is in two of them.
"$tool" -o CPY -v 2>&1 >/dev/null | sort >"$out.whole"
for part in 1/3 2/3 3/3; do
    "$tool" -o CPY -v --part $part 2>&1 >/dev/null
done | sort >"$out.parts"
if [ "$(wc -l <"$out.whole")" -ge 2000 ] && cmp -s "$out.whole" "$out.parts" &&
    [ "$("$tool" -o CPY --part 1/3 | awk '$1 == "all" { print $2 }')" -lt 1000 ]; then
    echo "ok $n - parts are the whole, each case once"
else
    echo "not ok $n - parts are the whole, each case once"
fi
n=$((n + 1))
# An operation's cases are the same ones, with the same numbers, as among all.
"$tool" -v --part 3/40 2>&1 >/dev/null | grep '^passed CPY ' >"$out.whole"
"$tool" -v --part 3/40 -o CPY 2>"$out.parts" >/dev/null
if [ -s "$out.whole" ] && cmp -s "$out.whole" "$out.parts"; then
    echo "ok $n - a case has its number and values when its operation is alone"
else
    echo "not ok $n - a case has its number and values when its operation is alone"
fi
n=$((n + 1))
for part in 0/3 4/3 -1/3 3 1/3x 1/-3; do
    if "$tool" --part $part >"$out" 2>&1 || [ $? -ne 2 ]; then
        echo "# $part is taken"
        echo "not ok $n - only parts that there are can be asked for"
        break
    fi
done
[ "$part" = 1/-3 ] && echo "ok $n - only parts that there are can be asked for"
n=$((n + 1))
# Those that a pattern matches, by their own lines, are these of the whole.
"$tool" -o CPY -v >/dev/null 2>"$out.whole"
grep -E '^passed CPY -> q4_[01][[]2880,.* f32[[]192,' "$out.whole" >"$out.some"
"$tool" -v --case '^CPY -> q4_[01][[]2880,.* f32[[]192,' 2>"$out.parts" >/dev/null
if [ -s "$out.some" ] && cmp -s "$out.some" "$out.parts"; then
    echo "ok $n - cases can be asked for by their lines"
else
    echo "not ok $n - cases can be asked for by their lines"
fi
n=$((n + 1))
if "$tool" --case '(' >"$out" 2>&1 || [ $? -ne 2 ] ||
    ! grep -q "'(' is no regular expression" "$out"; then
    echo "not ok $n - a pattern that is none is refused"
else
    echo "ok $n - a pattern that is none is refused"
fi
n=$((n + 1))
# Any number of threads gives the same bits, other numbers others: a part of the
# products, which the seed chooses, or with GGMLBACKEND_TEST_ALL each.
part=$(of 4)
[ -z "${GGMLBACKEND_TEST_ALL-}" ] || part=1/1
for run in '1 1' '2 1' '2 2'; do
    # shellcheck disable=SC2086
    set -- $run
    GGMLBACKEND_N_THREADS=$1 "$tool" -o MUL_MAT --part "$part" --seed "$2" -v 2>&1 \
        >/dev/null |
        sed -n 's/.*, checksum //p' >"$out.$1.$2"
done
if [ -s "$out.1.1" ] && cmp -s "$out.1.1" "$out.2.1" &&
    ! cmp -s "$out.2.1" "$out.2.2"; then
    echo "ok $n - checksums of results tell whether they are the same"
else
    echo "not ok $n - checksums of results tell whether they are the same"
fi
n=$((n + 1))
# What no buffer of a device holds, it need not compute; the rest it does.
sim=$(cd "$top_builddir/.libs" && pwd)
if ! [ -f "$sim/libggml-sim.so" ]; then
    echo "ok $n # SKIP no module of the simulated device"
elif GGMLBACKEND_MODULE_PATH=$sim GGMLBACKEND_SIM=max_buffer=2K "$tool" --device Sim0 \
    -o RMS_NORM -v >"$out" 2>"$out.some" &&
    grep -q '^unsupported .*64,5,4,3' "$out.some" &&
    grep -q '^passed .*33,7,1,1' "$out.some"; then
    echo "ok $n - tensors that no buffer holds are unsupported"
else
    grep FAILED "$out.some" | head -n 20 | sed 's/^/# /'
    echo "not ok $n - tensors that no buffer holds are unsupported"
fi
echo "1..$n"
