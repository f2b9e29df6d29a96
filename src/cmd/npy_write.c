/* npy_write.c - writes an array to a file, of .npy or another form, by way of a temporary file in the same folder, which then takes the
 * file's name. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"

enum {
    INHERITED = 10, /* the shell's redirections: 0 to 9 */
    MOST_LINKS = 40 /* one behind the other */
};

bool write_all(int to, const void *data, size_t size) {
    const char *at = data;
    while (size) {
        ssize_t n = write(to, at, size);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            at += n;
            size -= (size_t)n;
        }
    }
    return true;
}

bool npy_put(int to, const DLTensor *array, const char *descr) {
    unsigned char header[NPY_HEADER_SIZE];
    size_t size = array_bytes(array);
    return write_all(to, header, npy_format(array, descr, header)) &&
           (!size || write_all(to, (const char *)array->data + array->byte_offset, size));
}

/* What the program has open for writing and is that file: standard output behind /dev/stdout, if it goes to a file; -1: nothing. */
static int open_on(const struct stat *about) {
    struct stat other;
    for (int i = STDOUT_FILENO; i < INHERITED; i++) {
        int flags = fcntl(i, F_GETFL);
        if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && !fstat(i, &other) && other.st_dev == about->st_dev &&
            other.st_ino == about->st_ino)
            return i;
    }
    return -1;
}

/* What has the name of a path; NULL: nothing has it yet, or it is standard output. */
static const struct stat *look(const char *path, struct stat *about) {
    return strcmp(path, "-") != 0 && stat(path, about) == 0 ? about : NULL;
}

/* Is there a file to be replaced, or to be made? Standard output, devices and pipes cannot be replaced, and what others write to a
 * file that the program has open, before and after, would be lost. */
static bool is_replaced(const char *path, const struct stat *there) {
    return there ? S_ISREG(there->st_mode) && open_on(there) < 0 : strcmp(path, "-") != 0;
}

static int open_stream(const char *path, const struct stat *there) {
    int to = there ? open_on(there) : STDOUT_FILENO;
    return to >= 0 ? to : open(path, O_WRONLY | O_CLOEXEC);
}

static bool write_stream(array_writer *writer, int to, const DLTensor *array, const char *descr) {
    bool good = to >= 0 && writer(to, array, descr);
    if (to < INHERITED)
        return good;
    int error = errno;
    bool closed = close(to) == 0;
    if (!good)
        errno = error;
    return good && closed;
}

static bool write_new(array_writer *writer, int to, const DLTensor *array, const char *descr, const char *temporary,
                      const char *path) {
    bool good = writer(to, array, descr);
    int error = errno;
    if (close(to) && good) {
        good = false;
        error = errno;
    }
    if (good && rename(temporary, path)) {
        good = false;
        error = errno;
    }
    if (!good)
        unlink(temporary);
    errno = error;
    return good;
}

/* Writes to a new file that takes the name `path`. there: the file that has that name, whose permissions the new one
 * gets, or NULL. */
static bool write_replacing(array_writer *writer, const char *path, const struct stat *there, const DLTensor *array,
                            const char *descr) {
    char *temporary = malloc(strlen(path) + 32);
    int to = -1;
    if (!temporary)
        return false;
    signals_hold(true);
    for (int i = 0; to < 0 && i < 100; i++) {
        sprintf(temporary, "%s.%ld.%d", path, (long)getpid(), i);
        to = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (to < 0 && errno != EEXIST)
            break;
    }
    int error = errno;
    signals_temporary(to < 0 ? NULL : temporary);
    signals_hold(false);
    errno = error;
    if (to >= 0 && there)
        fchmod(to, there->st_mode & 0777); /* may fail on a file system without permissions, where it does not matter */
    bool good = to >= 0 && write_new(writer, to, array, descr, temporary, path);
    error = errno;
    signals_temporary(NULL);
    free(temporary);
    errno = error;
    return good;
}

/* Where a symbolic link leads to. NULL: errno says why, EINVAL that the path is no link. */
static char *link_target(const char *path) {
    char to[PATH_MAX], *target = NULL;
    ssize_t n = readlink(path, to, sizeof to - 1);
    if (n < 0)
        return NULL;
    to[n] = 0;
    const char *slash = *to == '/' ? NULL : strrchr(path, '/');
    return asprintf(&target, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, to) < 0 ? NULL : target;
}

/* The path of the file itself, behind all symbolic links, which stay; it need not be there. NULL: errno says why. */
static char *path_of_file(const char *path) {
    char *at = strdup(path);
    for (int i = 0; at && i < MOST_LINKS; i++) {
        char *next = link_target(at);
        if (!next && (errno == EINVAL || errno == ENOENT))
            return at;
        free(at);
        at = next;
    }
    free(at);
    errno = at ? ELOOP : errno;
    return NULL;
}

static bool write_file(array_writer *writer, const char *path, const struct stat *there, const DLTensor *array,
                       const char *descr) {
    char *target = path_of_file(path);
    bool good = target && write_replacing(writer, target, there, array, descr);
    int error = errno;
    free(target);
    errno = error;
    return good;
}

bool write_with(array_writer *writer, const char *path, const DLTensor *array, const char *descr, char why[WHY_SIZE]) {
    struct stat about;
    const struct stat *there = look(path, &about);
    bool good = is_replaced(path, there) ? write_file(writer, path, there, array, descr)
                                         : write_stream(writer, open_stream(path, there), array, descr);
    return good || refuse_by_errno(why);
}

static char *folder_of(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? strndup(file, (size_t)(slash + 1 - file)) : strdup(".");
}

/* Could a file be made where the path leads? False: errno says why. */
static bool has_place(const char *path) {
    char *file = path_of_file(path), *folder = file ? folder_of(file) : NULL;
    bool good = folder && access(folder, W_OK | X_OK) == 0;
    int error = errno;
    free(folder);
    free(file);
    errno = error;
    return good;
}

bool path_accepts(const char *path, char why[WHY_SIZE]) {
    struct stat about;
    const struct stat *there = look(path, &about);
    if (is_replaced(path, there))
        return has_place(path) || refuse_by_errno(why);
    if (there && S_ISDIR(there->st_mode))
        return refuse(why, "%s", strerror(EISDIR));
    return !there || open_on(there) >= 0 || access(path, W_OK) == 0 || refuse_by_errno(why);
}

char *file_replaced(const char *path) {
    struct stat about;
    char *file = is_replaced(path, look(path, &about)) ? path_of_file(path) : NULL, *full = NULL;
    char *parent = file ? folder_of(file) : NULL, *folder = parent ? realpath(parent, NULL) : NULL;
    const char *slash = file ? strrchr(file, '/') : NULL;
    if (folder && asprintf(&full, "%s/%s", folder, slash ? slash + 1 : file) < 0)
        full = NULL;
    free(folder);
    free(parent);
    free(file);
    return full;
}
