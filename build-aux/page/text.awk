# SPDX-License-Identifier: MIT
# A comment as mdoc, by its indentation (see shape); its words stay what they are,
# but parameters, functions, constants and environment variables get their macros.
# is_param, is_here (functions of this page), is_function, is_constant and
# is_variable say which words those are.

# A line of a literal display.
function literal(line) {
    line = swap(line, "\\", "\\e")
    line = swap(line, "-", "\\-")
    line = swap(line, "'", "\\(aq")
    line = swap(line, "`", "\\(ga")
    line = swap(line, "^", "\\(ha")
    line = swap(line, "~", "\\(ti")
    if (line ~ /^\./)
        line = "\\&" line
    print line
}

# Text goes out in lines of words, macros in lines of their own.
function flush() {
    if (buffer == "")
        return
    if (buffer ~ /^[.']/)
        buffer = "\\&" buffer
    # A header's two words are a sentence of the page.
    if (buffer == "Any thread.")
        buffer = "Calls may come from any thread."
    print buffer
    buffer = ""
}

function add_word(w) {
    if (buffer != "" && length(buffer) + 1 + length(w) > 78)
        flush()
    buffer = buffer (buffer == "" ? "" : " ") w
}

function escape(s) {
    s = swap(s, "\\", "\\e")
    s = swap(s, "^", "\\(ha")
    s = swap(s, "~", "\\(ti")
    s = swap(s, "…", "...")
    if (s == "-" || s ~ /^[("]*-[0-9]/)
        sub(/-/, "\\-", s)
    return s
}

# An argument of a macro.
function argument(s) {
    return swap(escape(s), "\"", "\\(dq")
}

# Is this "a" the parameter?  The article stands before a noun.
function is_operand(after, follows) {
    return after != "" || follows !~ /^[a-z]/ || follows ~ \
        /^(added|and|are|as|at|by|from|has|in|into|is|on|or|repeats|to|which|with)[,.]?$/
}

# The macro for an identifier, "" for a plain word.  Parameters that are English
# words are left as they are, and single letters within the brackets of a shape.
function macro_of(word, after, follows) {
    if (word in is_param && (word ~ /[0-9_]/ || (word ~ /^.$/ && !in_shape && \
            (word != "a" || is_operand(after, follows)))))
        return "Fa " word
    # "A" is rather the article than a parameter.
    if (word == toupper(word) && tolower(word) in is_param && word != "A")
        return "Fa " tolower(word)
    if (word in is_here)
        return "Fn " word
    if (word in is_function)
        return "Xr " word " 3"
    if (word in is_variable)
        return "Ev " word
    if (word in is_constant || word ~ /^(GGML|GGUF)_[A-Z0-9_]*[A-Z0-9]$/ || \
        word == "NULL" || word == "SIZE_MAX")
        return "Dv " word
    return ""
}

# A line with the macro CALL, what stands in front of its word, and behind it.
function write_macro(before, call, after,   end) {
    end = ""
    if (match(after, after ~ /[[(]/ ? "[.,:;?!]+$" : "[].,:;?!)]+$")) {
        end = substr(after, RSTART)
        after = substr(after, 1, RSTART - 1)
        gsub(/./, " &", end)
    }
    if (after != "")
        after = " Ns " argument(after)
    if (before == "(" && call !~ /^Xr/)
        sub(/ /, " ( ", call)
    else if (before != "")
        call = "Pf \\&" argument(before) " " call
    flush()
    print "." call after end
}

# W, and FOLLOWS the word behind it.
function write_word(w, follows,   before, word, after, call) {
    # A page: "gguf(5)".
    if (match(w, /^[a-z][-a-z0-9._]*\([1-8]\)/)) {
        call = "Xr " substr(w, 1, RLENGTH - 3) " " substr(w, RLENGTH - 1, 1)
        write_macro("", call, substr(w, RLENGTH + 1))
        return
    }
    call = ""
    if (match(w, /[A-Za-z_][A-Za-z0-9_]*/)) {
        before = substr(w, 1, RSTART - 1)
        word = substr(w, RSTART, RLENGTH)
        after = substr(w, RSTART + RLENGTH)
        if (before !~ /[0-9.]/)
            call = macro_of(word, after, follows)
        # A field: "params->poll".
        if (word in is_param && match(after, /^->[a-z_0-9]+/)) {
            call = "Fa " word substr(after, 1, RLENGTH)
            after = substr(after, RLENGTH + 1)
        }
    }
    if (call == "") {
        add_word(escape(w))
        return
    }
    if (call ~ /^(Fn|Xr)/)
        sub(/^\(\)/, "", after)
    write_macro(before, call, after)
}

function ends_sentence(w) {
    return w ~ /[.?!][")]*$/ && w !~ /^\.|\.\.[")]*$|^(e\.g|i\.e)\.$/
}

# Words of TEXT, each sentence on a line of its own.
function flow(text,   w, space) {
    in_shape = 0
    while (text != "") {
        match(text "\n", /[ \n]+/)
        w = substr(text, 1, RSTART - 1)
        space = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (w == "")
            continue
        match(text "\n", /[ \n]/)
        in_shape += gsub(/\[/, "[", w)
        write_word(w, substr(text, 1, RSTART - 1))
        in_shape -= gsub(/\]/, "]", w)
        if (ends_sentence(w) && (space != " " || text ~ /^["(]*[A-Z]/))
            flush()
    }
    flush()
}

# The head of a row of a list: parameters, other names, or plain text.
function tag(text,   n, i, part, is_all, is_any) {
    n = split(text, part, ", ")
    is_all = 1
    is_any = text ~ /^[A-Za-z0-9_, ]+$/
    for (i = 1; i <= n; i++) {
        if (!(part[i] in is_param))
            is_all = 0
        if (part[i] !~ /^[A-Za-z0-9_]+$/)
            is_any = 0
    }
    text = argument(text)
    text = swap(text, ", ", " , ")
    return is_all ? "Fa " text : is_any ? "Va " text : text
}

# Writes the list of rows[1..n], "head<newline>text".
function write_list(n, mark, compact,   i, k, head, width) {
    width = ""
    for (i = 1; i <= n; i++) {
        head = substr(rows[i], 1, index(rows[i], "\n") - 1)
        if (length(head) > length(width) && length(head) <= 14)
            width = head
    }
    if (compact)
        print ".Pp"
    if (mark == "-")
        print ".Bl -dash -compact"
    else
        print ".Bl -tag -width \"" (width == "" ? "Ds" : width) "\"" \
            (compact ? " -compact" : "")
    for (i = 1; i <= n; i++) {
        k = index(rows[i], "\n")
        head = substr(rows[i], 1, k - 1)
        print ".It" (mark == "-" ? "" : " " (mark == "" ? tag(head) : mark " " head))
        flow(substr(rows[i], k + 1))
    }
    print ".El"
}

# How LINE goes on: as "text" (at the margin), "word" (a capitalised word, two
# spaces or more, text), "row" (two spaces, a name, two spaces or more, text),
# "dash", "literal" (four spaces), "blank".
function shape(line) {
    if (line ~ /^ *$/)
        return "blank"
    if (line ~ /^[A-Z][a-z]+   *[^ ]/)
        return "word"
    if (line ~ /^[^ ]/)
        return "text"
    if (line ~ /^  - /)
        return "dash"
    if (line ~ /^  [^ ]/)
        return "row"
    return "literal"
}

# Takes rows of one shape from lines[i] on, with what is indented more; returns
# the number of the line behind.
function take_rows(i, n, what,   k, line) {
    n_rows = 0
    for (; i <= n; i++) {
        line = lines[i]
        if (shape(line) == what) {
            sub(/^ */, "", line)
            if (what == "dash")
                line = "\n" substr(line, 3)
            else if (match(line, /   */))
                line = substr(line, 1, RSTART - 1) "\n" substr(line, RSTART + RLENGTH)
            else
                line = line "\n"
            rows[++n_rows] = line
        } else if (line ~ /^   / && n_rows > 0) {
            rows[n_rows] = rows[n_rows] "\n" trim(line)
        } else {
            break
        }
    }
    return i
}

# A comment as mdoc.
function body(text,   n, i, what, is_first, paragraph) {
    n = split(text, lines, "\n")
    is_first = 1
    i = 1
    while (i <= n) {
        what = shape(lines[i])
        if (what == "blank") {
            i++
            continue
        }
        if (what == "literal") {
            print ".Bd -literal -offset indent"
            for (; i <= n && shape(lines[i]) == "literal"; i++)
                literal(substr(lines[i], 5))
            print ".Ed"
        } else if (what != "text") {
            i = take_rows(i, n, what)
            write_list(n_rows, what == "row" ? "" : what == "dash" ? "-" : "Sy", \
                what != "word")
        } else {
            if (!is_first)
                print ".Pp"
            paragraph = ""
            do {
                paragraph = paragraph lines[i] "\n"
                i++
            } while (i <= n && shape(lines[i]) == "text" &&
                     lines[i] !~ /^(Parameters?|Source)[ a-z0-9,]*: /)
            flow(paragraph)
        }
        is_first = 0
    }
}
