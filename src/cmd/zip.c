/* zip.c - the directory of a zip archive in memory, and its deflated members. The archive is a stranger's: every offset and size in
 * it is checked against its length, and a member whose size deflate cannot reach is refused before memory is taken for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "cmd.h"

enum {
    END_SIZE = 22,      /* bytes of the record at the end of an archive, without its comment */
    LOCATOR_SIZE = 20,  /* what says where the wide record at the end is */
    WIDE_END_SIZE = 56, /* that record */
    ENTRY_SIZE = 46,    /* an entry of the directory, without name, extra fields and comment */
    LOCAL_SIZE = 30,    /* what stands before the data of a member, without name and extra fields */
    LONGEST_COMMENT = 65535,
    RATIO = 1032 /* deflate makes at most so many bytes of one */
};

/* What zip_next returns of an archive that is damaged in this way. */
static int damaged(char *why, const char *how) {
    refuse(why, "is a damaged zip archive: %s", how);
    return -1;
}

/* A little-endian number of some bytes. */
static uint64_t number_at(const unsigned char *at, int bytes) {
    uint64_t value = 0;
    for (int i = bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static bool is_signature(const unsigned char *at, char third, char fourth) {
    return at[0] == 'P' && at[1] == 'K' && at[2] == (unsigned char)third && at[3] == (unsigned char)fourth;
}

/* The record at the end, which a comment of at most 65535 bytes may follow. NULL: there is none. */
static const unsigned char *find_end(const unsigned char *bytes, size_t length) {
    for (size_t comment = 0; comment <= LONGEST_COMMENT && comment + END_SIZE <= length; comment++) {
        const unsigned char *at = bytes + length - END_SIZE - comment;
        if (is_signature(at, 5, 6) && number_at(at + 20, 2) == comment)
            return at;
    }
    return NULL;
}

/* Reads the wide form of the record at the end, if there is one. */
static bool read_wide_end(const zip_walk *z, const unsigned char *end, uint64_t *count, uint64_t *size,
                          uint64_t *offset) {
    const unsigned char *locator = end - LOCATOR_SIZE;
    if ((size_t)(end - z->bytes) < LOCATOR_SIZE || !is_signature(locator, 6, 7))
        return true;
    uint64_t at = number_at(locator + 8, 8);
    if (z->length < WIDE_END_SIZE || at > z->length - WIDE_END_SIZE || !is_signature(z->bytes + at, 6, 6))
        return false;
    *count = number_at(z->bytes + at + 32, 8);
    *size = number_at(z->bytes + at + 40, 8);
    *offset = number_at(z->bytes + at + 48, 8);
    return true;
}

bool zip_open(zip_walk *out, const unsigned char *bytes, size_t length, char why[WHY_SIZE]) {
    const unsigned char *end = length < END_SIZE ? NULL : find_end(bytes, length);
    *out = (zip_walk){.bytes = bytes, .length = length};
    if (!end)
        return refuse(why, "is no zip archive, or its end is missing");
    uint64_t count = number_at(end + 10, 2), size = number_at(end + 12, 4), offset = number_at(end + 16, 4);
    if (!read_wide_end(out, end, &count, &size, &offset))
        return refuse(why, "is a damaged zip archive: its end names no place in it");
    if (offset > length || size > length - offset)
        return refuse(why, "is a damaged zip archive: its directory of %llu bytes at byte %llu is not in it",
                      (unsigned long long)size, (unsigned long long)offset);
    out->at = bytes + offset;
    out->end = out->at + size;
    out->left = count;
    return true;
}

/* Takes sizes and offset that do not fit 32 bits from the extra fields of an entry. */
static bool read_wide_sizes(const unsigned char *extra, size_t length, uint64_t *values[3]) {
    for (size_t size; length >= 4; extra += 4 + size, length -= 4 + size) {
        size = number_at(extra + 2, 2);
        if (size > length - 4)
            return false;
        if (number_at(extra, 2) != 1)
            continue;
        size_t at = 0;
        for (int i = 0; i < 3; i++)
            if (*values[i] == UINT32_MAX) {
                if (at + 8 > size)
                    return false;
                *values[i] = number_at(extra + 4 + at, 8);
                at += 8;
            }
        return true;
    }
    return *values[0] != UINT32_MAX && *values[1] != UINT32_MAX && *values[2] != UINT32_MAX;
}

/* Finds the data of a member behind its local header. */
static bool find_data(const zip_walk *z, uint64_t offset, zip_member *m) {
    if (z->length < LOCAL_SIZE || offset > z->length - LOCAL_SIZE || !is_signature(z->bytes + offset, 3, 4))
        return false;
    const unsigned char *local = z->bytes + offset;
    uint64_t begin = offset + LOCAL_SIZE + number_at(local + 26, 2) + number_at(local + 28, 2);
    if (begin > z->length || m->packed > z->length - begin)
        return false;
    m->data = z->bytes + begin;
    return true;
}

static bool check_member(const zip_member *m, unsigned flags, char *why) {
    const int length = m->name_length < 60 ? (int)m->name_length : 60;
    if (flags & 1)
        return refuse(why, "%.*s is encrypted", length, m->name);
    if (m->method != 0 && m->method != 8)
        return refuse(why, "%.*s is compressed by method %d; stored (0) and deflated (8) members are read", length,
                      m->name, m->method);
    if (m->method == 0 ? m->size != m->packed : m->size / RATIO > m->packed)
        return refuse(why, "%.*s claims %zu bytes, which its %zu bytes in the archive cannot be", length, m->name,
                      m->size, m->packed);
    return true;
}

int zip_next(zip_walk *z, zip_member *out, char why[WHY_SIZE]) {
    const unsigned char *e = z->at;
    if (!z->left)
        return 0;
    if (z->end - e < ENTRY_SIZE || !is_signature(e, 1, 2))
        return damaged(why, "its directory ends early");
    size_t name = number_at(e + 28, 2), extra = number_at(e + 30, 2), comment = number_at(e + 32, 2);
    if ((size_t)(z->end - e) < ENTRY_SIZE + name + extra + comment)
        return damaged(why, "its directory ends early");
    uint64_t packed = number_at(e + 20, 4), size = number_at(e + 24, 4), offset = number_at(e + 42, 4);
    bool good = read_wide_sizes(e + ENTRY_SIZE + name, extra, (uint64_t *[]){&size, &packed, &offset});
    *out = (zip_member){.name = (const char *)e + ENTRY_SIZE,
                        .name_length = name,
                        .packed = packed,
                        .size = size,
                        .method = (int)number_at(e + 10, 2),
                        .crc = (uint32_t)number_at(e + 16, 4)};
    if (!good || !find_data(z, offset, out))
        return damaged(why, "a member is not where its directory says");
    z->at = e + ENTRY_SIZE + name + extra + comment;
    z->left--;
    return check_member(out, (unsigned)number_at(e + 8, 2), why) ? 1 : -1;
}

/* zlib counts in 32 bits, so that larger members are fed to it in parts. */
static size_t part(size_t left) { return left < 1U << 30 ? left : 1U << 30; }

static bool inflate_all(const zip_member *m, unsigned char *to) {
    z_stream s = {.next_in = (unsigned char *)(uintptr_t)m->data, .next_out = to};
    size_t in = m->packed, out = m->size;
    int status = inflateInit2(&s, -MAX_WBITS); /* without zlib's header */
    if (status != Z_OK)
        return false;
    while (status == Z_OK) {
        size_t from = part(in), room = part(out);
        s.avail_in = (uInt)from;
        s.avail_out = (uInt)room;
        status = inflate(&s, Z_NO_FLUSH);
        in -= from - s.avail_in;
        out -= room - s.avail_out;
    }
    inflateEnd(&s);
    return status == Z_STREAM_END && !out;
}

unsigned char *zip_unpack(const zip_member *m, char why[WHY_SIZE]) {
    unsigned char *file = malloc(m->size + !m->size);
    if (!file) {
        refuse(why, "out of memory for %zu bytes", m->size);
        return NULL;
    }
    if (inflate_all(m, file))
        return file;
    free(file);
    refuse(why, "is a damaged zip archive: a member does not unpack to its %zu bytes", m->size);
    return NULL;
}

bool zip_intact(const zip_member *m, const unsigned char *file, char why[WHY_SIZE]) {
    unsigned long crc = crc32_z(0, NULL, 0);
    crc = crc32_z(crc, file, m->size);
    return crc == m->crc || refuse(why, "is a damaged zip archive: a member's checksum is not that of its bytes");
}
