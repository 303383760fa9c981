# SPDX-License-Identifier: MIT
# For tests of a table of what kernels take of a card, such as tests/cuda/resources.sh.
# In $dir/rules are name, architectures, kernels, columns whose sum is looked at, and
# what it has to be, none or some.

# look_at_rules EXCEPTIONS TABLE: prints what is wrong.
look_at_rules() {
    awk '
    FILENAME ~ /rules$/ {
        n_rules++
        for (i = 1; i <= 5; i++)
            rule[n_rules, i] = $i
        next
    }
    /^#/ || NF == 0 { next }
    FILENAME ~ /exceptions$/ {
        n_exceptions++
        for (i = 1; i <= 4; i++)
            exception[n_exceptions, i] = $i
        next
    }
    $1 == "arch" {
        for (i = 1; i <= NF; i++)
            column[$i] = i
        next
    }
    {
        for (r = 1; r <= n_rules; r++) {
            if ($1 !~ rule[r, 2] || $2 !~ rule[r, 3])
                continue
            n_looked[r]++
            n = split(rule[r, 4], list, ",")
            for (sum = i = 0; i++ < n; )
                sum += $column[list[i]]
            if (rule[r, 5] == "none" ? sum == 0 : sum > 0)
                continue
            for (e = 1; e <= n_exceptions; e++)
                if (exception[e, 1] == rule[r, 1] && $1 ~ exception[e, 2] &&
                    $2 ~ exception[e, 3] && sum <= exception[e, 4])
                    break
            used[e] = 1
            if (e > n_exceptions)
                print rule[r, 1] ": " $2 " at " $1 ": " rule[r, 4] " " sum
        }
    }
    END {
        for (r = 1; r <= n_rules; r++)
            if (!n_looked[r])
                print rule[r, 1] ": no kernel of the table is meant"
        for (e = 1; e <= n_exceptions; e++)
            if (!used[e])
                print "exception no longer needed: " exception[e, 1] " " \
                    exception[e, 2] " " exception[e, 3]
    }' "$dir/rules" "$1" "$2" >"$dir/wrong"
    cat "$dir/wrong" >&2
    ! [ -s "$dir/wrong" ]
}

# every_rule_is_broken TABLE: of one that is wrong everywhere, without exceptions.
every_rule_is_broken() {
    ! look_at_rules /dev/null "$1" 2>"$dir/said" &&
        [ "$(cut -d: -f1 "$dir/said" | sort -u)" = \
            "$(awk '{ print $1 }' "$dir/rules" | sort -u)" ]
}

# compare_rows TABLE ROWS: those of architectures that both have are alike.
compare_rows() {
    for i in "$1" "$2"; do
        awk '!/^#/ && $1 != "arch" { print $1 }' "$i" | sort -u
    done | sort | uniq -d >"$dir/archs"
    awk 'NR == FNR { is_both[$1] = 1; next } $1 in is_both' "$dir/archs" "$1" \
        >"$dir/kept.rows"
    awk 'NR == FNR { is_both[$1] = 1; next } $1 in is_both' "$dir/archs" "$2" \
        >"$dir/found.rows"
    claim "there is an architecture that the table has" [ -s "$dir/archs" ]
    diff "$dir/kept.rows" "$dir/found.rows" >"$dir/err" 2>&1
    [ ! -s "$dir/err" ]
    result "they are as the table says ($(paste -sd' ' "$dir/archs")); else make gpu-resources"
}
