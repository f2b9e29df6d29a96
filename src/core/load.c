/* load.c - files: from text to a registered function or a module. docs/function-files.md is the format's specification.
 *
 * A file is cut into entries, each a keyword and its value. These become a definition, which func_define registers, or the text of a
 * module.
 * What it finds wrong is an error about one text of the definition, and is restated as an error about the file: with
 * the file's path, line, column and text. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/core.h"

enum {
    FILE_MOST = 1 << 20, /* of a file, in bytes */
    SECTIONS_MOST = 256
};

/* ORDER key: the table of keywords. */
typedef enum key {
    KEY_UFUNC,
    KEY_GUFUNC,
    KEY_REDUCTION,
    KEY_FORALL,
    KEY_MODULE,
    KEY_LAYOUT,
    KEY_DOC,
    KEY_BLAS,
    KEY_FAST,
    KEY_UNCHECKED,
    KEY_DEBUG,
    KEY_LINES,
    KEY_MAX_REGISTERS,
    KEY_MAX_STEPS,
    KEY_MAX_EXTENT,
    KEY_SIGNATURES,
    KEY_PARAMETERS,
    KEY_KERNEL,
    KEY_IDENTITY,
    KEY_ORDER,
    KEY_WIDEN,
    KEY_STATE,
    KEY_MAP,
    KEY_COMBINE,
    KEY_FINISH,
    KEY_USE,
    KEY_TEXT,
    KEYS
} key;

/* What may stand behind a keyword. */
typedef enum form {
    FORM_NOTHING,
    FORM_WORD,   /* one word, up to a blank */
    FORM_TEXT,   /* lines */
    FORM_KERNEL, /* lines, with helpers among them */
    FORM_REST    /* all lines to the end of the file */
} form;

/* Which kinds of function an entry may belong to. */
enum {
    OF_UFUNC = 1,
    OF_GUFUNC = 2,
    OF_REDUCTION = 4,
    OF_FORALL = 8,
    OF_CALLED = OF_UFUNC | OF_GUFUNC,
    OF_FOLDING = OF_CALLED | OF_REDUCTION,
    OF_SIGNED = OF_CALLED | OF_REDUCTION,
    OF_KERNELS = OF_CALLED | OF_FORALL,
    OF_FUNCTION = 15,
    OF_MODULE = 16,
    OF_ALL = OF_FUNCTION | OF_MODULE
};

/* clang-format off */
static const struct {
    const char *word;
    form form;
    int of;
} keywords[KEYS] = {
    [KEY_UFUNC]         = {"ufunc", FORM_WORD, OF_ALL},
    [KEY_GUFUNC]        = {"gufunc", FORM_WORD, OF_ALL},
    [KEY_REDUCTION]     = {"reduction", FORM_WORD, OF_ALL},
    [KEY_FORALL]        = {"forall", FORM_WORD, OF_ALL},
    [KEY_MODULE]        = {"module", FORM_WORD, OF_ALL},
    [KEY_LAYOUT]        = {"layout", FORM_TEXT, OF_GUFUNC},
    [KEY_DOC]           = {"doc", FORM_TEXT, OF_ALL},
    [KEY_BLAS]          = {"blas", FORM_WORD, OF_CALLED},
    [KEY_FAST]          = {"fast", FORM_TEXT, OF_FUNCTION},
    [KEY_UNCHECKED]     = {"unchecked", FORM_NOTHING, OF_FUNCTION},
    [KEY_DEBUG]         = {"debug", FORM_NOTHING, OF_FUNCTION},
    [KEY_LINES]         = {"lines", FORM_NOTHING, OF_FUNCTION},
    [KEY_MAX_REGISTERS] = {"max_registers", FORM_WORD, OF_FUNCTION},
    [KEY_MAX_STEPS]     = {"max_steps", FORM_WORD, OF_FUNCTION},
    [KEY_MAX_EXTENT]    = {"max_extent", FORM_WORD, OF_GUFUNC},
    [KEY_SIGNATURES]    = {"signatures", FORM_TEXT, OF_SIGNED},
    [KEY_PARAMETERS]    = {"parameters", FORM_TEXT, OF_FORALL},
    [KEY_KERNEL]        = {"kernel", FORM_KERNEL, OF_KERNELS},
    [KEY_IDENTITY]      = {"identity", FORM_TEXT, OF_FOLDING},
    [KEY_ORDER]         = {"order", FORM_WORD, OF_FOLDING},
    [KEY_WIDEN]         = {"widen", FORM_NOTHING, OF_UFUNC},
    [KEY_STATE]         = {"state", FORM_TEXT, OF_REDUCTION},
    [KEY_MAP]           = {"map", FORM_KERNEL, OF_REDUCTION},
    [KEY_COMBINE]       = {"combine", FORM_KERNEL, OF_REDUCTION},
    [KEY_FINISH]        = {"finish", FORM_KERNEL, OF_REDUCTION},
    [KEY_USE]           = {"use", FORM_TEXT, OF_MODULE},
    [KEY_TEXT]          = {"text", FORM_REST, OF_MODULE},
};

/* The keywords that begin a file: they say what it has, and name it. */
static const int kinds[] = {[KEY_UFUNC] = OF_UFUNC,
                            [KEY_GUFUNC] = OF_GUFUNC,
                            [KEY_REDUCTION] = OF_REDUCTION,
                            [KEY_FORALL] = OF_FORALL,
                            [KEY_MODULE] = OF_MODULE};

/* Words that stand in column 1 at file scope of kernel C, before its kernel. */
static const char *const scope_words[] = {"use", "const", "struct", "operator", "exact", "extern"};

static const struct {
    const char *word;
    unsigned bits;
} fast_words[] = {
    {"contract", UF_FAST_CONTRACT}, {"divide", UF_FAST_DIVIDE}, {"flush", UF_FAST_FLUSH},
    {"tf32", UF_FAST_TF32},         {"all", UF_FAST_ALL},
};
/* clang-format on */

typedef struct entry {
    key key;
    size_t at, value_at; /* offsets of the keyword and of its value */
    char *value;         /* a copy, without the blanks around it */
} entry;

typedef struct loading {
    const char *path; /* as errors call the file */
    const text_origin *own;
    const char *source; /* its text as it is */
    char *plain;        /* the text with its comments blanked out, so that offsets stay the same */
    size_t length;
    arena arena;
    entry *entries;
    int nentries, nkernels;
    const entry *first[KEYS]; /* the first entry of each keyword; NULL: there is none */
    uf_definition definition;
    uf_reduction_def reduction;
    uf_section *sections;
    /* Of each section: the entry of its signatures (NULL: it has none), and that of its kernel. */
    const entry **places;
} loading;

/* ---- Errors at a place in the file ---- */

/* The end of a path, as far as an error message has room for it. */
static const char *path_shown(const char *path) {
    size_t n = strlen(path);
    return n > 1024 ? path + n - 1024 : path;
}

#define FAIL_AT(l, offset, ...) fail_file(UF_ERR_SYNTAX, (l)->path, (l)->source, offset, __VA_ARGS__)

size_t offset_of(const char *s, int line, int column) {
    size_t i = 0;
    for (; s[i] && line > 1; i++)
        line -= s[i] == '\n';
    for (; s[i] && column > 1; column--)
        do
            i++;
        while (((unsigned char)s[i] & 0xC0) == 0x80);
    return i;
}

/* The entry of the file that a place in a definition came from. */
static const entry *place_entry(const loading *l, const definition_place *place) {
    static const int keys[] = {[IN_LAYOUT] = KEY_LAYOUT,     [IN_BLAS] = KEY_BLAS,     [IN_MAP] = KEY_MAP,
                               [IN_COMBINE] = KEY_COMBINE,   [IN_FINISH] = KEY_FINISH, [IN_STATE] = KEY_STATE,
                               [IN_IDENTITY] = KEY_IDENTITY, [IN_ORDER] = KEY_ORDER,   [IN_WIDEN] = KEY_WIDEN};
    const entry *e = NULL;
    if (place->part == IN_SIGNATURES || place->part == IN_SOURCE)
        e = l->places[2 * place->section + (place->part == IN_SOURCE)];
    else if ((size_t)place->part < COUNT(keys) && keys[place->part])
        e = l->first[keys[place->part]];
    return e ? e : &l->entries[0];
}

char *message_bare(char *message, int line, int column) {
    char position[32];
    size_t n = (size_t)snprintf(position, sizeof position, "%d:%d: ", line, column);
    if (strncmp(message, position, n) == 0)
        message += n;
    size_t length = strlen(message);
    /* The message did not fit its buffer, so that its end is missing. */
    if (length == 0 || message[length - 1] != '^')
        return message;
    for (int lines = 0; lines < 2; lines++) {
        char *end = strrchr(message, '\n');
        if (end)
            *end = 0;
    }
    return message;
}

/* Restates the thread's error about a text of the file, which begins at an offset in it, as one about the file. There an argument
 * that is wrong is text that is wrong, so the status becomes that of a syntax error. */
static uf_status restate(const loading *l, uf_status status, const char *source, size_t at) {
    const uf_error *e = error_slot();
    char message[sizeof e->message], *bare = message;
    memcpy(message, e->message, sizeof message);
    if (e->line) {
        bare = message_bare(message, e->line, e->column);
        at += offset_of(source, e->line, e->column);
    }
    return fail_file(status == UF_ERR_ARGUMENT ? UF_ERR_SYNTAX : status, l->path, l->source, at, "%s", bare);
}

/* The same of an error about a definition, unless it is about another text, which one of this file uses. */
static uf_status fail_again(const loading *l, uf_status status, const definition_place *place) {
    const entry *from = place_entry(l, place);
    bool other = error_slot()->line && !text_is_own(l->definition.name, *place);
    return status == UF_ERR_MEMORY || other ? status : restate(l, status, from->value, from->value_at);
}

/* ---- Entries ---- */

/* How many characters of a word an error shows. */
static int shown(size_t length) { return (int)(length > 64 ? 64 : length); }

static int line_of(const loading *l, size_t at) {
    int line, column;
    source_position(l->source, at, &line, &column);
    return line;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }
static bool is_space(char c) { return is_blank(c) || c == '\n'; }

static size_t word_length(const char *s) {
    size_t n = 0;
    while (is_letter(s[n]) || (s[n] >= '0' && s[n] <= '9'))
        n++;
    return n;
}

static bool same(const char *word, const char *s, size_t n) { return strlen(word) == n && memcmp(word, s, n) == 0; }

static key keyword_find(const char *s, size_t n) {
    int k = 0;
    while (k < KEYS && !same(keywords[k].word, s, n))
        k++;
    return (key)k;
}

static bool is_scope_word(const char *s, size_t n) {
    for (size_t k = 0; k < COUNT(scope_words); k++)
        if (same(scope_words[k], s, n))
            return true;
    return false;
}

/* Does a line begin an entry? A line with a letter in column 1 does. Within a kernel it may also be a helper
 * function: a word followed by a parenthesis, unless that word is a keyword with a blank behind it. So "forall (" is
 * a statement there. What else stands at file scope of kernel C begins none either. */
static bool begins_entry(const char *line, bool in_kernel) {
    size_t n = word_length(line), next = n;
    if (!is_letter(line[0]))
        return false;
    if (in_kernel && is_scope_word(line, n))
        return false;
    while (is_blank(line[next]))
        next++;
    key k = keyword_find(line, n);
    bool keyword = next > n && k < KEYS && k != KEY_FORALL;
    return !in_kernel || keyword || line[next] != '(';
}

static uf_status unknown_keyword(const loading *l, size_t at, size_t n) {
    const char *word = l->plain + at;
    nearest_word near = nearest_begin(word, n);
    for (int k = 0; k < KEYS; k++)
        nearest_try_text(&near, keywords[k].word);
    if (near.best)
        return FAIL_AT(l, at, "unknown keyword \"%.*s\"; did you mean \"%s\"?", shown(n), word, near.best);
    return FAIL_AT(l, at, "unknown keyword \"%.*s\"; a line that goes on with an entry is indented", shown(n), word);
}

/* The end of the value that begins at `from`: the end of the last line before the next entry. */
static size_t value_end(const loading *l, size_t from, form wanted) {
    size_t end = from;
    bool kernel = wanted == FORM_KERNEL;
    if (wanted == FORM_REST)
        return l->length;
    for (;;) {
        while (end < l->length && l->plain[end] != '\n')
            end++;
        if (end == l->length || begins_entry(l->plain + end + 1, kernel))
            return end;
        end++;
    }
}

/* Reads the entry that begins at *at, and sets *at to the end of its value. */
static uf_status entry_read(loading *l, size_t *at, entry *e) {
    const char *word = l->plain + *at;
    size_t n = word_length(word), from = *at + n;
    *e = (entry){.key = keyword_find(word, n), .at = *at};
    if (e->key == KEYS)
        return unknown_keyword(l, *at, n);
    const char *name = keywords[e->key].word;
    if (from < l->length && !is_space(l->plain[from]))
        return FAIL_AT(l, from, "a blank is needed after \"%s\"", name);
    size_t end = *at = value_end(l, from, keywords[e->key].form);
    while (from < end && is_space(l->plain[from]))
        from++;
    while (end > from && is_space(l->plain[end - 1]))
        end--;
    form wanted = keywords[e->key].form;
    if (from < end && wanted == FORM_NOTHING)
        return FAIL_AT(l, from, "\"%s\" stands alone", name);
    if (from == end && wanted != FORM_NOTHING)
        return FAIL_AT(l, e->at, "\"%s\" needs a value", name);
    e->value_at = from == end ? e->at : from;
    e->value = arena_text(&l->arena, l->plain + from, end - from);
    if (!e->value)
        return fail_memory();
    size_t word_end = strcspn(e->value, " \t\r\n\f\v");
    if (wanted == FORM_WORD && e->value[word_end])
        return FAIL_AT(l, from + word_end + strspn(e->value + word_end, " \t\r\n\f\v"), "\"%s\" needs one word", name);
    return UF_OK;
}

/* The number of lines that could begin an entry: at least the number of entries. */
static size_t entries_most(const loading *l) {
    size_t n = 0;
    for (size_t i = 0; i < l->length; i++)
        n += (i == 0 || l->plain[i - 1] == '\n') && is_letter(l->plain[i]);
    return n;
}

static uf_status entries_read(loading *l) {
    static const char beginning[] =
        "a file begins with \"ufunc NAME\", \"gufunc NAME\", \"reduction NAME\", \"forall NAME\" or \"module NAME\"";
    size_t at = 0;
    while (at < l->length && is_space(l->plain[at]))
        at++;
    if (at == l->length)
        return FAIL_AT(l, 0, "nothing is here; %s", beginning);
    if (!is_letter(l->plain[at]) || (at > 0 && l->plain[at - 1] != '\n'))
        return FAIL_AT(l, at, "%s, in column 1", beginning);
    l->entries = arena_alloc(&l->arena, entries_most(l) * sizeof *l->entries);
    if (!l->entries)
        return fail_memory();
    for (; at < l->length; at++) {
        entry *e = &l->entries[l->nentries++];
        TRY(entry_read(l, &at, e));
        bool names = (size_t)e->key < COUNT(kinds);
        if (!names && l->nentries == 1)
            return FAIL_AT(l, e->at, "%s", beginning);
        if (names && l->nentries > 1)
            return FAIL_AT(l, e->at, "a second %s; a file has one function or module, which begins in line %d",
                           e->key == KEY_MODULE ? "module" : "function", line_of(l, l->entries[0].at));
        if (!(keywords[e->key].of & kinds[l->entries[0].key]))
            return FAIL_AT(l, e->at, "a %s has no \"%s\"", keywords[l->entries[0].key].word, keywords[e->key].word);
        const entry *first = l->first[e->key];
        if (first && e->key != KEY_SIGNATURES && e->key != KEY_PARAMETERS && e->key != KEY_KERNEL)
            return FAIL_AT(l, e->at, "a second \"%s\"; the first is in line %d", keywords[e->key].word,
                           line_of(l, first->at));
        if (!first)
            l->first[e->key] = e;
    }
    return UF_OK;
}

/* ---- What entries mean ---- */

/* Takes the indentation and the blanks at the ends off the lines of a doc. */
static void doc_trim(char *doc) {
    char *to = doc;
    for (const char *line = doc; *line;) {
        while (is_blank(*line))
            line++;
        size_t n = strcspn(line, "\n"), kept = n;
        while (kept > 0 && is_blank(line[kept - 1]))
            kept--;
        memmove(to, line, kept);
        to += kept;
        line += n;
        if (*line)
            *to++ = *line++;
    }
    *to = 0;
}

static uf_status fast_read(loading *l, const entry *e) {
    static const char blanks[] = " \t\r\n\f\v";
    for (const char *s = e->value; *s; s += strspn(s, blanks)) {
        size_t n = strcspn(s, blanks), k = 0;
        while (k < COUNT(fast_words) && !same(fast_words[k].word, s, n))
            k++;
        if (k == COUNT(fast_words))
            return FAIL_AT(l, e->value_at + (size_t)(s - e->value),
                           "fast is \"%.*s\"; known are: contract divide flush tf32 all", shown(n), s);
        l->definition.fast |= fast_words[k].bits;
        s += n;
    }
    return UF_OK;
}

static uf_status registers_read(loading *l, const entry *e) {
    int n = 0;
    const char *s = e->value;
    for (; *s >= '0' && *s <= '9' && n <= 255; s++)
        n = 10 * n + (*s - '0');
    if (*s || n < 16 || n > 255)
        return FAIL_AT(l, e->value_at, "max_registers is \"%.*s\"; a number from 16 to 255 is needed",
                       shown(strlen(e->value)), e->value);
    l->definition.max_registers = n;
    return UF_OK;
}

static uf_status count_read(loading *l, key k, int64_t *out) {
    const entry *e = l->first[k];
    int64_t n = 0;
    bool fits = true;
    for (const char *s = e ? e->value : ""; *s; s++)
        fits &=
            *s >= '0' && *s <= '9' && !__builtin_mul_overflow(n, 10, &n) && !__builtin_add_overflow(n, *s - '0', &n);
    if (e && (!fits || n < 1))
        return FAIL_AT(l, e->value_at, "%s is \"%.*s\"; a number from 1 to 2^63 - 1 is needed", keywords[k].word,
                       shown(strlen(e->value)), e->value);
    *out = n;
    return UF_OK;
}

static const char *value_of(const loading *l, key k) { return l->first[k] ? l->first[k]->value : NULL; }

static uf_status order_read(loading *l, const entry *e, unsigned *flags) {
    static const struct {
        const char *word;
        unsigned flag;
    } orders[] = {{"ordered", UF_ORDERED}, {"serial", UF_SERIAL}};
    for (size_t k = 0; k < COUNT(orders); k++)
        if (strcmp(orders[k].word, e->value) == 0) {
            *flags |= orders[k].flag;
            return UF_OK;
        }
    return FAIL_AT(l, e->value_at, "order is \"%.*s\"; known are: ordered serial", shown(strlen(e->value)), e->value);
}

/* Reads the texts of a reduction, and its only section. */
static uf_status reduction_read(loading *l) {
    for (const entry *e = l->entries; e < l->entries + l->nentries; e++)
        if (e->key == KEY_SIGNATURES && e != l->first[KEY_SIGNATURES])
            return FAIL_AT(l, e->at, "signatures again; those of a reduction are in line %d",
                           line_of(l, l->first[KEY_SIGNATURES]->at));
    if (!l->first[KEY_COMBINE])
        return FAIL_AT(l, l->entries[0].at, "there is no \"combine\"");
    l->reduction = (uf_reduction_def){.size = sizeof l->reduction,
                                      .map = value_of(l, KEY_MAP),
                                      .combine = value_of(l, KEY_COMBINE),
                                      .finish = value_of(l, KEY_FINISH),
                                      .state = value_of(l, KEY_STATE),
                                      .identity = value_of(l, KEY_IDENTITY)};
    l->definition.reduction = &l->reduction;
    l->definition.nsections = 1;
    l->sections[0] = (uf_section){.signatures = value_of(l, KEY_SIGNATURES)};
    l->places[0] = l->first[KEY_SIGNATURES];
    return l->first[KEY_ORDER] ? order_read(l, l->first[KEY_ORDER], &l->reduction.flags) : UF_OK;
}

static uf_status section_add(loading *l, const entry *signatures, const entry *kernel) {
    uf_definition *d = &l->definition;
    if (d->nsections == SECTIONS_MOST)
        return FAIL_AT(l, kernel->at, "more than %d kernels", (int)SECTIONS_MOST);
    if (!signatures && l->first[KEY_FORALL])
        return FAIL_AT(l, kernel->at, "a kernel without parameters before it");
    if (!signatures && (d->nsections || l->nkernels > 1))
        return FAIL_AT(l, kernel->at, "a kernel without signatures before it, which only a single one may lack");
    l->sections[d->nsections] =
        (uf_section){.signatures = signatures ? signatures->value : NULL, .source = kernel->value};
    l->places[2 * d->nsections] = signatures;
    l->places[2 * d->nsections + 1] = kernel;
    d->nsections++;
    return UF_OK;
}

/* Makes a section of each kernel, with the signatures or parameters that stand before it. */
static uf_status sections_read(loading *l) {
    const entry *open = NULL;
    for (const entry *e = l->entries; e < l->entries + l->nentries; e++)
        l->nkernels += e->key == KEY_KERNEL;
    for (const entry *e = l->entries; e < l->entries + l->nentries; e++) {
        if (e->key == KEY_KERNEL) {
            TRY(section_add(l, open, e));
            open = NULL;
        } else if (e->key == KEY_SIGNATURES || e->key == KEY_PARAMETERS) {
            if (open)
                return FAIL_AT(l, e->at, "%s again; those of line %d have no kernel yet", keywords[e->key].word,
                               line_of(l, open->at));
            open = e;
        }
    }
    if (open)
        return FAIL_AT(l, open->at, "%s without a kernel after them", keywords[open->key].word);
    if (!l->nkernels)
        return FAIL_AT(l, l->entries[0].at, "there is no \"kernel\"");
    return UF_OK;
}

static uf_status definition_read(loading *l) {
    const entry *const *first = l->first;
    l->definition = (uf_definition){.size = sizeof l->definition,
                                    .name = l->entries[0].value,
                                    .doc = value_of(l, KEY_DOC),
                                    .sections = l->sections,
                                    .flags = (first[KEY_UNCHECKED] ? UF_UNCHECKED : 0u) |
                                             (first[KEY_DEBUG] ? UF_DEBUG : 0u) | (first[KEY_LINES] ? UF_LINES : 0u) |
                                             (first[KEY_WIDEN] ? UF_WIDEN : 0u) | (first[KEY_FORALL] ? UF_KERNEL : 0u),
                                    .layout = value_of(l, KEY_LAYOUT),
                                    .blas = value_of(l, KEY_BLAS)};
    if (first[KEY_GUFUNC] && !first[KEY_LAYOUT])
        return FAIL_AT(l, l->entries[0].at, "a gufunc needs a \"layout\"");
    if (first[KEY_DOC])
        doc_trim(first[KEY_DOC]->value);
    if (first[KEY_FAST])
        TRY(fast_read(l, first[KEY_FAST]));
    if (first[KEY_MAX_REGISTERS])
        TRY(registers_read(l, first[KEY_MAX_REGISTERS]));
    TRY(count_read(l, KEY_MAX_STEPS, &l->definition.max_steps));
    TRY(count_read(l, KEY_MAX_EXTENT, &l->definition.max_extent));
    if (first[KEY_REDUCTION])
        return reduction_read(l);
    l->definition.identity = value_of(l, KEY_IDENTITY);
    if (first[KEY_ORDER])
        TRY(order_read(l, first[KEY_ORDER], &l->definition.flags));
    return sections_read(l);
}

/* ---- Modules ---- */

static uf_status use_check(const loading *l, const entry *e) {
    for (size_t i = 0; e->value[i]; i++)
        if (!is_letter(e->value[i]) && !(e->value[i] >= '0' && e->value[i] <= '9') && e->value[i] != ',' &&
            !is_space(e->value[i]))
            return FAIL_AT(l, e->value_at + i, "names with commas between them are needed");
    return UF_OK;
}

/* The source of a module: its text at the place where it stands in the file, so that positions are those of the file, and before it
 * blanks. An entry "use a, b" becomes a declaration of the text, which ends where the next entry begins. */
static uf_status module_source(loading *l, const entry *body, char **out) {
    const entry *use = l->first[KEY_USE];
    size_t use_end = use ? use->value_at + strlen(use->value) : 0;
    *out = arena_text(&l->arena, l->plain, body->value_at + strlen(body->value));
    if (!*out)
        return fail_memory();
    for (size_t i = 0; i < body->value_at; i++)
        if ((*out)[i] != '\n' && !(use && i >= use->at && i < use_end))
            (*out)[i] = ' ';
    if (use)
        (*out)[use[1].at] = ';';
    return UF_OK;
}

static uf_status module_load(loading *l, uf_module **out) {
    const entry *body = l->first[KEY_TEXT];
    char *source;
    if (!body)
        return FAIL_AT(l, l->entries[0].at, "there is no \"text\"");
    if (l->first[KEY_USE])
        TRY(use_check(l, l->first[KEY_USE]));
    if (l->first[KEY_DOC])
        doc_trim(l->first[KEY_DOC]->value);
    TRY(module_source(l, body, &source));
    uf_status s = module_make(out,
                              &(uf_module_definition){.size = sizeof(uf_module_definition),
                                                      .name = l->entries[0].value,
                                                      .doc = value_of(l, KEY_DOC),
                                                      .source = source},
                              l->own);
    bool other = error_slot()->line && strcmp(error_slot()->source, l->path) != 0;
    if (!s || s == UF_ERR_MEMORY || other)
        return s;
    return error_slot()->line ? restate(l, s, source, 0) : restate(l, s, "", l->entries[0].value_at);
}

/* ---- The text ---- */

/* The number of bytes of the UTF-8 character at s; 0 if there is no valid one. */
static size_t utf8_length(const unsigned char *s) {
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xC2 && s[0] < 0xE0 ? 2 : s[0] >= 0xE0 && s[0] < 0xF0 ? 3 : s[0] >= 0xF0 && s[0] < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool beyond = (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF4 && s[1] > 0x8F);
    return overlong || beyond ? 0 : n;
}

/* Checks that the source, whose `length` bytes are followed by a NUL, is text in UTF-8. */
static uf_status bytes_check(const loading *l) {
    for (size_t i = 0, n; i < l->length; i += n) {
        if (!l->source[i])
            return FAIL_AT(l, i, "a NUL byte; this is no text");
        n = utf8_length((const unsigned char *)l->source + i);
        if (n == 0)
            return fail(UF_ERR_SYNTAX, "%s: byte %zu, 0x%02x, is not UTF-8", path_shown(l->path), i + 1,
                        (unsigned char)l->source[i]);
    }
    return UF_OK;
}

/* Blanks out the lines that begin with '#'. */
static void comments_blank(char *s) {
    for (; *s; s += *s == '\n') {
        size_t n = strcspn(s, "\n");
        if (*s == '#')
            memset(s, ' ', n);
        s += n;
    }
}

static uf_status function_load(loading *l, uf_func **out) {
    definition_place place = {0};
    TRY(definition_read(l));
    uf_status s = func_define(out, &l->definition, l->own, &place);
    return s ? fail_again(l, s, &place) : UF_OK;
}

static uf_status text_load(loading *l, imported *out) {
    TRY(bytes_check(l));
    l->plain = arena_text(&l->arena, l->source, l->length);
    l->sections = arena_alloc(&l->arena, SECTIONS_MOST * sizeof *l->sections);
    l->places = arena_alloc(&l->arena, 2 * (size_t)SECTIONS_MOST * sizeof *l->places);
    if (!l->plain || !l->sections || !l->places)
        return fail_memory();
    comments_blank(l->plain);
    TRY(entries_read(l));
    return l->first[KEY_MODULE] ? module_load(l, &out->module) : function_load(l, &out->func);
}

uf_status source_load(imported *out, const char *title, const char *path, const char *source, size_t length,
                      const text_origin *from) {
    static const char mark[] = "\xEF\xBB\xBF"; /* a byte order mark */
    size_t skip = length >= 3 && memcmp(source, mark, 3) == 0 ? 3 : 0;
    imported *loaded = NULL;
    const text_origin own = {
        .title = title, .path = path, .from = from, .built_in = !path, .loaded = from ? from->loaded : &loaded};
    loading l = {.path = title, .own = &own, .source = source + skip, .length = length - skip};
    *out = (imported){0};
    uf_status s = text_load(&l, out);
    arena_free(&l.arena);
    imports_free(loaded);
    return s;
}

/* Takes the function of what was loaded. */
static uf_status func_take(uf_status status, const imported *x, const char *what, uf_func **out) {
    *out = status ? NULL : x->func;
    if (!status && x->module) {
        module_drop(x->module);
        return fail(UF_ERR_ARGUMENT, "%s is a module; uf_module_load reads those", path_shown(what));
    }
    return status;
}

/* ---- The file ---- */

static uf_status file_error(const char *path, int error) {
    char reason[128];
    return fail(UF_ERR_IO, "%s: %s", path_shown(path), strerror_r(error, reason, sizeof reason));
}

/* Reads to the end of a file, but at most FILE_MOST + 1 bytes, which is enough to see that it is too long. */
static uf_status descriptor_read(int file, const char *path, text *out) {
    char piece[8192];
    for (;;) {
        ssize_t n = read(file, piece, sizeof piece);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return file_error(path, errno);
        text_add(out, piece, (size_t)n);
        if (out->failed)
            return fail_memory();
        if (out->length > FILE_MOST)
            return fail(UF_ERR_IO, "%s: more than %d bytes, which is no function file", path_shown(path),
                        (int)FILE_MOST);
        if (n == 0)
            return UF_OK;
    }
}

/* Refuses everything but regular files: reading others may never end, or wait until somebody writes. */
static uf_status regular_check(int file, const char *path) {
    static const struct {
        mode_t type;
        const char *name;
    } others[] = {
        {S_IFIFO, "a FIFO"}, {S_IFCHR, "a character device"}, {S_IFBLK, "a block device"}, {S_IFSOCK, "a socket"}};
    struct stat about;
    if (fstat(file, &about))
        return file_error(path, errno);
    if (S_ISREG(about.st_mode))
        return UF_OK;
    if (S_ISDIR(about.st_mode))
        return file_error(path, EISDIR);
    const char *name = "of a type unknown here";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if ((about.st_mode & S_IFMT) == others[i].type)
            name = others[i].name;
    return fail(UF_ERR_IO, "%s: is %s; a regular file is needed", path_shown(path), name);
}

uf_status path_load(imported *out, const char *path, const text_origin *from) {
    *out = (imported){0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); /* so that opening a FIFO does not wait */
    if (file < 0)
        return file_error(path, errno);
    text content = {0};
    uf_status s = regular_check(file, path);
    if (!s)
        s = descriptor_read(file, path, &content);
    close(file);
    if (!s)
        s = source_load(out, path, path, content.data, content.length, from);
    text_free(&content);
    return s;
}

bool is_path(const char *what) {
    size_t n = strlen(what);
    return strchr(what, '/') || (n >= 3 && strcmp(what + n - 3, ".uf") == 0);
}

uf_status uf_load(uf_func **out, const char *what) {
    if (!out)
        return fail(UF_ERR_ARGUMENT, "out is NULL");
    *out = NULL;
    if (!what)
        return fail(UF_ERR_ARGUMENT, "what is NULL; a path or a name of the catalogue is needed");
    if (!is_path(what))
        return catalogue_load(out, what);
    imported x;
    uf_status s = path_load(&x, what, NULL);
    return func_take(s, &x, what, out);
}
