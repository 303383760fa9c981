# SPDX-License-Identifier: MIT
# For scripts that make changes of a table in a copy of the sources: they set $source
# and $folder, where $copy is then, and $table, and have a function
# try_change NAME OLD NEW TESTS.
copy=$folder/source
mkdir -p "$copy"

# What is left changed by a run that was stopped becomes new again, so that it is
# compiled again.
restore() {
    if [ -s "$folder/changed" ]; then
        cp "$folder/original" "$copy/$(cat "$folder/changed")"
        rm "$folder/changed"
    fi
}
trap restore EXIT
trap 'exit 1' HUP INT TERM
restore

# The sources as they are here; those that are the same keep their times.
(cd "$source" && git ls-files -co --exclude-standard) |
    while read -r file; do
        if [ -f "$source/$file" ] && ! cmp -s "$source/$file" "$copy/$file"; then
            mkdir -p "$(dirname "$copy/$file")"
            rm -f "$copy/$file"
            cp "$source/$file" "$copy/$file"
            if [ -x "$source/$file" ]; then chmod +x "$copy/$file"; fi
        fi
    done

# change OLD NEW FOLDER...: in the only line of what is below these that has OLD, or
# in the first one with it behind the only line that has $behind.  The file's name is
# left in $file.
change() {
    old=$1 new=$2
    shift 2
    where=$(cd "$copy" && grep -rnF -- "${behind:-$old}" "$@") || return 1
    [ "$(printf '%s\n' "$where" | wc -l)" -eq 1 ] || return 1
    file=${where%%:*}
    cp -p "$copy/$file" "$folder/original"
    echo "$file" >"$folder/changed"
    OLD=$old NEW=$new BEHIND=$behind awk '
        !is_done && is_behind && (i = index($0, ENVIRON["OLD"])) > 0 {
            $0 = substr($0, 1, i - 1) ENVIRON["NEW"] \
                 substr($0, i + length(ENVIRON["OLD"]))
            is_done = 1
        }
        { print }
        ENVIRON["BEHIND"] != "" && index($0, ENVIRON["BEHIND"]) { is_behind = 1 }
        END { exit !is_done }
        BEGIN { is_behind = ENVIRON["BEHIND"] == "" }' "$folder/original" \
        >"$copy/$file"
}

# As it was, its time too.
change_back() {
    cp -p "$folder/original" "$copy/$file"
    rm "$folder/changed"
}

# try_changes TEXT: those that have it in their names.
try_changes() {
    while IFS= read -r line; do
        case $line in
        '* '*) title=${line#??} behind= ;;
        '@ '*) behind=${line#??} ;;
        '- '*) old_text=${line#??} ;;
        '+ '*) new_text=${line#??} ;;
        '> '*)
            case $title in
            *"$1"*)
                try_change "$title" "$old_text" "$new_text" "${line#??}" </dev/null
                ;;
            esac ;;
        esac
    done <"$table"
}
