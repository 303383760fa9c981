# SPDX-License-Identifier: MIT
# For scripts that begin with `. "$top_srcdir/tests/tools/claim.sh"`: what a
# command wrote is in $dir/out and $dir/err, and $n tests were said.
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
