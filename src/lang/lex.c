/* lex.c - makes tokens from source text, one at a time. Each byte is looked at a limited number of times. Numbers are
 * read in the C locale, whatever the program's is. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "lang/syntax.h"

_Noreturn void lex_fail(const lexer *l, size_t at, const char *format, ...) {
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    longjmp(*l->escape, fail_kernel(UF_ERR_SYNTAX, l->source, at, "%s", message));
}

/* ---- Words ---- */

typedef struct keyword {
    const char *text;
    uint8_t kind;
} keyword;

/* clang-format off */
static const keyword keywords[] = {
    {"auto", T_AUTO}, {"typeof", T_TYPEOF}, {"const", T_CONST},
    {"_Generic", T_GENERIC}, {"if", T_IF}, {"else", T_ELSE}, {"for", T_FOR},
    {"while", T_WHILE}, {"do", T_DO}, {"switch", T_SWITCH}, {"case", T_CASE},
    {"default", T_DEFAULT}, {"break", T_BREAK}, {"continue", T_CONTINUE}, {"return", T_RETURN},

    {"goto", T_FOREIGN}, {"sizeof", T_FOREIGN}, {"struct", T_STRUCT}, {"union", T_FOREIGN},
    {"enum", T_FOREIGN}, {"typedef", T_FOREIGN}, {"static", T_FOREIGN}, {"extern", T_FOREIGN},
    {"register", T_FOREIGN}, {"volatile", T_FOREIGN}, {"restrict", T_FOREIGN},
    {"inline", T_FOREIGN}, {"void", T_FOREIGN}, {"_Alignas", T_FOREIGN}, {"_Alignof", T_FOREIGN},
    {"_Atomic", T_FOREIGN}, {"_Imaginary", T_FOREIGN}, {"_Noreturn", T_FOREIGN},
    {"_Static_assert", T_FOREIGN}, {"_Thread_local", T_FOREIGN},
};
/* clang-format on */

const char *lex_keyword(int i) {
    int n = 0;
    for (size_t k = 0; k < COUNT(keywords); k++)
        if (keywords[k].kind != T_FOREIGN && keywords[k].text[0] != '_' && n++ == i)
            return keywords[k].text;
    return NULL;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_word(char c) { return is_word_start(c) || is_digit(c); }

static int digit_value(char c) {
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static void names_grow(lexer *l) {
    int size = l->names_size ? 2 * l->names_size : 64;
    name *names = arena_alloc(l->a, (size_t)size * sizeof *names);
    if (l->nnames)
        memcpy(names, l->names, (size_t)l->nnames * sizeof *names);
    l->names = names;
    l->names_size = size;
    l->slots = arena_alloc(l->a, 2 * (size_t)size * sizeof *l->slots);
    memset(l->slots, 0xFF, 2 * (size_t)size * sizeof *l->slots);
    for (int i = 0; i < l->nnames; i++) {
        uint64_t slot = hash_bytes(names[i].text, (size_t)names[i].length);
        while (l->slots[slot & (2 * (uint64_t)size - 1)] >= 0)
            slot++;
        l->slots[slot & (2 * (uint64_t)size - 1)] = i;
    }
}

int lex_intern(lexer *l, const char *word, size_t length) {
    if (l->nnames == l->names_size)
        names_grow(l);
    uint64_t mask = 2 * (uint64_t)l->names_size - 1, slot = hash_bytes(word, length);
    for (; l->slots[slot & mask] >= 0; slot++) {
        const name *n = &l->names[l->slots[slot & mask]];
        if ((size_t)n->length == length && memcmp(n->text, word, length) == 0)
            return l->slots[slot & mask];
    }
    l->names[l->nnames] = (name){.text = word, .length = (int)length};
    return l->slots[slot & mask] = l->nnames++;
}

static void lex_word(lexer *l, token *t) {
    const char *s = l->source + t->at;
    size_t length = 1;
    while (is_word(s[length]))
        length++;
    t->length = length;
    if (length > LANG_MAX_NAME)
        lex_fail(l, t->at, "a name has more than %d characters", LANG_MAX_NAME);
    for (size_t i = 0; i < COUNT(keywords); i++)
        if (keywords[i].text[0] == s[0] && strlen(keywords[i].text) == length &&
            memcmp(keywords[i].text, s, length) == 0) {
            t->kind = keywords[i].kind;
            return;
        }
    t->word = type_word_find(s, length);
    if (t->word) {
        t->kind = T_TYPE_WORD;
        return;
    }
    dtype type = dtype_of_name(s, length);
    type = type == DT_NONE ? dtype_of_c_name(s, length) : type;
    if (type != DT_NONE) {
        t->kind = T_DTYPE;
        t->type = (uint8_t)type;
        return;
    }
    t->kind = T_NAME;
    t->name = lex_intern(l, s, length);
}

/* ---- Numbers ---- */

typedef enum number_suffix {
    SUFFIX_NONE = 0,
    SUFFIX_U = 1,
    SUFFIX_L = 2
} number_suffix;

/* suffix := ["u"] ["l" | "ll"], in either order and either case. -1: the text is something else. */
static int integer_suffix(const char *s, size_t length) {
    int suffix = 0;
    size_t i = 0;
    for (int part = 0; part < 2 && i < length; part++) {
        if ((s[i] | 0x20) == 'u' && !(suffix & SUFFIX_U)) {
            suffix |= SUFFIX_U;
            i++;
        } else if ((s[i] | 0x20) == 'l' && !(suffix & SUFFIX_L)) {
            suffix |= SUFFIX_L;
            i += i + 1 < length && s[i + 1] == s[i] ? 2 : 1;
        }
    }
    return i == length ? suffix : -1;
}

/* C's rule: the integer has the first type of a list that holds its value. It is weak if it has no suffix. */
static void integer_type(const lexer *l, token *t, uint64_t value, int suffix, bool decimal) {
    bool may_be_unsigned = (suffix & SUFFIX_U) || !decimal, may_be_signed = !(suffix & SUFFIX_U);
    if (may_be_signed && !(suffix & SUFFIX_L) && value <= INT32_MAX)
        t->type = DT_INT32;
    else if (may_be_unsigned && !(suffix & SUFFIX_L) && value <= UINT32_MAX)
        t->type = DT_UINT32;
    else if (may_be_signed && value <= INT64_MAX)
        t->type = DT_INT64;
    else if (may_be_unsigned)
        t->type = DT_UINT64;
    else
        lex_fail(l, t->at, "the integer does not fit int64; write 0x.. or a 'u' suffix for uint64");
    t->value = (number){.type = t->type, .as.u = value};
    t->weak = suffix == SUFFIX_NONE;
}

static void lex_integer(lexer *l, token *t, size_t first, size_t end, size_t base, const char *base_name) {
    const char *s = l->source;
    uint64_t value = 0;
    size_t i = first;
    for (; i < end && (size_t)digit_value(s[i]) < base; i++) {
        uint64_t digit = (uint64_t)digit_value(s[i]);
        if (value > (UINT64_MAX - digit) / base)
            lex_fail(l, t->at, "the integer does not fit 64 bits");
        value = value * base + digit;
    }
    if (i == first && base != 8)
        lex_fail(l, i, "expected a digit of a %s number", base_name);
    if (i < end && is_digit(s[i]))
        lex_fail(l, i, "'%c' is not a digit of %s", s[i],
                 base == 8 ? "an octal number, as a 0 in front makes it" : "a binary number");
    int suffix = integer_suffix(s + i, end - i);
    if (suffix < 0)
        lex_fail(l, i, "'%.*s' is not a suffix of an integer; there are u, l, ll, ul, ull",
                 (int)(end - i < 20 ? end - i : 20), s + i);
    integer_type(l, t, value, suffix, base == 10);
}

/* The end of digits ["." digits] [exponent] from i on; the exponent begins with e (decimal) or p (hexadecimal, which
 * must have one). */
static size_t floating_end(const lexer *l, size_t i, bool hex) {
    const char *s = l->source;
    bool digits = false;
    for (; hex ? digit_value(s[i]) < 16 : is_digit(s[i]); i++)
        digits = true;
    if (s[i] == '.')
        for (i++; hex ? digit_value(s[i]) < 16 : is_digit(s[i]); i++)
            digits = true;
    if (!digits)
        lex_fail(l, i, "expected a digit");
    if ((s[i] | 0x20) == (hex ? 'p' : 'e')) {
        i++;
        if (s[i] == '+' || s[i] == '-')
            i++;
        if (!is_digit(s[i]))
            lex_fail(l, i, "expected the digits of an exponent");
        while (is_digit(s[i]))
            i++;
    } else if (hex) {
        lex_fail(l, i, "a hexadecimal floating number needs an exponent, as in 0x1.8p3");
    }
    return i;
}

static void lex_floating(lexer *l, token *t, size_t first, size_t end, bool hex) {
    const char *s = l->source;
    size_t stop = floating_end(l, first, hex), suffix = end > stop ? end - stop : 0;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale)
        longjmp(*l->escape, fail_memory());
    double value = strtod_l(s + t->at, NULL, c_locale);
    t->single = strtof_l(s + t->at, NULL, c_locale);
    freelocale(c_locale);
    bool is_float = suffix == 1 && (s[stop] | 0x20) == 'f';
    if (suffix && !is_float)
        lex_fail(l, stop, "'%.*s' is not a suffix of a floating number; there is f, and long double does not exist",
                 (int)(suffix < 20 ? suffix : 20), s + stop);
    if (is_float)
        value = (double)t->single;
    if (value > 1.7976931348623157e308)
        lex_fail(l, t->at, "the number does not fit %s; write INFINITY for infinity", is_float ? "float32" : "float64");
    t->type = is_float ? DT_FLOAT32 : DT_FLOAT64;
    t->weak = !is_float;
    t->value = (number){.type = t->type, .as.f[0] = value};
}

static void lex_number(lexer *l, token *t) {
    const char *s = l->source;
    size_t end = t->at;
    bool hex = s[end] == '0' && (s[end + 1] | 0x20) == 'x', binary = s[end] == '0' && (s[end + 1] | 0x20) == 'b';
    bool floating = false;
    while (is_word(s[end]) || s[end] == '.' ||
           ((s[end] == '+' || s[end] == '-') && (s[end - 1] | 0x20) == (hex ? 'p' : 'e') && end > t->at)) {
        floating |= s[end] == '.' || (!binary && (s[end] | 0x20) == (hex ? 'p' : 'e'));
        end++;
    }
    t->kind = T_NUMBER;
    t->length = end - t->at;
    if (floating)
        lex_floating(l, t, t->at + (hex ? 2 : 0), end, hex);
    else if (hex)
        lex_integer(l, t, t->at + 2, end, 16, "hexadecimal");
    else if (binary)
        lex_integer(l, t, t->at + 2, end, 2, "binary");
    else if (s[t->at] == '0')
        lex_integer(l, t, t->at + 1, end, 8, "octal");
    else
        lex_integer(l, t, t->at, end, 10, "decimal");
}

/* ---- Punctuation ---- */

typedef struct punctuator {
    const char *text;
    uint8_t kind, op;
} punctuator;

/* A punctuator stands before any other that it begins with. */
/* clang-format off */
static const punctuator punctuators[] = {
    {"<<=", T_COMPOUND, OP_SHL}, {">>=", T_COMPOUND, OP_SHR},
    {"++", T_UPDATE, OP_ADD}, {"--", T_UPDATE, OP_SUB}, {"->", T_ARROW, 0}, {"&&", T_AND, 0}, {"||", T_OR, 0},
    {"+=", T_COMPOUND, OP_ADD}, {"-=", T_COMPOUND, OP_SUB}, {"*=", T_COMPOUND, OP_MUL}, {"/=", T_COMPOUND, OP_DIV},
    {"%=", T_COMPOUND, OP_REM}, {"&=", T_COMPOUND, OP_AND}, {"|=", T_COMPOUND, OP_OR}, {"^=", T_COMPOUND, OP_XOR},
    {"<<", T_OPERATOR, OP_SHL}, {">>", T_OPERATOR, OP_SHR}, {"<=", T_OPERATOR, OP_LE}, {">=", T_OPERATOR, OP_GE},
    {"==", T_OPERATOR, OP_EQ}, {"!=", T_OPERATOR, OP_NE},
    {"*", T_OPERATOR, OP_MUL}, {"/", T_OPERATOR, OP_DIV}, {"%", T_OPERATOR, OP_REM}, {"+", T_OPERATOR, OP_ADD},
    {"-", T_OPERATOR, OP_SUB}, {"<", T_OPERATOR, OP_LT}, {">", T_OPERATOR, OP_GT}, {"&", T_OPERATOR, OP_AND},
    {"^", T_OPERATOR, OP_XOR}, {"|", T_OPERATOR, OP_OR}, {"~", T_OPERATOR, OP_NOT}, {"!", T_OPERATOR, OP_LNOT},
    {"=", T_ASSIGN, 0}, {"?", T_QUESTION, 0}, {":", T_COLON, 0}, {";", T_SEMICOLON, 0}, {",", T_COMMA, 0},
    {"(", T_OPEN, 0}, {")", T_CLOSE, 0}, {"[", T_OPEN_INDEX, 0}, {"]", T_CLOSE_INDEX, 0}, {"{", T_OPEN_BLOCK, 0},
    {"}", T_CLOSE_BLOCK, 0}, {".", T_DOT, 0},
};
/* clang-format on */

/* What to write in place of a character that is none of kernel C's, "" if that cannot be told. */
static const char *character_advice(const char *at) {
    static const char *const rows[][2] = {
        {"\xC3\x97", "; a product is written x * y"},
        {"\xC2\xB7", "; a product is written x * y"},
        {"\xC3\xB7", "; a quotient is written x / y"},
        {"\xE2\x88\x92", "; a minus is written -"},
        {"\xE2\x80\x93", "; a minus is written -"},
        {"\xE2\x89\xA4", "; write <="},
        {"\xE2\x89\xA5", "; write >="},
        {"\xE2\x89\xA0", "; write !="},
        {"\xC2\xB2", "; a square is written x * x"},
        {"\xE2\x88\x9A", "; a root is written sqrt(x)"},
        {"\xCF\x80", "; the number is M_PI"},
        {"\xE2\x88\x9E", "; the number is INFINITY"},
        {"\xC2\xA0", " (a blank that does not break, U+00A0)"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        if (strncmp(at, rows[i][0], strlen(rows[i][0])) == 0)
            return rows[i][1];
    return "";
}

/* What to do without a directive. */
static const char *directive_advice(const char *directive) {
    return strncmp(directive, "#include", 8) == 0 ? "; built-in functions need no header"
           : strncmp(directive, "#line", 5) == 0  ? ", but for one `#line 12 \"program.c\"` at the head of a text; "
                                                    "UF_SOURCE writes it, so a text has one UF_SOURCE"
                                                  : "";
}

_Noreturn static void fail_character(const lexer *l, size_t at) {
    unsigned char c = (unsigned char)l->source[at];
    int length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
    for (int i = 1; i < length; i++)
        if (((unsigned char)l->source[at + (size_t)i] & 0xC0) != 0x80)
            length = 0;
    if (c == '#')
        lex_fail(l, at, "there is no preprocessor in kernel C%s", directive_advice(l->source + at));
    if (c == '"' || c == '\'')
        lex_fail(l, at, "there are no %s in kernel C", c == '"' ? "strings" : "character constants");
    if (c < 0x20 || c == 0x7F || (c >= 0x80 && (length <= 1 || c >= 0xF8)))
        lex_fail(l, at, "unexpected byte 0x%02x", c);
    lex_fail(l, at, "unexpected character '%.*s'%s", length, l->source + at, character_advice(l->source + at));
}

static void lex_punctuator(lexer *l, token *t) {
    const char *s = l->source + t->at;
    for (size_t i = 0; i < COUNT(punctuators); i++) {
        const punctuator *p = &punctuators[i];
        size_t length = strlen(p->text);
        if (s[0] == p->text[0] && strncmp(s, p->text, length) == 0) {
            t->kind = p->kind;
            t->op = p->op;
            t->length = length;
            return;
        }
    }
    fail_character(l, t->at);
}

/* ---- Blanks and comments ---- */

static void skip_comment(lexer *l) {
    const char *s = l->source;
    size_t start = l->at;
    l->at += 2;
    if (s[start + 1] == '/') {
        while (s[l->at] && s[l->at] != '\n')
            l->at++;
        return;
    }
    for (; !(s[l->at] == '*' && s[l->at + 1] == '/'); l->at++) {
        if (!s[l->at])
            lex_fail(l, start, "the comment has no end");
        l->line += s[l->at] == '\n';
    }
    l->at += 2;
}

static void skip_blanks(lexer *l) {
    const char *s = l->source;
    for (;;) {
        char c = s[l->at];
        if (c == '/' && (s[l->at + 1] == '/' || s[l->at + 1] == '*')) {
            skip_comment(l);
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
            l->line += c == '\n';
            l->at++;
        } else {
            return;
        }
    }
}

void lex_begin(lexer *l, arena *a, const char *source, jmp_buf *escape) {
    *l = (lexer){.a = a, .source = source, .line = 1, .escape = escape};
    const text_head head = text_head_read(source);
    if (head.length) {
        l->at = head.length;
        l->line = head.line;
    } else if (strncmp(source, "\xEF\xBB\xBF", 3) == 0) { /* a byte order mark */
        l->at = 3;
    }
}

token lex_next(lexer *l) {
    skip_blanks(l);
    token t = {.at = l->at, .line = l->line, .name = NO_NAME};
    char c = l->source[l->at];
    if (!c)
        return t;
    if (is_word_start(c))
        lex_word(l, &t);
    else if (is_digit(c) || (c == '.' && is_digit(l->source[l->at + 1])))
        lex_number(l, &t);
    else
        lex_punctuator(l, &t);
    l->at += t.length;
    return t;
}
