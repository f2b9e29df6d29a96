# man3.awk - makes libufunc(3) of include/ufunc.h, the manual. `-v version=0.1.0` is the version on the page. A comment is text: lines
# of two columns become a list, indented ones code. Declarations are code. A comment "---- Title ----" begins a section.
function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/'/, "\\(aq", text)
    gsub(/\^/, "\\(ha", text)
    gsub(/~/, "\\(ti", text)
    gsub(/`/, "\\(ga", text)
    return text ~ /^\./ ? "\\\\&" text : text
}
function line(text) { print escaped(text) }
# Sets how lines are: "text", "list", "code", or "" between paragraphs.
function become(what) {
    if (mode == what) return
    if (mode == "code") print ".fi\n.RE"
    if (what == "code") print ".PP\n.RS 2\n.nf"
    if (what == "text") print ".PP"
    mode = what
}
function section(title) {
    become("")
    print ".SH " toupper(escaped(title))
}
# A line of a comment, without what begins and ends it.
function comment(text) {
    sub(/ +$/, "", text)
    if (text ~ /^---- .* -+$/) {
        sub(/^---- /, "", text)
        sub(/ -+$/, "", text)
        section(text)
    } else if (text == "") {
        become("")
    } else if (text ~ /^[^ ].*[^ .,;:]   *[^ ]/ && match(text, /   */) && RSTART < 26 && RLENGTH > 1) {
        become("list")
        print ".TP"
        print ".B " escaped(substr(text, 1, RSTART - 1))
        line(substr(text, RSTART + RLENGTH))
    } else if (mode == "list" && text ~ /^      /) {
        sub(/^ +/, "", text)
        line(text)
    } else if (text ~ /^ /) {
        become("code")
        line(text)
    } else {
        become("text")
        line(text)
    }
}
BEGIN {
    print ".\\\" Made by tools/man3.awk of include/ufunc.h."
    print ".TH LIBUFUNC 3 \"\" \"libufunc " version "\" \"Library Functions\""
    print ".SH NAME\nlibufunc \\- write the scalar, call it on arrays"
    print ".SH SYNOPSIS\n.nf\n.B #include <ufunc.h>\n.PP\n.B cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs ufunc)\n.fi"
    print ".SH DESCRIPTION"
}
NR == 1 { inside = 1; next } # "/* ufunc.h - .."
!inside && /^\/\*/ {
    inside = 1
    sub(/^\/\* ?/, "")
    if ($0 ~ /clang-format/) { inside = 0; next }
    first = 1
}
inside {
    ends = /\*\//
    sub(/ *\*\/.*/, "")
    if (!first) sub(/^ \* ?/, "")
    first = 0
    comment($0)
    if (ends) { inside = 0; become("") }
    next
}
/^#define [A-Z_]+\(/ && !/_\(/ { # a macro as a declaration
    become("code")
    sub(/^#define /, "")
    sub(/\).*/, ")")
    line($0)
    skipping = 1
    next
}
/^#|^extern "C"|^}$|^$/ || skipping && /^ / {
    if ($0 !~ /\\$/) skipping = skipping && /^ /
    if ($0 == "") become("")
    next
}
{
    skipping = 0
    become("code")
    sub(/^UF_API /, "")
    sub(/ *\\$/, "") # the members that a macro gives several structs
    sub(/ UF_MAY_ALIAS_ /, " ")
    line($0)
}
END {
    become("")
    print ".SH SEE ALSO\n.BR ufunc (1)"
}
