#!/bin/sh
# SPDX-License-Identifier: MIT
# configure ends with a sentence where it is asked for what it does not know or
# cannot have, and says which package would help.
if [ -f "$top_srcdir/config.status" ]; then
    echo '1..0 # SKIP no other folder can be configured beside one in the source'
    exit 0
fi
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
source=$(cd "$top_srcdir" && pwd)
build=$(cd "$top_builddir" && pwd)
cd "$scratch" || exit 99
n=0

# What the build's configure found out, so that this one has little to do.
sed -n '/^## Cache variables/,/^## Output/ { /^[a-z_]*_cv_/p; }' "$build/config.log" |
    grep -v '^ac_cv_env_' >found
host=$(sed -n "s/^host_alias='\(..*\)'/--host=\1/p" "$build/config.log")

# refuse TEXT SENTENCE ARGUMENT…: with variables of the cache first.
refuse() {
    text=$1 sentence=$2
    shift 2
    n=$((n + 1))
    cp found cache
    while case $1 in --*) false ;; esac; do
        sed "/^${1%%=*}=/d" cache >cache.less
        { cat cache.less && echo "$1"; } >cache
        shift
    done
    # shellcheck disable=SC2086
    "$source/configure" --cache-file=cache CC="$CC" CXX="$CXX" $host "$@" >out 2>err
    status=$?
    if [ $status -ne 0 ] && grep -q "^configure: error: .*$sentence" err; then
        echo "ok $n - $text"
    else
        sed "s/^/# status $status: /" err
        echo "not ok $n - $text"
    fi
}

refuse 'an unknown --with' 'no option --with-frob;.* --help' --with-frob
refuse 'an unknown --enable, among others' 'no option --enable-frob;.* --help' \
    --enable-debug --enable-frob=3
refuse 'a slip of a known one' 'no option --disable-tool;' --disable-tool
refuse 'no library at all' 'no library to build' --disable-shared --disable-static
refuse 'a value that is none' '--enable-werror is yes or no' --enable-werror=perhaps
refuse 'another' '--with-hwloc is yes or no' --with-hwloc=/usr/local
refuse 'a folder of completions that is no path' \
    '--with-bash-completion-dir is a whole path or no' --with-bash-completion-dir=here
refuse 'hwloc without its header' 'Debian: libhwloc-dev' \
    ac_cv_have_decl_HWLOC_TYPE_DEPTH_NUMANODE=no --with-hwloc
refuse 'a prefix with a space' "prefix is '/a b'.*choose another" --prefix='/a b'
refuse 'a folder with a quote' "libdir is '/a'b'.*choose another" "--libdir=/a'b"
refuse 'a folder with a semicolon' "mandir is '/a;b'.*choose another" '--mandir=/a;b'
refuse 'a folder of pkg-config with a space' '--with-pkgconfigdir is ./a b' \
    '--with-pkgconfigdir=/a b'
refuse 'a folder of completions with a quote' "--with-zsh-completion-dir is '/a'b'" \
    "--with-zsh-completion-dir=/a'b"
refuse 'a prefix with a variable of the shell' 'prefix is ./a[$]b' '--prefix=/a$b'
refuse 'no make' 'no none-such in PATH.*Debian: make' MAKE=none-such --disable-tools
case $CC in
*clang*)
    n=$((n + 1))
    echo "ok $n # SKIP this compiler has libFuzzer"
    ;;
*)
    refuse 'fuzzers by a compiler that has none' 'CC=clang (Debian: clang, ' \
        --enable-fuzzing
    ;;
esac
n=$((n + 1))
# shellcheck disable=SC2086
if PKG_CONFIG_LIBDIR=/nowhere PKG_CONFIG_PATH='' "$source/configure" \
    --cache-file=found CC="$CC" CXX="$CXX" $host --enable-tools >out 2>err ||
    ! grep -q 'Debian: .*libpcre2-dev, libjansson-dev.*--disable-tools' err; then
    sed 's/^/# /' err
    printf 'not '
fi
echo "ok $n - programs without their libraries"

# Without CC a compiler has one of three names.
n=$((n + 1))
mkdir bin
for folder in /usr/bin /bin; do
    ln -s "$folder"/* bin 2>/dev/null
done
rm -f bin/cc bin/gcc bin/clang
if (unset CC && PATH=$scratch/bin "$source/configure" >out 2>err) ||
    ! grep -q 'no C compiler in PATH.*Debian: gcc' err; then
    sed 's/^/# /' err
    printf 'not '
fi
echo "ok $n - no compiler"

# Without pkg-config, and so without cmocka, make check has fewer tests, and nothing
# that it cannot make.
n=$((n + 1))
cp found cache
# shellcheck disable=SC2086
if ! PKG_CONFIG='' "$source/configure" \
    --cache-file=cache CC="$CC" CXX="$CXX" $host --with-cuda=no \
    --with-hip=no --with-vulkan=no >out 2>err ||
    ! grep -q 'programs .*need pkgconf, libpcre2-dev and libjansson' out ||
    ! grep -q 'tests .*need pkgconf, libcmocka-dev' out || ! make -n check >out 2>err ||
    ! grep -q 'cmocka.sh' out || grep -q 'fuzz/image.c' out; then
    sed 's/^/# /' err | tail -n 20
    printf 'not '
fi
echo "ok $n - no pkg-config, no cmocka"
n=$((n + 1))
: >wrong
for folder in '/a b' '/a ' "/a'b" '/a"b' '/a;b' '/a&b' '/a(b' '/a$$b' 'a/b' '.'; do
    for name in DESTDIR prefix; do
        if make -n install "$name=$folder" >out 2>err ||
            ! grep -q "$name is '.*': .*choose another" err; then
            echo "$name=$folder: $(tail -n 1 err)" >>wrong
        fi
    done
done
# None of these means anything to make or the shell.
make -n install DESTDIR='/a,b=c:d%e+f~g@h' >out 2>err || cat err >>wrong
if [ -s wrong ]; then
    sed 's/^/# /' wrong
    printf 'not '
fi
echo "ok $n - a DESTDIR, or a prefix for make, that is no plain whole path"

# Packagers pass all packages the same options, and say so.
n=$((n + 1))
# shellcheck disable=SC2086
"$source/configure" --cache-file=found CC="$CC" CXX="$CXX" $host --disable-option-checking \
    --with-frob --disable-shared --disable-static >out 2>err
if ! grep -q 'no library to build' err; then
    sed 's/^/# /' err
    printf 'not '
fi
echo "ok $n - unknown ones go where options are not checked"
echo "1..$n"
