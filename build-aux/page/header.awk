# SPDX-License-Identifier: MIT
# Headers, as a list of items: each is a declaration, or the begin of a section.
#
#   item_kind     "function", "macro" (with arguments), "raw" (types, constants) or
#                 "section"
#   item_header, item_section
#                 where it is: "ggml/op.h", "copies"
#   item_name     "ggml_cpy"; a section's title
#   item_type     what a function returns
#   item_params   a line for each parameter, of typedefs of functions too
#   item_text     raw: as it stands in the header; a section: its comment
#   item_hint     what GGML_DEPRECATED says, or ""
#   item_remark   of a section, behind its title
#   item_group    the number of its group, which shares the comment group_text
#
# about has each header's first comment.

# S with all FROM replaced by TO, in which nothing has a meaning.
function swap(s, from, to,   done, i) {
    done = ""
    while ((i = index(s, from)) > 0) {
        done = done substr(s, 1, i - 1) to
        s = substr(s, i + length(from))
    }
    return done s
}

function trim(s) {
    sub(/^[ \t\n]+/, "", s)
    sub(/[ \t\n]+$/, "", s)
    return s
}

# Is the code behind this #if or #elif what a C program of today sees?
function is_seen(line) {
    if (line ~ /defined\(__cplusplus\)/ && line !~ /!defined\(__cplusplus\)/)
        return 0
    if (line ~ /^#ifdef __cplusplus/)
        return 0
    if (line ~ /GGML_API_LEVEL *(<|==|!=)/)
        return 0
    return line !~ /UINTPTR_MAX == 0xFFFFFFFF/
}

# Follows #if to #endif; true when LINE was one of these or is not seen.
function condition(line) {
    if (line ~ /^# *if/) {
        depth++
        taken[depth] = is_seen(line)
        active[depth] = active[depth - 1] && taken[depth]
        return 1
    }
    if (line ~ /^# *el/) {
        active[depth] = active[depth - 1] && !taken[depth] && \
            (line ~ /^# *else/ || is_seen(line))
        taken[depth] = taken[depth] || active[depth]
        return 1
    }
    if (line ~ /^# *endif/) {
        depth--
        return 1
    }
    return !active[depth]
}

function begin_header(path) {
    header = path
    sub(/^(.*\/)?include\//, "", header)
    section = ""
    begin_group("")
    depth = 0
    active[0] = 1
    is_guarded = in_comment = in_macro = in_declaration = in_remark = 0
    directive = ""
}

# Declarations up to the next comment belong together and share it.
function begin_group(text) {
    group++
    group_text[group] = text
    is_apart = 0
}

# But a type or a constant behind a blank line stands alone, and so does what
# follows one so.
function end_group(kind) {
    if (is_apart && items > 0 && item_group[items] == group && \
        item_kind[items] != "section" && \
        (kind == "raw" || item_kind[items] == "raw"))
        begin_group("")
    is_apart = 0
}

function add_item(kind, name, text) {
    end_group(kind)
    items++
    item_header[items] = header
    item_section[items] = section
    item_group[items] = group
    item_kind[items] = kind
    item_name[items] = name
    item_text[items] = text
    return items
}

function header_line(line) {
    if (in_comment) {
        comment_line(line)
    } else if (in_macro) {
        macro_line(line)
    } else if (directive line ~ /^# *(if|elif).*\\$/) {
        directive = directive substr(line, 1, length(line) - 1)
    } else if (condition(directive line)) {
        directive = ""
        is_guarded = 1
    } else if (in_declaration) {
        declaration_line(line)
    } else if (line ~ /^\/\*/) {
        comment = ""
        in_comment = 1
        comment_line(substr(line, 3))
    } else if (line ~ /^# *define/) {
        macro = ""
        macro_line(line)
    } else if (line ~ /^ *$/) {
        is_apart = 1
    } else if (line !~ /^#/) {
        declaration = ""
        level = 0
        in_declaration = 1
        declaration_line(line)
    }
}

function comment_line(line) {
    in_comment = !sub(/ *\*\/.*$/, "", line)
    sub(/^ \*/, "", line)
    sub(/^ /, "", line)
    comment = comment line "\n"
    if (!in_comment)
        end_comment()
}

function end_comment(   title, i) {
    sub(/^\n+/, "", comment)
    sub(/\n+$/, "", comment)
    if (comment ~ /^SPDX-/)
        return
    if (!is_guarded) {
        if (!(header in about))
            about[header] = comment
        return
    }
    i = index(comment "\n", "\n")
    title = substr(comment, 1, i - 1)
    if (title !~ /^--+ .* --+$/) {
        begin_group(comment)
        return
    }
    gsub(/^-+ | -+$/, "", title)
    comment = trim(substr(comment, i))
    i = index(title ":", ":")
    section = tolower(substr(title, 1, i - 1))
    begin_group("")
    add_item("section", substr(title, 1, i - 1), comment)
    item_remark[items] = trim(substr(title, i + 1))
}

# The first line of a macro, and those behind a backslash.
function macro_line(line,   name, i) {
    macro = macro line
    in_macro = sub(/ *\\$/, "", macro)
    if (in_macro)
        return
    name = macro
    sub(/^# *define */, "", name)
    match(name, /^[A-Za-z0-9_]+/)
    macro = substr(name, RLENGTH + 1)
    name = substr(name, 1, RLENGTH)
    if (name ~ /^GGML_LEVEL_/) {
        level_text[name] = trim(macro)
    } else if (macro ~ /^\(/) {
        add_item("macro", name, "")
        item_params[items] = parameters(macro)
        is_function[name] = 1
    } else if (name ~ /^GGMLBACKEND_/ || trim(macro) != "") {
        is_constant[name] = 1
        # A long text is code, of which only the name is of interest.
        if (length(macro) > 60)
            macro = ""
        add_item("raw", name, "#define " name " " trim(macro))
    }
}

function declaration_line(line,   code) {
    declaration = declaration line "\n"
    # Parentheses and semicolons of comments do not count.
    code = line
    if (in_remark)
        in_remark = !sub(/^.*\*\//, "", code)
    if (in_remark)
        return
    while (match(code, /\/\*[^*]*\*\//))
        code = substr(code, 1, RSTART - 1) substr(code, RSTART + RLENGTH)
    in_remark = sub(/\/\*.*$/, "", code)
    level += gsub(/[({]/, "", code) - gsub(/[)}]/, "", code)
    if (level == 0 && (code ~ /; *$/ || line == "}")) {
        in_declaration = 0
        end_declaration()
    }
}

function end_declaration(   name) {
    if (declaration ~ /^(GGML_(API|BACKEND_API|DEPRECATED|NORETURN|ATTRIBUTE)|static inline)/) {
        end_function(declaration)
        return
    }
    if (match(declaration, /^typedef[^;{]*\(\*[a-z0-9_]+/)) {
        name = substr(declaration, 1, RLENGTH)
        sub(/^.*\(\*/, "", name)
    } else if (match(declaration, /^(struct|enum|union) [a-z0-9_]+/)) {
        name = substr(declaration, 1, RLENGTH)
        sub(/^.* /, "", name)
    } else {
        name = declaration
        sub(/(\[[0-9]*\])?( =[^=]*)?;[ \n]*$/, "", name)
        sub(/^.*[^A-Za-z0-9_]/, "", name)
    }
    add_item("raw", name, declaration)
    if (declaration ~ /^typedef[^;{]*\(\*/) {
        sub(/^[^)]*\)/, "", declaration)
        item_params[items] = parameters(declaration)
    }
}

function end_function(text,   hint, type, name) {
    hint = ""
    gsub(/[ \n]+/, " ", text)
    if (sub(/^GGML_DEPRECATED\(/, "", text) && match(text, /, *"[^"]*"\); *$/)) {
        hint = substr(text, RSTART, RLENGTH)
        text = substr(text, 1, RSTART - 1)
        gsub(/^[^"]*"|"[^"]*$/, "", hint)
    }
    sub(/^static inline /, "", text)
    while (sub(/^GGML_(NORETURN|API|BACKEND_API|ATTRIBUTE_FORMAT\([^)]*\)) /, "", text)) {
    }
    type = substr(text, 1, index(text, "(") - 1)
    match(type, /[A-Za-z0-9_]+$/)
    name = substr(type, RSTART)
    add_item("function", name, "")
    item_type[items] = trim(substr(type, 1, RSTART - 1))
    item_params[items] = parameters(substr(text, index(text, "(")))
    item_hint[items] = hint
    is_function[name] = 1
}

# "(int a, f(b, c))..." as lines "int a", "f(b, c)".
function parameters(text,   i, c, open, list) {
    open = 0
    list = ""
    gsub(/[ \n]+/, " ", text)
    text = swap(text, "GGML_RESTRICT", "restrict")
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c == ")" && --open == 0)
            break
        if (open > 0 && !(open == 1 && c == ","))
            list = list c
        else if (c == ",")
            list = list "\n"
        if (c == "(")
            open++
    }
    gsub(/\n +/, "\n", list)
    return trim(list)
}
