/* Preloaded under the C library: a disk that does not do what it says.

   LIES=memory maps every file whose name ends in -shm for this process alone, as machines do that share a network disk;
   LIES=locks grants every lock to everybody. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

static int lies(const char *about) {
    const char *said = getenv("LIES");
    return said != NULL && strcmp(said, about) == 0;
}

static int is_shared_memory(int handle) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t length = readlink(link, path, sizeof path - 1);
    return length > 4 && strncmp(path + length - 4, "-shm", 4) == 0;
}

static void *mapped(void *where, size_t size, int may, int flags, int handle, off_t from) {
    static void *(*real)(void *, size_t, int, int, int, off_t);
    if (real == NULL) real = dlsym(RTLD_NEXT, "mmap");
    if (handle >= 0 && lies("memory") && is_shared_memory(handle)) flags = (flags & ~MAP_SHARED) | MAP_PRIVATE;
    return real(where, size, may, flags, handle, from);
}

void *mmap(void *w, size_t s, int m, int f, int h, off_t o) { return mapped(w, s, m, f, h, o); }
void *mmap64(void *w, size_t s, int m, int f, int h, off_t o) { return mapped(w, s, m, f, h, o); }

static int asked(int handle, int what, void *more) {
    static int (*real)(int, int, ...);
    if (real == NULL) real = dlsym(RTLD_NEXT, "fcntl");
    int locks = what == F_SETLK || what == F_SETLKW || what == F_OFD_SETLK || what == F_OFD_SETLKW;
    if (locks && lies("locks")) return 0;
    return real(handle, what, more);
}

#define MORE(what) va_list all; va_start(all, what); void *more = va_arg(all, void *); va_end(all);
int fcntl(int handle, int what, ...) { MORE(what) return asked(handle, what, more); }
int fcntl64(int handle, int what, ...) { MORE(what) return asked(handle, what, more); }
