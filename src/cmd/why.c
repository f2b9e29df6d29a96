/* why.c - texts that say why a file could not be read or written. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

bool refuse(char why[WHY_SIZE], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, WHY_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

bool refuse_by_errno(char why[WHY_SIZE]) { return refuse(why, "%s", strerror(errno)); }
