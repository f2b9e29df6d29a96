/* token.h - the tokens that signatures and parameter lists are made of: words, "->" and single characters. */
#ifndef UF_TYPE_TOKEN_H
#define UF_TYPE_TOKEN_H

#include "type/type.h"

typedef struct scanner {
    const char *text;
    size_t at;
    const record_lookup *records; /* NULL: none can be named */
} scanner;

/* Both pass over blanks, the second one over separators too, and return the text from there on. */
const char *token_next(scanner *s);
const char *token_next_entry(scanner *s);
size_t token_word(const char *word); /* length of the word that begins here; 0: none does */
bool token_take(scanner *s, const char *token);
/* What an operand is: a dtype; or a record, and DT_NONE. */
typedef struct token_type {
    dtype type;
    const struct record *record;
} token_type;

/* Reads the name of a record, if records can be named and one begins at s. *out is NULL if none does. */
uf_status token_record(scanner *s, const struct record **out);
/* Reads the name of a dtype, as the library, C, NumPy or Numba has it, or that of a record. Errors: SYNTAX, MEMORY. */
uf_status token_type_read(scanner *s, token_type *out);
/* An error unless an entry ends here. */
uf_status token_expect_end(scanner *s);
/* How many entries a well-formed list has: its stretches between separators that are not blank. */
size_t token_count_entries(const char *source);

/* ---- Errors ---- */

enum {
    TOKEN_QUOTED = 48 /* bytes of a user's text that a message repeats */
};

/* The entry that starts at `source`, in quotation marks as it was written, with ".." where it was cut. */
void token_quote_entry(char out[TOKEN_QUOTED], const char *source);
uf_status token_expected(scanner *s, const char *what);
/* Notes the entry at `start`, of which `one` is a list, in `seen`: from the canonical spelling of an entry to where it starts in the
 * text. An error if another one means the same; `what` is what errors call an entry. */
uf_status token_note(const char *source, size_t start, const char *what, const signature_list *one, map *seen);

#endif
