# SPDX-License-Identifier: MIT
# For scripts that begin with `. "$top_srcdir/tests/tools/claim.sh"`: what a
# command wrote is in $dir/out and $dir/err, and $n tests were said.  Those that
# count the lines of a refusal too have a refuse of their own.
n=0

# result TEXT: the last command's status decides.
result() {
    status=$?
    n=$((n + 1))
    if [ $status -eq 0 ]; then
        echo "ok $n - $1"
    else
        sed 's/^/# /' "$dir/err"
        echo "not ok $n - $1"
    fi
}

# claim TEXT COMMAND…: the command succeeds.
claim() {
    text=$1
    shift
    "$@" >"$dir/out" 2>"$dir/err"
    result "$text"
}

# says TEXT COMMAND…: the command succeeds with what the last one wrote in out and
# err, which stay.
says() {
    text=$1
    shift
    "$@" >/dev/null
    result "$text"
}

# refuse STATUS TEXT WORDS COMMAND…: it ends with STATUS and a line with WORDS.
refuse() {
    wanted=$1 text=$2 words=$3
    shift 3
    "$@" >"$dir/out" 2>"$dir/err"
    [ $? -eq "$wanted" ] && grep -q -- "$words" "$dir/err"
    result "$text"
}

# skip TEXT: what cannot be tested here.
skip() {
    n=$((n + 1))
    echo "ok $n # SKIP $1"
}
