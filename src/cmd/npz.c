/* npz.c - reads an array of a .npz file, which is a zip archive of .npy files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cmd.h"

/* Is that the member's name, with or without ".npy"? */
static bool is_named(const zip_member *m, const char *name) {
    size_t length = strlen(name);
    bool begins = m->name_length >= length && memcmp(m->name, name, length) == 0;
    return begins &&
           (m->name_length == length || (m->name_length == length + 4 && !memcmp(m->name + length, ".npy", 4)));
}

/* The length of a member's name without ".npy". */
static int bare_length(const zip_member *m) {
    bool suffix = m->name_length > 4 && !memcmp(m->name + m->name_length - 4, ".npy", 4);
    return (int)(m->name_length - (suffix ? 4 : 0));
}

/* Finds a member by its name, or the only one. `why` lists the members if it is another one that is needed. */
static bool find(zip_walk z, const char *name, zip_member *out, char *why) {
    zip_member m;
    int n = 0, used, status;
    char names[WHY_SIZE - 80];
    used = snprintf(names, sizeof names, "it has");
    while ((status = zip_next(&z, &m, why)) > 0) {
        if (name && is_named(&m, name)) {
            *out = m;
            return true;
        }
        if (!n++)
            *out = m;
        if (used + m.name_length + 8 < sizeof names)
            used += snprintf(names + used, sizeof names - (size_t)used, "%s %.*s", n > 1 ? "," : "", bare_length(&m),
                             m.name);
        else if (names[used - 1] != '.')
            used += snprintf(names + used, sizeof names - (size_t)used, " ..");
    }
    if (status < 0)
        return false;
    if (n == 1 && !name)
        return true;
    return refuse(why, "%s; %s",
                  name ? "has no such array"
                  : n  ? "has several arrays; :NAME chooses one"
                       : "has no array",
                  n ? names : "it is empty");
}

/* Makes the array of the bytes of a .npy file that are in out->map or out->memory. */
static bool take_file(npy *out, const unsigned char *file, size_t size, bool bfloat16, char *why) {
    npy_header h;
    if (!npy_parse(file, size, &h, why))
        return false;
    if (size - h.offset != h.size) {
        return refuse(why, "its member has %zu bytes of data; the member's header promises %zu", size - h.offset,
                      h.size);
    }
    return npy_known(&h, bfloat16, why) && npy_take(out, &h, file + h.offset, why);
}

/* Unpacks a deflated member, whose memory then takes the place of the archive's. */
static bool unpack(npy *out, const zip_member *m, char *why) {
    unsigned char *file = zip_unpack(m, why);
    if (!file)
        return false;
    bool good = zip_intact(m, file, why);
    npy_close(out);
    out->memory = file;
    return good;
}

static bool read_member(npy *out, const unsigned char *bytes, size_t length, const char *name, bool bfloat16,
                        char *why) {
    zip_walk z;
    zip_member m;
    if (!zip_open(&z, bytes, length, why) || !find(z, name, &m, why))
        return false;
    if (m.method ? !unpack(out, &m, why) : !zip_intact(&m, m.data, why))
        return false;
    return take_file(out, m.method ? out->memory : m.data, m.size, bfloat16, why);
}

bool npz_read(npy *out, const char *path, const char *member, bool bfloat16, char why[WHY_SIZE]) {
    const unsigned char *bytes;
    size_t length;
    bool good = npy_bytes(out, path, &bytes, &length, why) && read_member(out, bytes, length, member, bfloat16, why);
    if (!good)
        npy_close(out);
    return good;
}
