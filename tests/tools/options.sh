#!/bin/sh
# SPDX-License-Identifier: MIT
# What --help says, what the programs take, their manual pages and what shells
# complete are the same, as they are installed; and bash, zsh and fish, asked for
# real, answer so.
dir=options-tool-$$
mkdir "$dir" "$dir/files" "$dir/files/folder" || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"
dir=$(cd "$dir" && pwd)
build=$(cd "$top_builddir" && pwd)
source=$(cd "$top_srcdir" && pwd)
PATH=$build:$PATH
export PATH
tools='bench conformance gguf info run'
: >"$dir/files/tiny.gguf"
: >"$dir/files/two words.gguf"
: >"$dir/files/x=y.gguf"
: >"$dir/files/notes"

# same TEXT FOUND EXPECTED: files, by their lines in any order.
same() {
    sort "$2" >"$dir/sorted"
    sort "$3" | diff - "$dir/sorted" >"$dir/err" 2>&1
    result "$1"
}

# --- What is offered: "-m, --model file", by --help, the page and each shell

# options_of TOOL: lines of --help.
options_of() {
    "$build/$1" --help | awk '/^  (-[a-zA-Z], |    )--/ {
        sub(/^ */, "")
        sub(/   *.*/, "")
        print substr($0, 1, 2) tolower(substr($0, 3))
    }'
}

long_names() {
    sed 's/^-., //; s/ .*//' "$dir/options.$1"
}

# finds TEXT EXPECTED: these lines are in $dir/found.
finds() {
    printf '%s' "$2" >"$dir/expected"
    same "$1" "$dir/found" "$dir/expected"
}

for name in $tools; do
    tool=ggmlbackend-$name
    options_of "$tool" >"$dir/options.$name"
    claim "$tool: no line of --help is too long" \
        sh -c '"$1" --help >"$2" && ! grep "^.\{81\}" "$2"' - "$build/$tool" "$dir/help"
    says 'there are options' test "$(wc -l <"$dir/options.$name")" -ge 5
    sed -n '/^\.It .*Fl -/ { s/^\.It //; s/ Ns //g; s/ ,/,/; s/Fl /-/g; s/Ar //g; p; }' \
        "$build/man/$tool.1" >"$dir/page"
    same 'the page has the same ones with the same arguments' "$dir/page" \
        "$dir/options.$name"
    long_names "$name" >"$dir/names"
    sed -n 's/^complete .* -l \([a-z-]*\).*/--\1/p' \
        "$build/completions/fish/$tool.fish" >"$dir/fish"
    same 'so has fish' "$dir/fish" "$dir/names"
    sed -n "s/.*\(--[a-z][a-z-]*\)=\{0,1\}}\{0,1\}'\[.*/\1/p" \
        "$build/completions/zsh/_$tool" | sort -u >"$dir/zsh"
    same 'so has zsh' "$dir/zsh" "$dir/names"
    # Whatever argument they have, --help behind it is found.
    bad=$(while read -r option; do
        case $option in
        *--help* | *--version*) continue ;;
        *' kxn') argument=1x1 ;;
        *' mode') argument=on ;;
        *' i/n') argument=1/1 ;;
        *) argument=1 ;;
        esac
        long=${option#-?, }
        case $option in
        *--*' '*) set -- "${long%% *}=$argument" "${option%%,*}$argument" ;;
        *) set -- "$long" "${option%%,*}" ;;
        esac
        case $option in
        --*) set -- "$1" ;;
        esac
        for given in "$@"; do
            "$build/$tool" "$given" --help >"$dir/out" 2>&1 &&
                grep -q '^Usage: ' "$dir/out" || printf ' %s' "$given"
        done
    done <"$dir/options.$name")
    echo "$bad" >"$dir/err"
    says "it takes them all$bad" test -z "$bad"
    refuse 2 'no other one' "try $tool --help" "$build/$tool" --frobnicate
    refuse 2 'none with an argument too many' "try $tool --help" \
        "$build/$tool" --version=1
done

# --- bash, as it calls the function: it splits words at = and :

cat >"$dir/complete.bash" <<'EOF'
# complete.bash FILE TOOL WORD…: what is found for the last word.
. "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
found=$(complete -p "$1")
found=${found#*-F }
"${found%% *}" "$1" "${!#}" 2>&1
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
EOF

# bash_finds TEXT EXPECTED TOOL WORD…: these lines, in any order.
bash_finds() {
    text="bash: $1" expected=$2 tool=ggmlbackend-$3
    shift 3
    (cd "$dir/files" && bash "$dir/complete.bash" \
        "$build/completions/bash/$tool" "$tool" "$@" >"$dir/found")
    finds "$text" "$expected"
}

if command -v bash >/dev/null; then
    for name in $tools; do
        claim "bash: the file of $name is in its language" \
            bash -n "$build/completions/bash/ggmlbackend-$name"
        bash_finds 'all options, and no other word' "$(long_names "$name")
" "$name" --
    done
    bash_finds 'commands' 'show
check
convert
types
' gguf ''
    bash_finds 'options of a command' '--no-mmap
--json
--help
--version
' gguf check --
    bash_finds 'a type' 'q8_0
' gguf convert --type q8
    bash_finds 'behind a word that readline has split' 'q8_0
' gguf convert --type = q8
    bash_finds 'and behind its end' "$(ggmlbackend-gguf types)
" gguf convert --type =
    bash_finds 'or in one that it has not' '--type=q8_0
' gguf convert --type=q8
    bash_finds 'files by their ending, and folders' 'folder
tiny.gguf
two words.gguf
x=y.gguf
' gguf show ''
    bash_finds 'a file whose name is split' 'y.gguf
' gguf show --json x = y
    bash_finds 'any file to be written' 'folder
notes
tiny.gguf
two words.gguf
x=y.gguf
' gguf --pure convert --type q8_0 tiny.gguf ''
    bash_finds 'nothing behind the last operand' '' gguf show tiny.gguf ''
    bash_finds 'nothing for a number' '' run -n ''
    bash_finds 'nothing for a text that begins like an option' '' run -p --j
    bash_finds 'a model' 'tiny.gguf
two words.gguf
' run -m t
    bash_finds 'a text' '--file=notes
' run -m tiny.gguf --file=no
    bash_finds 'a device' 'CPU
' run --device C
    if [ -f "$build/.libs/libggml-sim.so" ]; then
        GGMLBACKEND_MODULE_PATH=$build/.libs
        GGMLBACKEND_SIM=devices=1
        export GGMLBACKEND_MODULE_PATH GGMLBACKEND_SIM
        bash_finds 'a device of a module' 'Sim0
' conformance -d S
        unset GGMLBACKEND_MODULE_PATH GGMLBACKEND_SIM
    else
        skip 'no module of the simulated device'
    fi
    bash_finds 'an operation' 'ROPE
ROPE_BACK
' conformance --op ROP
    bash_finds 'the end of a case' '64
' bench -k mul_mat/q4_0/4096x4096/n = 6
    bash_finds 'results' 'notes
' bench --compare notes n
    bash_finds 'nothing where nothing stands' '' info ''
else
    skip 'no bash'
fi

# --- fish

fish_finds() {
    text="fish: $1" expected=$2 tool=${3%% *}
    (cd "$dir/files" && HOME=$dir XDG_CONFIG_HOME=$dir XDG_DATA_HOME=$dir \
        fish --no-config -c "source '$build/completions/fish/$tool.fish'
            complete -C '$3'" 2>&1 </dev/null | sed 's/	.*//' | sort -u >"$dir/found")
    finds "$text" "$expected"
}

if command -v fish >/dev/null; then
    for name in $tools; do
        claim "fish: the file of $name is in its language" \
            fish --no-execute "$build/completions/fish/ggmlbackend-$name.fish"
    done
    for name in bench conformance info run; do
        fish_finds 'all options, and no other word' "$(long_names "$name")
" "ggmlbackend-$name --"
    done
    fish_finds 'options of a command' '--no-mmap
--json
--help
--version
' 'ggmlbackend-gguf check --'
    fish_finds 'a command' 'convert
' 'ggmlbackend-gguf conv'
    fish_finds 'a type' 'q8_0
' 'ggmlbackend-gguf convert --type q8'
    fish_finds 'a file' 'tiny.gguf
' 'ggmlbackend-run -m ti'
    fish_finds 'a device' 'CPU
' 'ggmlbackend-run --device C'
    fish_finds 'nothing for a number' '' 'ggmlbackend-run -n '
else
    skip 'no fish'
fi

# --- zsh, on a terminal

cat >"$dir/complete.zsh" <<'EOF'
# complete.zsh FOLDER LINE: the line as it is after a tabulator.
zmodload zsh/zpty || exit 77
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=('$1' \$fpath); autoload -Uz compinit; compinit -D -u
unsetopt beep; shown() { print -r -- \"<\$BUFFER>\"; exit }; zle -N shown
bindkey '^I' complete-word; bindkey '^X' shown; stty -echo; print rea''dy"
while zpty -r shell line; do
    [[ $line == *ready* ]] && break
done
zpty -w -n shell "$2"$'\t\x18'
while zpty -r shell line; do
    [[ $line == *\<*\>* ]] && print -r -- "${${line##*<}%%>*}"
done
EOF

zsh_finds() {
    text="zsh: $1"
    (cd "$dir/files" && HOME=$dir TERM=dumb timeout 20 zsh -f "$dir/complete.zsh" \
        "$build/completions/zsh" "$2" >"$dir/found" 2>"$dir/err")
    finds "$text" "$3
"
}

if command -v zsh >/dev/null; then
    for name in $tools; do
        claim "zsh: the file of $name is in its language" \
            zsh -n "$build/completions/zsh/_ggmlbackend-$name"
    done
    zsh_finds 'a command' 'ggmlbackend-gguf conv' 'ggmlbackend-gguf convert '
    zsh_finds 'an option of a command' 'ggmlbackend-gguf check --no' \
        'ggmlbackend-gguf check --no-mmap '
    zsh_finds 'none of another' 'ggmlbackend-gguf check --al' \
        'ggmlbackend-gguf check --al'
    zsh_finds 'a type' 'ggmlbackend-gguf convert --type q8' \
        'ggmlbackend-gguf convert --type q8_0 '
    zsh_finds 'an option' 'ggmlbackend-run --perp' 'ggmlbackend-run --perplexity='
    zsh_finds 'a device' 'ggmlbackend-run --device C' 'ggmlbackend-run --device CPU '
    zsh_finds 'a file' 'ggmlbackend-run -m ti' 'ggmlbackend-run -m tiny.gguf '
    zsh_finds 'an option that may be given again' \
        'ggmlbackend-bench --case x --cas' 'ggmlbackend-bench --case x --case='
    zsh_finds 'a case' 'ggmlbackend-bench -k mul_mat/q4_0/4096x4096/n=6' \
        'ggmlbackend-bench -k mul_mat/q4_0/4096x4096/n=64 '
else
    skip 'no zsh'
fi

# --- What is made of rows and texts that do not fit is nothing

rows=$source/tools/ggmlbackend-info/options.def
page=$source/man/ggmlbackend-info.1.in
# refuse_text TEXT WORDS ROWS PAGE
refuse_text() {
    refuse 1 "$1" "$2" awk -v tool=ggmlbackend-info -v to=page \
        -f "$source/tools/common/options.awk" "$3" "$4"
}
sed '/^\.It @--json@/,/^Print/d' "$page" >"$dir/less"
refuse_text 'an option without a text' 'the next row is --json' "$rows" "$dir/less"
sed '/^\.It @--version@/,/^Print/d' "$page" >"$dir/less"
refuse_text 'the last one without' 'no --version' "$rows" "$dir/less"
sed '/^\.It @--json@/ { n; d; }' "$page" >"$dir/less"
refuse_text 'an empty text' 'says nothing of --json' "$rows" "$dir/less"
sed '/"json"/d' "$rows" >"$dir/rows"
refuse_text 'a text without an option' '--json' "$dir/rows" "$page"
sed 's/| --json/| --frob/' "$rows" >"$dir/rows"
refuse_text 'a form with an unknown option' '--frob, no row' "$dir/rows" "$page"
sed 's/ | --json//' "$rows" >"$dir/rows"
refuse_text 'an option of no form' 'no form has --json' "$dir/rows" "$page"
sed 's/"list", NULL, NONE/"list", NULL, LISTS/' "$rows" >"$dir/rows"
refuse_text 'an unknown completion' 'completes LISTS' "$dir/rows" "$page"

# Every awk that is here makes the same.
for awk in mawk gawk 'gawk --posix' original-awk 'busybox awk'; do
    if ! command -v "${awk%% *}" >/dev/null; then
        skip "no $awk"
        continue
    fi
    for name in $tools; do
        tool=ggmlbackend-$name
        for made in "page man/$tool.1" "bash completions/bash/$tool" \
            "zsh completions/zsh/_$tool" "fish completions/fish/$tool.fish"; do
            second=
            case $made in
            page*) second=$source/man/$tool.1.in ;;
            bash*) second=$source/tools/common/completion.bash.in ;;
            esac
            $awk -f "$source/tools/common/options.awk" -v tool="$tool" \
                -v to="${made%% *}" "$source/tools/$tool/options.def" \
                ${second:+"$second"} | cmp - "$build/${made#* }"
        done
    done >"$dir/err" 2>&1
    says "$awk makes the same" test ! -s "$dir/err"
done
echo "1..$n"
