# names.awk - what a C header declares, one name a line: constants, struct.member, sizeof(struct), functions.
# It reads the plain style of ufunc.h: structs are not nested, and have no members that are pointers to functions.
{ text = text $0 "\n" }

# The last word of a declaration without its array bounds.
function declared(s) {
    gsub(/\[[^]]*\]/, "", s)
    match(s, /[A-Za-z_0-9]+[ \n]*$/)
    s = substr(s, RSTART, RLENGTH)
    gsub(/[ \n]/, "", s)
    return s
}

function members(type, body,    n, m, k, j, list, names) {
    print "sizeof(" type ")"
    n = split(body, list, ";") - 1
    for (k = 1; k <= n; k++) {
        m = split(list[k], names, ",")
        for (j = 1; j <= m; j++)
            print type "." declared(names[j])
    }
}

function constants(body,    n, k, list) {
    n = split(body, list, ",")
    for (k = 1; k <= n; k++)
        if (match(list[k], /[A-Za-z_][A-Za-z_0-9]*/))
            print substr(list[k], RSTART, RLENGTH)
}

END {
    gsub(/\/\*[^*]*\*+([^\/*][^*]*\*+)*\//, "", text)
    gsub(/\\\n/, " ", text)
    while (match(text, /#define UF_[A-Z]+_ARGS_\(n\) *struct/)) # a struct with room for n arrays
        text = substr(text, 1, RSTART - 1) "struct " tolower(substr(text, RSTART + 8, index(substr(text, RSTART), "_(n)") - 9)) \
            substr(text, RSTART + RLENGTH)
    gsub(/ UF_MAY_ALIAS_ /, " ", text)
    gsub(/(^|\n)#[^\n]*/, "", text)
    rest = text
    while (match(text, /(struct [a-z_]+|enum [a-z_]+|enum) *\{[^}]*\}/)) {
        block = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        body = substr(block, index(block, "{") + 1)
        sub(/\}$/, "", body)
        split(block, word, /[ {]+/)
        if (word[1] == "struct")
            members(word[2], body)
        else {
            constants(body)
            if (word[2] ~ /^uf_/)
                print "sizeof(" word[2] ")"
        }
    }
    while (match(rest, /uf_[a-z_]+\(/)) {
        print substr(rest, RSTART, RLENGTH - 1)
        rest = substr(rest, RSTART + RLENGTH)
    }
}
