/* version.c - the version of the library that is running, which may be another one than the header's that a program was
 * built with. */
#include "base/base.h"

#define SPELL(x) #x
#define DOTTED(a, b, c) SPELL(a) "." SPELL(b) "." SPELL(c)

const char *uf_version(void) { return DOTTED(UF_VERSION_MAJOR, UF_VERSION_MINOR, UF_VERSION_PATCH); }
