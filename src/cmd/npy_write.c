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

static bool refuse_by_errno(char *why) {
    snprintf(why, WHY_SIZE, "%s", strerror(errno));
    return false;
}

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
    size_t size = element_bytes(array->dtype);
    for (int d = 0; d < array->ndim; d++)
        size *= (size_t)array->shape[d];
    return write_all(to, header, npy_format(array, descr, header)) &&
           (!size || write_all(to, (const char *)array->data + array->byte_offset, size));
}

/* Writes to standard output, a device or a pipe, which cannot be replaced. */
static bool write_stream(array_writer *writer, const char *path, const DLTensor *array, const char *descr) {
    int to = strcmp(path, "-") == 0 ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC);
    if (to < 0)
        return false;
    bool good = writer(to, array, descr);
    if (to == STDOUT_FILENO)
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

bool write_with(array_writer *writer, const char *path, const DLTensor *array, const char *descr, char why[WHY_SIZE]) {
    struct stat about;
    bool there = strcmp(path, "-") != 0 && stat(path, &about) == 0;
    if (strcmp(path, "-") == 0 || (there && !S_ISREG(about.st_mode)))
        return write_stream(writer, path, array, descr) || refuse_by_errno(why);
    /* a symbolic link stays, and the file that it leads to is replaced */
    char *target = there ? realpath(path, NULL) : NULL;
    if (there && !target)
        return refuse_by_errno(why);
    bool good =
        write_replacing(writer, target ? target : path, there ? &about : NULL, array, descr) || refuse_by_errno(why);
    free(target);
    return good;
}

bool npy_write(const char *path, const DLTensor *array, const char *descr, char why[WHY_SIZE]) {
    return write_with(npy_put, path, array, descr, why);
}
