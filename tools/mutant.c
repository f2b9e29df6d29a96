/* mutant.c - reads, before anything of the library runs, which mutant is on. UF_MUTANT_REACHED names a file that is mapped, so
 * that all threads and all processes, killed ones too, leave in it which mutants they came by. Its length is the table's. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int mutant_on;
volatile unsigned char *mutant_reached;

__attribute__((constructor(101))) static void read_environment(void) {
    const char *number = getenv("UF_MUTANT"), *path = getenv("UF_MUTANT_REACHED");
    mutant_on = number ? atoi(number) : 0;
    if (!path)
        return;
    struct stat file;
    int fd = open(path, O_RDWR);
    if (fd < 0 || fstat(fd, &file))
        abort();
    void *bytes = mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        abort();
    mutant_reached = bytes;
    close(fd);
}
