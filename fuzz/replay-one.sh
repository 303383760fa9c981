# SPDX-License-Identifier: MIT
# For scripts that begin with `. "$top_srcdir/fuzz/replay-one.sh"`.
#
# replay NUMBER TARGET ARGUMENT CLAIM: the target's corpus, and inputs that
# ARGUMENT asks for, end well; within 300 seconds, where that can be limited.
limit=
command -v timeout >/dev/null && limit='timeout 300'
replay() {
    if $limit "$top_builddir/fuzz/replay-$2" "$3" \
        "$top_srcdir/fuzz/corpus/$2" >"fuzz-$2.out" 2>&1; then
        sed 's/^/# /' "fuzz-$2.out"
        echo "ok $1 - $4"
    else
        tail -n 60 "fuzz-$2.out" | sed 's/^/# /'
        echo "not ok $1 - $4"
    fi
    rm -f "fuzz-$2.out"
}
