# SPDX-License-Identifier: MIT
# awk -v tool=NAME -v to=page -f options.awk options.def NAME.1.in
# awk -v tool=NAME -v to=bash -f options.awk options.def completion.bash.in
# awk -v tool=NAME -v to=zsh|fish -f options.awk options.def
#
# Of the rows that common/options.h describes: the manual page, whose synopsis and
# ".It" lines are made here (the texts below them are written by hand, one for each
# command and option, in the order of the rows), or what a shell needs to complete
# the tool's command line.

FILENAME == ARGV[1] { def = def $0 "\n"; next }
{ second[++n_lines] = $0 }

END {
    LISTS["DEVICE"] = "ggmlbackend-info --list"
    LISTS["TYPE"] = "ggmlbackend-gguf types"
    LISTS["CASE"] = "ggmlbackend-bench --list"
    LISTS["OPERATION"] = "ggmlbackend-conformance --list"
    read_rows(without_comments(def))
    for (u = 1; u <= n_usages; u++)
        read_usage(u)
    check_usages()
    if (to == "page")
        print_page()
    else if (to == "bash")
        print_bash()
    else if (to == "zsh")
        print_zsh()
    else if (to == "fish")
        print_fish()
    else
        fail("to=" to "?")
}

function fail(message) {
    print "options.awk: " tool ": " message | "cat >&2"
    exit 1
}

# --- The rows

function without_comments(text,   begin, rest, end) {
    while ((begin = index(text, "/*")) > 0) {
        rest = substr(text, begin + 2)
        end = index(rest, "*/")
        text = substr(text, 1, begin - 1) substr(rest, end + 2)
    }
    return text
}

# Literals that stand one after another are one, as in C.
function read_rows(text,   i, c, depth, in_text, value, macro, n) {
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (in_text && c == "\\") {
            value = value substr(text, ++i, 1)
        } else if (c == "\"") {
            in_text = !in_text
        } else if (in_text) {
            value = value c
        } else if (c == "(" && depth++ == 0) {
            macro = value
            value = ""
            n = 0
        } else if (depth == 1 && (c == "," || c == ")")) {
            field[++n] = value
            value = ""
            if (c == ")") {
                depth = 0
                take_row(macro, n)
            }
        } else if (c !~ /[ \t\n]/) {
            if (c == ")")
                depth--
            value = value c
        }
    }
    if (depth != 0 || in_text || value != "")
        fail("the last row does not end")
}

function take_row(macro, n) {
    if (macro == "USAGE" && n == 1) {
        usage[++n_usages] = field[1]
    } else if (macro == "OPERAND" && n == 2) {
        operand[field[1]] = field[2]
    } else if (macro == "COMMAND" && n == 4) {
        command[++n_commands] = field[1]
        command_operands[field[1]] = field[3]
        command_help[field[1]] = field[4]
    } else if (macro == "OPTION" && n == 6) {
        take_option(++n_options)
    } else if ((macro != "TEXT" || n != 1) && (macro != "HABIT" || n != 2)) {
        fail("what row is " macro " of " n "?")
    }
}

function take_option(o,   letter) {
    letter = field[1]
    gsub(/'/, "", letter)
    short[o] = letter == "0" ? "" : "-" letter
    long[o] = "--" field[2]
    argument[o] = field[3] == "NULL" ? "" : field[3]
    completes[o] = field[4]
    may_repeat[o] = field[5] ~ /^EACH\(/
    ends[o] = field[5] == "HELP" || field[5] == "VERSION"
    help[o] = field[6]
    if (help[o] ~ /[][]/)
        fail(long[o] ": zsh has no brackets in brackets")
    if (completes[o] !~ /^(NONE|FILE|GGUF)$/ && !(completes[o] in LISTS))
        fail(long[o] " completes " completes[o])
    by_name[long[o]] = o
    if (short[o] != "")
        by_name[short[o]] = o
}

# --- The forms of the command line

# Each word is an option, its argument, a bar, a command, or an operand, with
# brackets around what may be left out.  Sets what the form's command ("" without)
# takes, and the form's mdoc.
function read_usage(u,   words, n, i, word, opens, closes, of, before, line) {
    n = split(usage[u], words, " ")
    of = n > 0 && words[1] ~ /^[a-z]/ ? words[1] : ""
    if (of != "" && !(of in command_help))
        fail("USAGE has the command " of ", no row has")
    for (i = 1; i <= n; i++) {
        word = words[i]
        opens = sub(/^\[/, "", word)
        closes = sub(/\]$/, "", word) ? "]" : sub(/\]\.\.\.$/, "", word) ? "]..." : ""
        if (opens || (!is_open && before != "|" && word != "|" &&
                      !has_argument(before))) {
            put_line(u, line)
            line = ""
        }
        line = line (opens ? " Oo" : "") " " word_of_usage(word, of, before)
        is_open = (is_open || opens) && closes == ""
        if (closes != "")
            line = line " Oc" (closes == "]" ? "" : " Ns ...")
        before = word
    }
    put_line(u, line)
    is_open = 0
}

function has_argument(name) {
    return name in by_name && argument[by_name[name]] != ""
}

# An option's argument stays on the option's line.
function word_of_usage(word, of, before,   o) {
    if (has_argument(before)) {
        if (word != argument[by_name[before]])
            fail("USAGE has " before " " word ", the option " \
                 argument[by_name[before]])
        return mdoc_argument(word)
    }
    if (word == "|")
        return word
    if (word == "OPTION") {
        takes_all[of] = 1
        return "Ar option"
    }
    if (word ~ /^-/) {
        if (!(word in by_name))
            fail("USAGE has " word ", no row has")
        o = by_name[word]
        is_used[o] = 1
        takes[of, o] = 1
        return mdoc_option(word)
    }
    if (word == of)
        return "Cm " word
    if (!(word in operand))
        fail("USAGE has " word ", which is no OPERAND")
    if (!((of, word) in is_operand_of)) {
        is_operand_of[of, word] = 1
        operand_at[of, ++n_operands[of]] = operand[word]
        operand_word[of, n_operands[of]] = word
    }
    return "Ar " tolower(word)
}

function put_line(u, line) {
    if (line == "")
        return
    sub(/^ /, "", line)
    # What is in brackets from end to end has a macro of its own.
    if (line ~ /^Oo .* Oc$/)
        line = "Op " substr(line, 4, length(line) - 6)
    synopsis[u] = synopsis[u] "\n." line
}

function check_usages(   o, i, name) {
    for (i = 1; i <= n_commands; i++) {
        name = command[i]
        if (n_operands[name] + 0 != command_operands[name])
            fail("the forms of " name " have " n_operands[name] + 0 " operands")
    }
    for (o = 1; o <= n_options; o++)
        if (!is_used[o] && !ends[o] && !("" in takes_all))
            fail("no form has " long[o])
}

# Does command NAME ("" without) take option O?
function may_take(name, o) {
    return ends[o] || (name in takes_all) || ((name, o) in takes)
}

# --- The manual page

function mdoc_option(name) {
    return "Fl " substr(name, 2)
}

# KxN: names of their own are those in capitals.
function mdoc_argument(text,   out, part) {
    while (text != "") {
        match(text, /^([A-Z]+|[^A-Z]+)/)
        part = substr(text, 1, RLENGTH)
        text = substr(text, RLENGTH + 1)
        out = out (out == "" ? "" : " Ns ") \
            (part ~ /^[A-Z]/ ? "Ar " tolower(part) : part)
    }
    return out
}

function item_of_row(i,   o) {
    if (i <= n_commands)
        return ".It Cm " command[i]
    o = i - n_commands
    return ".It " (short[o] == "" ? "" : mdoc_option(short[o]) " , ") \
        mdoc_option(long[o]) \
        (argument[o] == "" ? "" : " " mdoc_argument(argument[o]))
}

function row_name(i) {
    return i <= n_commands ? command[i] : long[i - n_commands]
}

function print_page(   i, u, row, name, n_rows) {
    n_rows = n_commands + n_options
    for (i = 1; i <= n_lines; i++) {
        if (second[i] == "@SYNOPSIS@") {
            for (u = 1; u <= n_usages; u++)
                print ".Nm" synopsis[u]
        } else if (second[i] ~ /^\.It @.*@$/) {
            name = substr(second[i], 6, length(second[i]) - 6)
            row++
            if (row > n_rows || name != row_name(row))
                fail("line " i " of the page has " name ", the next row " \
                     (row > n_rows ? "there is none" : "is " row_name(row)))
            if (second[i + 1] ~ /^\.(It|El)/)
                fail("the page says nothing of " name)
            print item_of_row(row)
        } else {
            print second[i]
        }
        if (i == 1)
            print ".\\\" Made from " tool ".1.in and " tool "/options.def."
    }
    if (row < n_rows)
        fail("the page has no " row_name(row + 1))
}

# --- bash

# Of command NAME; without a command of all of them, as any may follow.
function options_of(name,   o, list) {
    for (o = 1; o <= n_options; o++)
        if (name == "" || may_take(name, o))
            list = list (list == "" ? "" : " ") \
                (short[o] == "" ? "" : short[o] " ") long[o]
    return list
}

# Branches of the template's case statements.
function print_branch(indent, pattern, wants) {
    print indent pattern ") wants=" (wants ~ / / ? "'" wants "'" : wants) " ;;"
}

function print_arguments(indent,   o) {
    for (o = 1; o <= n_options; o++)
        if (argument[o] != "")
            print_branch(indent, (short[o] == "" ? "" : short[o] " | ") long[o],
                         completes[o])
}

function print_options(indent,   i) {
    for (i = 1; i <= n_commands; i++)
        print_branch(indent, command[i], options_of(command[i]))
    print_branch(indent, "*", options_of(""))
}

function print_operands(indent,   i, k, list) {
    for (i = 1; i <= n_commands; i++) {
        list = list (i == 1 ? "" : " ") command[i]
        for (k = 1; k <= n_operands[command[i]]; k++)
            print_branch(indent, "'" command[i] " " k "'",
                         operand_at[command[i], k])
    }
    if (n_commands > 0)
        print_branch(indent, "' 0'", list)
    for (k = 1; k <= n_operands[""]; k++)
        print_branch(indent, "*' " k - 1 "'", operand_at["", k])
}

function print_lists(indent,   o, kind, is_there) {
    for (o = 1; o <= n_options; o++) {
        kind = completes[o]
        if (kind in LISTS && !is_there[kind]++)
            print indent "(" kind ") " LISTS[kind] " 2>/dev/null ;;"
    }
}

function print_bash(   i, line, name, indent) {
    name = "_" tool
    gsub(/-/, "_", name)
    for (i = 1; i <= n_lines; i++) {
        line = second[i]
        indent = line
        sub(/[^ ].*/, "", indent)
        gsub(/@TOOL@/, tool, line)
        gsub(/@FUNCTION@/, name, line)
        if (line ~ /@ARGUMENTS@/)
            print_arguments(indent)
        else if (line ~ /@OPTIONS@/)
            print_options(indent)
        else if (line ~ /@OPERANDS@/)
            print_operands(indent)
        else if (line ~ /@LISTS@/)
            print_lists(indent)
        else
            print line
    }
}

# --- zsh

# TEXT in single quotes, with a backslash before the characters of SPECIAL.
function quoted(text, special,   i, c, out) {
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        out = out (c == "'" ? "'\\''" : index(special, c) > 0 ? "\\" c : c)
    }
    return out
}

function zsh_action(kind) {
    if (kind == "FILE")
        return "_files"
    if (kind == "GGUF")
        return "_files -g \"*.gguf(-.)\""
    if (kind in LISTS)
        return " _" tool "_lines " LISTS[kind]
    return ""
}

function zsh_option(o,   text, first, second) {
    text = "'[" quoted(help[o], ":\\") "]"
    if (argument[o] != "")
        text = text ":" quoted(argument[o], ":\\") ":" zsh_action(completes[o])
    text = text "'"
    first = short[o] == "" ? "" : short[o] (argument[o] == "" ? "" : "+")
    second = long[o] (argument[o] == "" ? "" : "=")
    if (may_repeat[o])
        return "'*'" (first == "" ? second : "{" first "," second "}") text
    if (ends[o])
        return "'(- *)'" (first == "" ? second : "{" first "," second "}") text
    if (first == "")
        return second text
    return "'(" short[o] " " long[o] ")'{" first "," second "}" text
}

function print_zsh_arguments(indent, name,   o, k) {
    printf "%s_arguments -s -S", indent
    for (o = 1; o <= n_options; o++)
        if (may_take(name, o))
            printf " \\\n%s    %s", indent, zsh_option(o)
    for (k = 1; k <= n_operands[name]; k++)
        printf " \\\n%s    '%d:%s:%s'", indent, k, \
            quoted(operand_word[name, k], ":\\"), \
            zsh_action(operand_at[name, k])
    print ""
}

function print_zsh(   i, o, has_lists) {
    print "#compdef " tool
    print "# Made from the tool's options.def."
    for (o = 1; o <= n_options; o++)
        has_lists = has_lists || completes[o] in LISTS
    if (has_lists) {
        print "_" tool "_lines()"
        print "{"
        print "    local -a lines"
        print "    lines=(${(f)\"$(_call_program values $* 2>/dev/null)\"})"
        print "    compadd -a lines"
        print "}"
    }
    if (n_commands == 0) {
        print_zsh_arguments("", "")
        return
    }
    print "local curcontext=\"$curcontext\" state state_descr line"
    print "local -A opt_args"
    print "local -a commands"
    print "_arguments -C -s -S \\"
    for (o = 1; o <= n_options; o++)
        if (ends[o])
            print "    " zsh_option(o) " \\"
    print "    '1:command:->command' '*::operand:->operand'"
    print "case $state in"
    print "command)"
    print "    commands=("
    for (i = 1; i <= n_commands; i++)
        print "        '" command[i] ":" \
            quoted(command_help[command[i]], ":\\") "'"
    print "    )"
    print "    _describe command commands"
    print "    ;;"
    print "operand)"
    print "    case $line[1] in"
    for (i = 1; i <= n_commands; i++) {
        print "    " command[i] ")"
        print_zsh_arguments("        ", command[i])
        print "        ;;"
    }
    print "    esac"
    print "    ;;"
    print "esac"
}

# --- fish

function fish_values(kind) {
    if (kind == "FILE")
        return " -r -F"
    if (kind == "GGUF")
        return " -r -f -k -a '(__fish_complete_suffix .gguf)'"
    if (kind in LISTS)
        return " -x -a '(" LISTS[kind] " 2>/dev/null)'"
    return " -x"
}

# The commands that take option O, all of them as "".
function fish_commands(o,   i, n, list) {
    for (i = 1; i <= n_commands; i++)
        if (may_take(command[i], o)) {
            list = list " " command[i]
            n++
        }
    return n == n_commands ? "" : list
}

# Files come first by their ending, so all operands of a command are like its first.
function print_fish(   o, i, of) {
    print "# fish completion of " tool ", made from its options.def"
    if (n_operands[""] + 0 == 0)
        print "complete -c " tool " -f"
    for (i = 1; i <= n_commands; i++)
        print "complete -c " tool " -n __fish_use_subcommand -a " command[i] \
            " -d '" quoted_fish(command_help[command[i]]) "'"
    for (i = 1; i <= n_commands; i++) {
        of = command[i]
        if (n_operands[of] > 0)
            print "complete -c " tool " -n '__fish_seen_subcommand_from " of "'" \
                fish_values(operand_at[of, 1])
    }
    for (o = 1; o <= n_options; o++) {
        of = fish_commands(o)
        print "complete -c " tool \
            (of == "" ? "" : " -n '__fish_seen_subcommand_from" of "'") \
            (short[o] == "" ? "" : " -s " substr(short[o], 2)) \
            " -l " substr(long[o], 3) \
            (argument[o] == "" ? "" : fish_values(completes[o])) \
            " -d '" quoted_fish(help[o]) "'"
    }
}

function quoted_fish(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/'/, "\\'", text)
    return text
}
