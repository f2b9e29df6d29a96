/* token.h - words, "->" and single characters: what the texts of signatures and of parameter lists are made of. */
#ifndef UF_TYPE_TOKEN_H
#define UF_TYPE_TOKEN_H

#include "type/type.h"

typedef struct scanner {
    const char *text;
    size_t at;
} scanner;

/* Pass over blanks (and separators); what stands there. */
const char *token_next(scanner *s);
const char *token_next_entry(scanner *s);
size_t token_word(const char *word); /* its length; 0: none begins here */
bool token_take(scanner *s, const char *token);
/* An entry ends here. */
uf_status token_expect_end(scanner *s);
/* Entries that a well-formed list has: its stretches between separators that are not blank. */
size_t token_count_entries(const char *source);

/* ---- Errors ---- */

enum {
    TOKEN_QUOTED = 48 /* bytes of a user's text that a message repeats */
};

/* The entry that starts at `source` as it was written. */
void token_quote_entry(char out[TOKEN_QUOTED], const char *source);
uf_status token_expected(scanner *s, const char *what);
uf_status token_unknown_dtype(scanner *s, const char *word, size_t length);
/* The entry at `start` means what the one at `earlier` in the text does. */
uf_status token_repeated(const char *source, size_t start, const char *earlier, const char *what, const char *meaning);

#endif
