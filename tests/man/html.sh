#!/bin/sh
# SPDX-License-Identifier: MIT
# The pages for a browser: links lead to places that are there, nothing is loaded
# from elsewhere, and the index and the search know every name and task.
. "$top_srcdir/tests/man/pages.sh"
[ "${MANDOC:-:}" != : ] || skip_all 'no mandoc'
echo 1..7

all_pages >"$scratch/pages"
# Names of files have no spaces, but the folders above may.
set --
while IFS= read -r page; do
    set -- "$@" "$page"
done <"$scratch/pages"
html=$scratch/html
sh "$top_srcdir/build-aux/make-html" "$html" "$top_srcdir/man/page.css" \
    "$top_srcdir/man/search.js" "$@" >"$scratch/wrong" 2>&1 ||
    echo 'make-html failed' >>"$scratch/wrong"
result 'the pages are made' "$scratch/wrong"
cd "$html" || exit 99

for page in "$@"; do
    [ -s "${page##*/}.html" ] || echo "no ${page##*/}.html"
done >"$scratch/wrong"
result 'one for each page' "$scratch/wrong"

# "file href" for each link, and "file#id" for each place.
links() {
    awk '{
        while (match($0, / (href|src|id)="[^"]*"/)) {
            split(substr($0, RSTART + 1, RLENGTH), part, "\"")
            print FILENAME, part[1] part[2]
            $0 = substr($0, RSTART + RLENGTH)
        }
    }' ./*.html
}
links | sed 's:^\./::' >"$scratch/links"
{
    ls
    sed -n 's/ id=/#/p' "$scratch/links"
} | sort -u >"$scratch/places"
{
    sed -n 's/^[^ ]* \(href\|src\)=\([^#:]\{1,\}\)$/\2/p
            s/^[^ ]* href=\([^#:]\{1,\}#.*\)$/\1/p
            s/^\([^ ]*\) href=\(#.*\)$/\1\2/p' "$scratch/links"
    # What the search leads to.
    awk -F'"' 'NF > 6 { print $6 }' entries.js
} | sort -u >"$scratch/targets"
comm -23 "$scratch/targets" "$scratch/places" >"$scratch/wrong"
[ "$(wc -l <"$scratch/targets")" -gt 20 ] || echo 'no links' >>"$scratch/wrong"
result 'links lead somewhere' "$scratch/wrong"

# A link to another site is a link alone.
{
    grep -l 'src="[a-z]*:\|<link[^>]*href="[a-z]*:\|@import\|url(' ./*.html
    grep -n '^ *import\|import(\|https\{0,1\}:\|fetch(\|XMLHttp\|url(' ./*.css ./*.js
} >"$scratch/wrong"
result 'nothing is loaded from elsewhere' "$scratch/wrong"

names_of "$@" | cut -d' ' -f1 | sort -u >"$scratch/names"
awk -F'"' 'NF > 6 { print $2 }' entries.js | sort -u |
    diff - "$scratch/names" >"$scratch/wrong"
result 'the search knows every name' "$scratch/wrong"

sed -n '/^\.Sh TASKS/,/^\.Sh [^T]/s/^\.It //p' "$top_srcdir/man/ggmlbackend.7.in" |
    while IFS= read -r task; do
        grep -qF "<dt>$task</dt><dd> " index.html || echo "no task '$task'"
    done >"$scratch/wrong"
grep -q '<dt>Load weights</dt>' index.html || echo 'no tasks' >>"$scratch/wrong"
result 'the index has every task' "$scratch/wrong"

# The search with as much of a browser as it needs.
cat >"$scratch/search.js" <<'END'
const fs = require("fs"), vm = require("vm");
const listeners = {};
const element = () => ({
    children: [],
    appendChild(child) { this.children.push(child); },
    set textContent(text) { this.children = text === "" ? [] : [{ text }]; },
});
const found = element();
const input = {
    value: "",
    addEventListener(event, run) { listeners[event] = run; },
};
const context = vm.createContext({
    document: {
        getElementById: (id) => (id === "found" ? found : input),
        createElement: element,
        createTextNode: (text) => ({ text }),
    },
});
for (const file of ["entries.js", "search.js"])
    vm.runInContext(fs.readFileSync(file, "utf8"), context);
function first(words) {
    input.value = words;
    listeners.input();
    const row = found.children[0];
    return row && row.children ? row.children[0].href : row && row.text;
}
function expect(words, answer) {
    if (!answer.test(first(words)))
        console.log(`'${words}' finds ${first(words)}, not ${answer}`);
}
expect("gguf", /^gguf\.5\.html$/);
expect("GGML_REPEAT", /^ggml_[a-z_]*\.3\.html#ggml_repeat$/);
expect("environment variables", /^ggmlbackend\.env\.7\.html$/);
expect("no such words", /^nothing found$/);
expect(" ", /^undefined$/);
END
if command -v node >/dev/null 2>&1; then
    node "$scratch/search.js" >"$scratch/wrong" 2>&1
    result 'the search finds names and words' "$scratch/wrong"
else
    echo 'ok 7 # SKIP no node'
fi
