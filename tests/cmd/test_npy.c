/* test_npy.c - the tool's .npy files: headers that are right in many spellings, hostile ones, files of every sort, what
 * becomes of a file when writing fails, and random damage. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/cmd.h"
#include "draw.h"

enum {
    ROOM = 1 << 16 /* of a file in memory */
};

typedef struct bytes {
    unsigned char at[ROOM];
    size_t length;
} bytes;

static char folder[] = "/tmp/test_npyXXXXXX";

static const char *path_of(const char *name) {
    static char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(bytes *b, const void *what, size_t length) {
    assert_true(b->length + length <= ROOM);
    memcpy(b->at + b->length, what, length);
    b->length += length;
}

/* A file of the version with this header, which may have NULs, and some data. */
static void make_file(bytes *b, int version, const char *header, size_t length, size_t data) {
    unsigned char prefix[12] = {0x93,
                                'N',
                                'U',
                                'M',
                                'P',
                                'Y',
                                (unsigned char)version,
                                0,
                                (unsigned char)(length & 255),
                                (unsigned char)(length >> 8 & 255),
                                (unsigned char)(length >> 16),
                                (unsigned char)(length >> 24)};
    b->length = 0;
    put(b, prefix, version == 1 ? 10 : 12);
    put(b, header, length);
    for (unsigned char i = 0; data; data--, i++)
        put(b, &i, 1);
}

/* Parses a copy whose end is the end of a page, with no page behind it. */
static bool parse(const bytes *b, npy_header *h, char why[WHY_SIZE]) {
    static unsigned char *pages;
    size_t beyond = (size_t)sysconf(_SC_PAGESIZE);
    if (!pages) {
        pages = mmap(NULL, ROOM + beyond, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(pages != MAP_FAILED);
        assert_int_equal(mprotect(pages + ROOM, beyond, PROT_NONE), 0);
    }
    memcpy(pages + ROOM - b->length, b->at, b->length);
    memset(why, 0, WHY_SIZE);
    bool good = npy_parse(pages + ROOM - b->length, b->length, h, why);
    assert_true(good == !*why);
    return good;
}

static void save(const bytes *b, const char *path) {
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(b->at, 1, b->length, to), b->length);
    assert_int_equal(fclose(to), 0);
}

/* ---- Headers ---- */

static void good_header(const char *header, const char *type, bool swapped, bool fortran, int ndim, int64_t first) {
    for (int version = 1; version <= 3; version++) {
        bytes b;
        npy_header h;
        char why[WHY_SIZE];
        make_file(&b, version, header, strlen(header), 0);
        if (!parse(&b, &h, why))
            fail_msg("%s: %s", header, why);
        assert_string_equal(h.type->name, type);
        assert_true(h.swapped == swapped && h.fortran == fortran && h.ndim == ndim);
        assert_true(!ndim || h.shape[0] == first);
        assert_int_equal(h.offset, b.length);
    }
}

static void spellings(void **unused) {
    (void)unused;
    good_header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n", "float32", false, false, 2, 3);
    good_header("{'shape':(),'fortran_order':True,'descr':'>i2'}", "int16", true, true, 0, 0);
    good_header(" \t{ \"shape\" : ( 7 , ) , \"descr\" : \"|b1\" , \"fortran_order\" : False }\n\n", "bool", false,
                false, 1, 7);
    good_header("{'descr': '>u1', 'fortran_order': False, 'shape': (0, 5L,)}", "uint8", false, false, 2, 0);
    good_header("{'descr': 'b1', 'fortran_order': False, 'shape': (9223372036854775807, 0)}", "bool", false, false, 2,
                INT64_MAX);
    good_header("{'descr': '=f8', 'fortran_order': False, 'shape': (1,)}", "float64", false, false, 1, 1);
    good_header("{'descr': '<V2', 'fortran_order': False, 'shape': (1,)}", "bfloat16", false, false, 1, 1);
}

static const struct {
    const char *header, *why;
} bad_headers[] = {
    {"  ", "ends where \"{\" is needed"},
    {"[1]", "byte 10: \"{\" is needed, not \"[1]\""},
    {"{}", "the key descr is missing"},
    {"{'descr': '<f4', 'fortran_order': False}", "the key shape is missing"},
    {"{'descr': '<f4', 'descr': '<f4'}", "the key descr is there twice"},
    {"{'descr': '<f4', 'x': 1}", "byte 27: the key is \"x\"; descr, fortran_order and shape are known"},
    {"{'shapes': (1,)}", "the key is \"shapes\""},
    {"{'sh\x01pe\xff': (1,)}", "the key is \"sh\\x01pe\\xff\""},
    {"{descr: '<f4'}", "the string of a key is needed, not \"descr"},
    {"{'descr", "a string has no end"},
    {"{'descr'", "the header ends where \":\" is needed"},
    {"{'descr' '<f4'}", "\":\" is needed"},
    {"{'descr': <f4}", "the string of a dtype is needed"},
    {"{'descr': '<f4' 'shape': (1,)}", "\",\" or \"}\" is needed"},
    {"{,}", "the string of a key is needed"},
    {"{'shape': (1,),,}", "the string of a key is needed"},
    {"{'descr': '|O'}", "Python objects"},
    {"{'descr': [('a', '<f4')]}", "the key fortran_order is missing"},
    {"{'descr': [('a', '<f4'), ('b', '>f4')]}", "other byte order"},
    {"{'descr': [('a', 'O')]}", "Python objects"},
    {"{'descr': [('a', '<f4', (0,))]}", "has no elements"},
    {"{'descr': [('a', '<f4' 3)]}", "\")\" of a field"},
    {"{'descr': [('a')]}", "\",\""},
    {"{'descr': ['<f4']}", "\"(\" of a field"},
    {"{'descr': []}", "no fields"},
    {"{'descr': [('', '|V4')]}", "no fields"},
    {"{'descr': [('a', '<f8', (300,))]}", "too many fields"},
    {"{'descr': [('a', [('a', [('a', [('a', [('a', [('a', [('a', [('a', [('a', [('a', '<f4')])])])])])])])])])]}",
     "deep"},
    {"{'descr': [('a', [], (1048576,))]}", "byte 27: a field has no scalars"},
    {"{'descr': [('',[('',[('',[('',[],(1048576,))],(1048576,))],(1048576,))],(1048576,))]}", "a field has no scalars"},
    {"{'descr': [('a', [('', '|V4')])]}", "a field has no scalars"},
    {"{'descr': [('a', [('a', [('b', '|u1')], (1000,))], (1000,))]}", "too many fields"},
    {"{'descr': ('<f4', (2,))}", "the string of a dtype is needed"},
    {"{'descr': '<U3'}", "\"<U3\", text"},
    {"{'descr': '<M8[ns]'}", "\"<M8[ns]\", times"},
    {"{'descr': '<V4'}", "opaque bytes"},
    {"{'descr': '<f16'}", "none of the fifteen"},
    {"{'descr': '<c32'}", "none of the fifteen"},
    {"{'descr': '<f'}", "none of the fifteen"},
    {"{'descr': ''}", "none of the fifteen"},
    {"{'descr': '<'}", "none of the fifteen"},
    {"{'descr': '<<f4'}", "none of the fifteen"},
    {"{'descr': '<f40'}", "none of the fifteen"},
    {"{'fortran_order': 0}", "True or False is needed"},
    {"{'fortran_order': Tru}", "True or False is needed"},
    {"{'fortran_order': Falsehood}", "\",\" or \"}\" is needed"},
    {"{'shape': 3}", "a tuple of extents is needed"},
    {"{'shape': [3]}", "a tuple of extents is needed"},
    {"{'shape': (3)}", "(3) is a number"},
    {"{'shape': (,)}", "an extent is needed"},
    {"{'shape': (3 4)}", "\",\" or \")\" is needed"},
    {"{'shape': (3,,4)}", "an extent is needed"},
    {"{'shape': (3,", "the header ends where an extent is needed"},
    {"{'shape': (-1,)}", "an extent is negative"},
    {"{'shape': (1.5,)}", "\",\" or \")\" is needed"},
    {"{'shape': (1e3,)}", "\",\" or \")\" is needed"},
    {"{'shape': (True,)}", "an extent is needed"},
    {"{'shape': (0x10,)}", "\",\" or \")\" is needed"},
    {"{'shape': (9223372036854775808,)}", "an extent exceeds 2^63 - 1"},
    {"{'shape': (99999999999999999999999999,)}", "an extent exceeds 2^63 - 1"},
    {"{'shape': "
     "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
     "1,1,1,1,1,1,1,1,1,1,1)}",
     "more than 64 dimensions"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "exceeds 2^63 - 1 bytes"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296)}", "exceeds 2^63 - 1 bytes"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2305843009213693952,)}", "exceeds 2^63 - 1 bytes"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "the end of the header is needed, not \"x\""},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}; import os", "the end of the header is needed"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': __import__('os')}", "a tuple of extents is needed"},
};

static void hostile_headers(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof bad_headers / sizeof *bad_headers; i++) {
        bytes b;
        npy_header h;
        char why[WHY_SIZE];
        make_file(&b, 1, bad_headers[i].header, strlen(bad_headers[i].header), 8);
        if (parse(&b, &h, why))
            fail_msg("%s is taken", bad_headers[i].header);
        if (!strstr(why, bad_headers[i].why))
            fail_msg("%s: \"%s\" lacks \"%s\"", bad_headers[i].header, why, bad_headers[i].why);
    }
}

static void refused_file(const bytes *b, const char *part) {
    npy_header h;
    char why[WHY_SIZE];
    assert_false(parse(b, &h, why));
    if (!strstr(why, part))
        fail_msg("\"%s\" lacks \"%s\"", why, part);
}

/* Fields that take no room in the record are counted, too, each time that they are read. */
static void many_fields(void **unused) {
    (void)unused;
    static char header[ROOM - 100];
    static bytes b;
    char *end = stpcpy(header, "{'descr': [('a', [");
    while (end < header + sizeof header - 100)
        end = stpcpy(end, "('','V0'),");
    strcpy(end, "('b', '|u1')], (300,))]}");
    make_file(&b, 1, header, strlen(header), 0);
    refused_file(&b, "the records have too many fields");
}

/* Records in records are read once for each of them, in their order. */
static void nested_fields(void **unused) {
    (void)unused;
    static bytes b;
    npy_header h;
    char why[WHY_SIZE];
    const char *header =
        "{'descr': [('a', [('b', '|u1'), ('', '|V1'), ('c', [('d', '|i1', (2,))])], (2,)), ('e', '<f4')], "
        "'fortran_order': False, 'shape': ()}";
    make_file(&b, 1, header, strlen(header), 0);
    if (!parse(&b, &h, why))
        fail_msg("%s", why);
    assert_string_equal(h.fields, "u1@0;i1@2;i1@3;u1@4;i1@6;i1@7;f4@8;");
    assert_int_equal(h.element, 12);
}

static const char plain[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n";

static void hostile_prefixes(void **unused) {
    (void)unused;
    bytes b;
    make_file(&b, 1, plain, strlen(plain), 0);
    size_t whole = b.length;
    for (b.length = 0; b.length < whole; b.length++)
        refused_file(&b, "before the header does");
    b.length = whole;
    b.at[0] = 'P';
    refused_file(&b, "is no .npy file: it begins with \"PNUMPY\"");
    make_file(&b, 4, plain, strlen(plain), 0);
    refused_file(&b, "version 4.0");
    make_file(&b, 0, plain, strlen(plain), 0);
    refused_file(&b, "version 0.0");
    make_file(&b, 1, plain, strlen(plain), 0);
    b.at[7] = 9;
    refused_file(&b, "version 1.9");
    make_file(&b, 2, plain, strlen(plain), 0);
    memset(b.at + 8, 0xff, 4);
    refused_file(&b, "the header's length is 4294967295");
    memset(b.at + 8, 0, 4);
    refused_file(&b, "the header's length is 0");
    make_file(&b, 1, "{'descr': '<f4\0', 'fortran_order': False, 'shape': (1,)}", 56, 0);
    refused_file(&b, "\"<f4\\x00\"");
    make_file(&b, 1, "{'descr': '\0f4', 'fortran_order': False, 'shape': (1,)}", 55, 0);
    refused_file(&b, "\"\\x00f4\"");
    make_file(&b, 1, "{'descr': '<f4',\0'fortran_order': False, 'shape': (1,)}", 55, 0);
    refused_file(&b, "the string of a key is needed, not \"\\x00'");
}

/* ---- Files ---- */

static DLTensor tensor(void *data, const char *type, int ndim, int64_t *shape) {
    return (DLTensor){
        .data = data, .device = {kDLCPU, 0}, .ndim = ndim, .dtype = dtype_named(type)->type, .shape = shape};
}

static void must_write(const char *path, const DLTensor *t) {
    char why[WHY_SIZE];
    if (!write_with(npy_put, path, t, NULL, why))
        fail_msg("%s: %s", path, why);
}

static void must_read(npy *out, const char *path) {
    char why[WHY_SIZE];
    if (!npy_read(out, path, true, why))
        fail_msg("%s: %s", path, why);
}

static void must_refuse(const char *path, const char *part) {
    npy file;
    char why[WHY_SIZE];
    assert_false(npy_read(&file, path, false, why));
    if (!strstr(why, part))
        fail_msg("%s: \"%s\" lacks \"%s\"", path, why, part);
    assert_null(file.map);
    assert_null(file.memory);
}

/* What is written is read back, of every dtype and of random shapes of all ranks; the header has NumPy's form. */
static void round_trips(void **unused) {
    (void)unused;
    for (int64_t i = 0; i < trials(300); i++) {
        unsigned char data[1024];
        int64_t shape[UF_MAX_NDIM], count = 1;
        const dtype_row *e = &dtype_rows[pick(0, DTYPES - 1)];
        int ndim = (int)pick(0, chance(20) ? UF_MAX_NDIM : 4);
        for (int d = 0; d < ndim; d++) {
            shape[d] = chance(5) ? 0 : pick(1, 5);
            shape[d] = shape[d] && count * shape[d] * e->size > (int64_t)sizeof data ? 1 : shape[d];
            count *= shape[d] ? shape[d] : 1;
        }
        for (size_t k = 0; k < sizeof data; k++)
            data[k] = (unsigned char)pick(0, 255);
        DLTensor t = tensor(data, e->name, ndim, shape);
        npy file;
        must_write(path_of("x.npy"), &t);
        must_read(&file, path_of("x.npy"));
        assert_int_equal(file.array.ndim, ndim);
        assert_memory_equal(&file.array.dtype, &e->type, sizeof e->type);
        assert_null(file.array.strides);
        size_t size = e->size;
        for (int d = 0; d < ndim; d++) {
            assert_true(file.array.shape[d] == shape[d]);
            size *= (size_t)shape[d];
        }
        assert_memory_equal(file.array.data, data, size);
        assert_int_equal(((char *)file.array.data - (char *)file.map) % 64, 0);
        npy_close(&file);
    }
}

/* No bytes of either order, mapped and written; to their address nothing may be added. */
static void nothing_to_swap(void **unused) {
    (void)unused;
    static bytes b;
    static const char *const orders[] = {"{'descr': '>f8', 'fortran_order': True, 'shape': (0, 3)}",
                                         "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 3)}"};
    for (int i = 0; i < 2; i++) {
        npy file;
        make_file(&b, 1, orders[i], strlen(orders[i]), 0);
        FILE *to = fopen(path_of("x.npy"), "wb");
        assert_true(to && fwrite(b.at, 1, b.length, to) == b.length && fclose(to) == 0);
        must_read(&file, path_of("x.npy"));
        assert_true(file.array.ndim == 2 && file.array.shape[0] == 0 && file.array.shape[1] == 3);
        assert_null(file.memory);
        npy_close(&file);
    }
    DLTensor none = tensor(NULL, "float64", 1, (int64_t[]){0});
    must_write(path_of("x.npy"), &none);
}

/* Both byte orders, of all sizes, with a header of any length: data that are not aligned, too. */
static void byte_orders(void **unused) {
    (void)unused;
    for (int i = 0; i < DTYPES; i++)
        for (int extra = 0; extra < 16; extra++) {
            const dtype_row *e = &dtype_rows[i];
            for (int big = 0; big < 2; big++) {
                char header[128];
                bytes b;
                npy file;
                snprintf(header, sizeof header, "{'descr': '%c%c%d', 'fortran_order': True, 'shape': (2, 3)}%*s",
                         big ? '>' : '<', e->kind, e->size, extra, "");
                make_file(&b, 1, header, strlen(header), 6 * (size_t)e->size + 5); /* 5: what follows does not matter */
                save(&b, path_of("order.npy"));
                must_read(&file, path_of("order.npy"));
                assert_int_equal((uintptr_t)file.array.data % e->align, 0);
                assert_true(file.array.strides[0] == 1 && file.array.strides[1] == 2);
                const unsigned char *got = file.array.data;
                for (int k = 0; k < 6 * e->size; k++) {
                    int within = k % e->align, from = big ? k - within + e->align - 1 - within : k;
                    assert_int_equal(got[k], from);
                }
                npy_close(&file);
            }
        }
}

static void files_refused(void **unused) {
    (void)unused;
    bytes b;
    must_refuse(path_of("absent.npy"), "No such file");
    must_refuse(folder, "Is a directory");
    make_file(&b, 1, plain, strlen(plain), 48);
    b.length--;
    save(&b, path_of("short.npy"));
    must_refuse(path_of("short.npy"), "of data from byte 70 on");
    b.length = 0;
    save(&b, path_of("empty.npy"));
    must_refuse(path_of("empty.npy"), "ends after 0 bytes, before the header does");
    must_refuse("/dev/null", "ends after 0 bytes");
    must_refuse("/dev/zero", "is no .npy file");
    const char *huge = "{'descr': '<f4', 'fortran_order': False, 'shape': (2305843009213693951,)}";
    make_file(&b, 1, huge, strlen(huge), 100);
    save(&b, path_of("huge.npy"));
    must_refuse(path_of("huge.npy"), "promises 9223372036854775804 of data");
    const char *opaque = "{'descr': '<V2', 'fortran_order': False, 'shape': (1,)}";
    make_file(&b, 1, opaque, strlen(opaque), 2);
    save(&b, path_of("opaque.npy"));
    must_refuse(path_of("opaque.npy"), "--dtype bfloat16");
}

/* Through a pipe on standard input, in pieces: `cut` bytes fewer than the file has. */
static bool read_piped(const bytes *b, size_t cut, npy *file, char why[WHY_SIZE]) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool good = true;
        for (size_t i = 0, n = 0; i < b->length - cut; i += n) {
            n = b->length - cut - i < 7 ? b->length - cut - i : 7;
            good &= write(ends[1], b->at + i, n) == (ssize_t)n;
        }
        _exit(!good);
    }
    int status, kept = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    bool good = npy_read(file, "-", false, why);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    dup2(kept, STDIN_FILENO);
    close(kept);
    return good;
}

static void pipes(void **unused) {
    (void)unused;
    bytes b;
    npy file;
    char why[WHY_SIZE];
    make_file(&b, 1, plain, strlen(plain), 48);
    assert_true(read_piped(&b, 0, &file, why));
    assert_memory_equal(file.array.data, b.at + b.length - 48, 48);
    assert_null(file.map);
    npy_close(&file);
    assert_false(read_piped(&b, 1, &file, why));
    assert_non_null(strstr(why, "ends after 117 bytes"));
    assert_false(read_piped(&b, 60, &file, why));
    assert_non_null(strstr(why, "before the header does"));
}

static int files_in_folder(void) {
    char command[64];
    snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
    FILE *from = popen(command, "r");
    int n = -1;
    assert_non_null(from);
    assert_int_equal(fscanf(from, "%d", &n), 1);
    pclose(from);
    return n;
}

/* A limit on the size of files stands for a full disk. */
static void failed_write(void **unused) {
    (void)unused;
    static float many[1 << 16];
    float few[4] = {1, 2, 3, 4};
    DLTensor small = tensor(few, "float32", 1, (int64_t[]){4});
    DLTensor large = tensor(many, "float32", 1, (int64_t[]){1 << 16});
    char why[WHY_SIZE];
    npy file;
    must_write(path_of("kept.npy"), &small);
    int before = files_in_folder();

    struct rlimit old, low;
    getrlimit(RLIMIT_FSIZE, &old);
    low = (struct rlimit){1 << 12, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &low);
    bool good = write_with(npy_put, path_of("kept.npy"), &large, NULL, why),
         fresh = write_with(npy_put, path_of("fresh.npy"), &large, NULL, why);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_false(good || fresh);
    assert_string_equal(why, strerror(EFBIG));
    assert_int_equal(files_in_folder(), before);
    must_read(&file, path_of("kept.npy"));
    assert_memory_equal(file.array.data, few, sizeof few);
    npy_close(&file);

    assert_false(write_with(npy_put, folder, &small, NULL, why));
    assert_string_equal(why, strerror(EISDIR));
    assert_false(write_with(npy_put, "/nowhere/x.npy", &small, NULL, why));
    assert_false(write_with(npy_put, "/dev/full", &small, NULL, why));
    assert_string_equal(why, strerror(ENOSPC));
    must_write("/dev/null", &small);
}

/* A file is replaced: who has the old one mapped keeps it; permissions and links stay. */
static void replaced(void **unused) {
    (void)unused;
    float old[4] = {1, 2, 3, 4}, new[4] = {5, 6, 7, 8};
    DLTensor t = tensor(old, "float32", 1, (int64_t[]){4});
    npy before, after;
    struct stat about;
    char link[64];
    snprintf(link, sizeof link, "%s", path_of("link.npy"));
    must_write(path_of("target.npy"), &t);
    assert_int_equal(chmod(path_of("target.npy"), 0640), 0);
    assert_int_equal(symlink("target.npy", link), 0);
    must_read(&before, link);
    t.data = new;
    must_write(link, &t);
    assert_memory_equal(before.array.data, old, sizeof old);
    must_read(&after, path_of("target.npy"));
    assert_memory_equal(after.array.data, new, sizeof new);
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat(link, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    npy_close(&before);
    npy_close(&after);
}

/* A link that leads to nothing yet stays a link as well, from whichever folder it leads where; one that leads to itself is an error. */
static void links_to_nothing(void **unused) {
    (void)unused;
    float data[4] = {1, 2, 3, 4};
    DLTensor t = tensor(data, "float32", 1, (int64_t[]){4});
    struct stat about;
    npy file;
    char why[WHY_SIZE];
    assert_int_equal(mkdir(path_of("inner"), 0700), 0);
    assert_int_equal(symlink("../fresh.npy", path_of("inner/second.npy")), 0);
    assert_int_equal(symlink("inner/second.npy", path_of("first.npy")), 0);
    must_write(path_of("first.npy"), &t);
    assert_int_equal(lstat(path_of("first.npy"), &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(lstat(path_of("inner/second.npy"), &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(lstat(path_of("fresh.npy"), &about), 0);
    assert_true(S_ISREG(about.st_mode));
    must_read(&file, path_of("first.npy"));
    assert_memory_equal(file.array.data, data, sizeof data);
    npy_close(&file);
    assert_int_equal(symlink("loop.npy", path_of("loop.npy")), 0);
    assert_false(write_with(npy_put, path_of("loop.npy"), &t, NULL, why));
    assert_string_equal(why, strerror(ELOOP));
}

/* ---- Damage ---- */

static void damage(bytes *b) {
    static const char *const pieces[] = {
        "(", ")", "{",  "}", "'",  "\"",   ",",     ":",     "9", "99999999999999999999",
        "-", "L", "\\", "O", "V2", "True", "descr", "shape", ">", "|"};
    for (int64_t n = pick(1, 4); n > 0; n--) {
        size_t at = (size_t)pick(0, (int64_t)b->length - 1);
        const char *piece = pieces[pick(0, sizeof pieces / sizeof *pieces - 1)];
        if (chance(40))
            b->at[at] = (unsigned char)pick(0, 255);
        else if (chance(50) && at + strlen(piece) <= b->length)
            memcpy(b->at + at, piece, strlen(piece));
        else if (chance(50) && b->length > 1)
            memmove(b->at + at, b->at + at + 1, --b->length - at);
        else if (chance(20))
            b->length = at + 1;
    }
}

static void damaged(void **unused) {
    (void)unused;
    int64_t taken = 0;
    for (int64_t i = 0; i < trials(20000); i++) {
        char header[160], why[WHY_SIZE];
        bytes b;
        npy_header h;
        const dtype_row *e = &dtype_rows[pick(0, DTYPES - 1)];
        snprintf(header, sizeof header, "{'descr': '%c%c%d', 'fortran_order': %s, 'shape': (%d, %d), }%*s\n",
                 chance(50) ? '<' : '>', e->kind, e->size, chance(50) ? "True" : "False", (int)pick(0, 4),
                 (int)pick(0, 4), (int)pick(0, 9), "");
        make_file(&b, (int)pick(1, 3), header, strlen(header), 16 * (size_t)e->size);
        damage(&b);
        if (!parse(&b, &h, why))
            continue;
        taken++;
        size_t size = h.type->size;
        for (int d = 0; d < h.ndim; d++) {
            assert_true(h.shape[d] >= 0);
            size *= (size_t)h.shape[d];
        }
        assert_true(h.size == size && h.offset <= b.length && h.ndim <= UF_MAX_NDIM);
        if (chance(90))
            continue;
        npy file;
        save(&b, path_of("damaged.npy"));
        if (npy_read(&file, path_of("damaged.npy"), true, why)) {
            unsigned sum = 0;
            for (size_t k = 0; k < size; k++)
                sum += ((unsigned char *)file.array.data)[k];
            assert_true(size <= b.length && sum <= 255 * size);
            npy_close(&file);
        } else
            assert_true(h.offset + h.size > b.length);
    }
    print_message("%lld of the damaged files are still right\n", (long long)taken);
    assert_true(taken > trials(20000) / 50);
}

static int set_up(void **state) {
    assert_non_null(mkdtemp(folder));
    return draw_seed(state);
}

static int clear(void **unused) {
    (void)unused;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spellings),        cmocka_unit_test(hostile_headers),
        cmocka_unit_test(hostile_prefixes), cmocka_unit_test(many_fields),
        cmocka_unit_test(nested_fields),    cmocka_unit_test(round_trips),
        cmocka_unit_test(byte_orders),      cmocka_unit_test(nothing_to_swap),
        cmocka_unit_test(files_refused),    cmocka_unit_test(pipes),
        cmocka_unit_test(failed_write),     cmocka_unit_test(replaced),
        cmocka_unit_test(links_to_nothing), cmocka_unit_test(damaged),
    };
    return cmocka_run_group_tests(tests, set_up, clear);
}
