# SPDX-License-Identifier: MIT
# The first file, a text in mdoc, with lines that are replaced by what the other
# files, headers and tables, have:
#
#   @names                   .Nm for each function, and macro with arguments, of
#                            the sections below
#   @synopsis HEADER TITLE   the declarations of a header's section, which begins
#                            with a comment such as "/* -- TITLE ----- */"; what
#                            stands in front of all sections has no title
#   @type HEADER NAME        one struct, enum, typedef or constant from elsewhere
#   @contracts               the comments of all these declarations
#   @about HEADER            the header's first comment, without its first sentence
#   @example FILE            a file of the folder "examples" as a literal display
#   @environment             a list of the rows of env.def
#   @types                   a table of the rows of type.def

function fail(text) {
    print "make-page: " ARGV[1] ": " text >"/dev/stderr"
    failed = 1
    exit 1
}

# -- What a page is about ------------------------------------------------------

# Is the item what the words of a @synopsis or @type line ask for?
function is_wanted(i, word, title) {
    if (item_header[i] != word[2])
        return 0
    if (word[1] == "@synopsis")
        return item_section[i] == tolower(title)
    # A struct that is merely announced is another declaration.
    return item_kind[i] == "raw" && item_name[i] == title && \
        item_text[i] !~ /^(struct|enum) [a-z0-9_]+;/
}

# Adds the items of such a line to selected.
function select_items(line,   word, title, i, n) {
    split(line, word, " ")
    title = trim(substr(line, index(line, word[2]) + length(word[2])))
    n = n_selected
    for (i = 1; i <= items; i++)
        if (is_wanted(i, word, title))
            selected[++n_selected] = i
    if (n == n_selected)
        fail(word[2] " has no " (word[1] == "@type" ? "type " : "section ") title)
}

function is_named(i) {
    return item_kind[i] == "function" || item_kind[i] == "macro"
}

# AND_MORE: the text has further names behind them.
function write_names(and_more,   i, k, n, name) {
    n = 0
    for (k = 1; k <= n_selected; k++)
        if (is_named(selected[k]))
            name[++n] = item_name[selected[k]]
    for (i = 1; i <= n; i++)
        print ".Nm " name[i] (i < n || and_more ? " ," : "")
}

# -- Synopsis ------------------------------------------------------------------

function write_raw(text,   n, i, part) {
    for (i in level_text)
        text = swap(text, " " i, level_text[i] == "" ? "" : " " level_text[i])
    text = swap(text, "GGML_RESTRICT", "restrict")
    sub(/\n+$/, "", text)
    n = split(text, part, "\n")
    for (i = 1; i <= n; i++)
        literal(part[i])
}

function write_function(i,   n, k, part) {
    if (item_type[i] != "")
        print ".Ft " (item_type[i] ~ / / ? "\"" item_type[i] "\"" : item_type[i])
    n = split(item_params[i], part, "\n")
    if (n == 0) {
        print ".Fn " item_name[i]
        return
    }
    print ".Fo " item_name[i]
    for (k = 1; k <= n; k++)
        print ".Fa " (part[k] ~ / / ? "\"" part[k] "\"" : part[k])
    print ".Fc"
}

# Of selected[first..last] all that is not deprecated.
function write_declarations(first, last,   k, i, is_open, is_long) {
    is_open = 0
    for (k = first; k <= last; k++) {
        i = selected[k]
        if (item_kind[i] == "section" || item_hint[i] != "")
            continue
        if (item_kind[i] == "raw") {
            if (!is_open)
                print ".Bd -literal"
            else if (is_long || item_text[i] ~ /\n./)
                print ""
            is_long = item_text[i] ~ /\n./
            write_raw(item_text[i])
            is_open = 1
            continue
        }
        if (is_open)
            print ".Ed\n.Pp"
        is_open = 0
        write_function(i)
    }
    if (is_open)
        print ".Ed"
    ends_in_display = is_open
}

function write_deprecated(first, last,   k, n) {
    n = 0
    for (k = first; k <= last; k++)
        if (item_hint[selected[k]] != "") {
            if (n++ == 0)
                print ".Pp\nDeprecated:\n.Pp"
            write_function(selected[k])
        }
    if (n > 0)
        ends_in_display = 0
}

# Is the first declaration from selected[k] on shown as it stands in the header?
function begins_in_display(k) {
    while (item_kind[selected[k]] == "section")
        k++
    return item_kind[selected[k]] == "raw"
}

function write_synopsis(line,   first, word) {
    split(line, word, " ")
    sub(/^ggml\/.*/, "ggml.h", word[2])
    # Sources of an older level have its folder in front.
    sub(/^level-[0-9]+\//, "", word[2])
    if (ends_in_display && (word[2] != last_header || !begins_in_display(shown + 1)))
        print ".Pp"
    if (word[2] != last_header) {
        print ".In " word[2]
        last_header = word[2]
    }
    first = shown + 1
    # As many as the first walk through the text found for this line.
    shown = selected_by[++n_lines]
    write_declarations(first, shown)
    write_deprecated(first, shown)
}

# -- Contracts -----------------------------------------------------------------

function add_params(i,   n, k, part, name) {
    n = split(item_params[i], part, "\n")
    for (k = 1; k <= n; k++) {
        name = part[k]
        if (item_kind[i] != "macro" && name !~ /[ *]/)
            continue
        sub(/\[[^]]*\]$/, "", name)
        if (match(name, /[A-Za-z_][A-Za-z0-9_]*$/)) {
            name = substr(name, RSTART)
            if (name !~ /^(int|float|void|size_t)$/)
                is_param[name] = 1
        }
    }
}

function clear_params(   name) {
    for (name in is_param)
        delete is_param[name]
}

# The head over the contract of items selected[first..last], which share it.
function write_head(first, last,   k, i, macro) {
    print ".It Xo"
    for (k = first; k <= last; k++) {
        i = selected[k]
        if (is_named(i))
            macro = "Fn"
        else
            macro = item_text[i] ~ /^(#define|static const)/ ? "Dv" : "Vt"
        print "." macro " " \
            (match(item_text[i], /^(struct|enum|union) /) ? \
                substr(item_text[i], 1, RLENGTH) : "") \
            item_name[i] (k < last ? " ," : "")
    }
    print ".Xc"
}

function write_contract(first, last,   k, i) {
    clear_params()
    for (k = first; k <= last; k++)
        add_params(selected[k])
    write_head(first, last)
    body(group_text[item_group[selected[first]]])
    for (k = first; k <= last; k++) {
        i = selected[k]
        if (item_hint[i] != "") {
            print ".Pp"
            flow(item_name[i] " is deprecated, " item_hint[i] ".")
        }
    }
}

# What a section says about all of its declarations.
function write_section(i, title) {
    clear_params()
    if (title)
        print ".Ss " toupper(substr(item_name[i], 1, 1)) substr(item_name[i], 2)
    else if (item_remark[i] != "" || item_text[i] != "")
        print ".Pp"
    if (item_remark[i] != "")
        flow(toupper(substr(item_remark[i], 1, 1)) substr(item_remark[i], 2) ".")
    if (item_remark[i] != "" && item_text[i] != "")
        print ".Pp"
    if (item_text[i] != "")
        body(item_text[i])
}

# Does the begin of its section say what holds for this item?
function is_told(i) {
    while (item_kind[i] != "section" && i > 1 && group_text[item_group[i]] == "")
        i--
    return item_kind[i] == "section" && item_text[i] != ""
}

function write_contracts(   k, last, i, n_sections, is_open) {
    n_sections = 0
    for (k = 1; k <= n_selected; k++)
        if (item_kind[selected[k]] == "section")
            n_sections++
    is_open = 0
    for (k = 1; k <= n_selected; k = last + 1) {
        i = selected[k]
        last = k
        if (item_kind[i] == "section") {
            if (is_open)
                print ".El"
            is_open = 0
            write_section(i, n_sections > 1)
            continue
        }
        while (last < n_selected && item_kind[selected[last + 1]] != "section" && \
               item_group[selected[last + 1]] == item_group[i])
            last++
        if (group_text[item_group[i]] == "") {
            for (; k <= last; k++)
                if (is_named(selected[k]) && !is_told(selected[k]))
                    fail(item_name[selected[k]] " has no comment in its header")
            continue
        }
        if (!is_open)
            print ".Bl -tag -width Ds"
        is_open = 1
        write_contract(k, last)
    }
    if (is_open)
        print ".El"
}

function write_about(line,   word, i, text) {
    split(line, word, " ")
    if (!(word[2] in about))
        fail(word[2] " has no first comment")
    clear_params()
    for (i = 1; i <= items; i++)
        if (item_header[i] == word[2])
            add_params(i)
    text = about[word[2]]
    match(text "\n", /\.(  |\n)/)
    text = substr(text, RSTART + RLENGTH)
    sub(/^\n+/, "", text)
    body(text)
}

function write_example(line, follows,   word, file, text, is_begun) {
    split(line, word, " ")
    file = examples "/" word[2]
    print ".Bd -literal"
    while ((getline text < file) > 0) {
        if (text ~ /SPDX-License-Identifier/ || (!is_begun && text == ""))
            continue
        is_begun = 1
        literal(text)
    }
    close(file)
    if (!is_begun)
        fail(file " cannot be read")
    print ".Ed"
    if (follows ~ /^[^.]/)
        print ".Pp"
}

function environment_line(line,   part) {
    if (line !~ /^GB_ENV\(/)
        return
    split(line, part, "\"")
    is_variable[part[2]] = 1
    n_variables++
    variable_name[n_variables] = part[2]
    gsub(/[ ,]/, "", part[3])
    variable_type[n_variables] = tolower(part[3])
    variable_default[n_variables] = part[4]
    variable_help[n_variables] = part[6]
}

function write_environment(   i) {
    clear_params()
    print ".Bl -tag -width Ds"
    for (i = 1; i <= n_variables; i++) {
        print ".It Ev " variable_name[i]
        flow(variable_help[i])
        print "Type " variable_type[i] ", " (variable_default[i] == "" ? \
            "no default." : "default\n.Ql " variable_default[i] " .")
    }
    print ".El"
}

# GB_TYPE(ID, "name", values, bytes, ...).
function type_line(line,   part) {
    if (line !~ /^GB_TYPE\(/)
        return
    split(line, part, /[(", ]+/)
    type_id[++n_types] = part[2]
    type_name[n_types] = part[3]
    type_values[n_types] = part[4]
    type_bytes[n_types] = part[5]
}

# The types by their numbers, which enum ggml_type has.
function write_types(   i, k, n, line, part, number, row) {
    for (i = 1; i <= items; i++)
        if (item_name[i] == "ggml_type")
            n = split(item_text[i], line, "\n")
    for (i = 1; i <= n; i++)
        if (split(line[i], part, /[ =,]+/) >= 3)
            number[part[2]] = part[3]
    for (k = 1; k <= n_types; k++) {
        if (!(("GGML_TYPE_" type_id[k]) in number))
            fail("no number for type " type_id[k])
        row[number["GGML_TYPE_" type_id[k]] + 0] = k
    }
    print ".Bl -column \"number\" \"iq2_xxs\" \"values\" \"bytes\""
    print ".It Em number Ta Em name Ta Em values Ta Em bytes Ta Em bits of a value"
    for (i = 0; i < 1000; i++)
        if (i in row) {
            k = row[i]
            print ".It " i " Ta " type_name[k] " Ta " type_values[k] " Ta " \
                type_bytes[k] " Ta " 8 * type_bytes[k] / type_values[k]
        }
    print ".El"
}

# The first walk through the text: which declarations the page is about.
function select_all(   i, n) {
    n_selected = n = 0
    for (i = 1; i <= n_page; i++)
        if (page[i] ~ /^@(synopsis|type) /) {
            select_items(page[i])
            selected_by[++n] = n_selected
        }
    for (i = 1; i <= n_selected; i++)
        if (is_named(selected[i]))
            is_here[item_name[selected[i]]] = 1
}

function write_line(line, follows) {
    if (line == "@names")
        write_names(follows ~ /^\.Nm /)
    else if (line ~ /^@(synopsis|type) /)
        write_synopsis(line)
    else if (line == "@contracts")
        write_contracts()
    else if (line ~ /^@about /)
        write_about(line)
    else if (line ~ /^@example /)
        write_example(line, follows)
    else if (line == "@environment")
        write_environment()
    else if (line == "@types")
        write_types()
    else if (line ~ /^@/)
        fail("what is " line "?")
    else
        print line
}

NR == FNR { page[++n_page] = $0; next }
FNR == 1 { begin_header(FILENAME) }
FILENAME ~ /env\.def$/ { environment_line($0); next }
FILENAME ~ /type\.def$/ { type_line($0); next }
{ header_line($0) }

END {
    select_all()
    if (!failed) {
        sub(/^.*\//, "", ARGV[1])
        print ".\\\" Made by build-aux/make-page from man/" ARGV[1] "."
        for (i = 1; i <= n_page && !failed; i++)
            write_line(page[i], page[i + 1])
    }
    if (failed)
        exit 1
}
