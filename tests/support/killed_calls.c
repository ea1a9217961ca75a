/* Preloaded under the C library: ends the process at the n-th call that changes a file, before the call is made.

   KILL_AT is n, counted from 1 (0: never); KILL_UNDER is the folder whose files count; KILL_LOG is a file in which each
   such call is noted by one letter, a write of one byte (or none) by 'b'. A call that ends half-way, as a write on a full
   disk does, is made at KILL_HALF. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int count, logged = -1;

static int is_under(const char *path) {
    const char *folder = getenv("KILL_UNDER");
    char resolved[4096];
    if (folder == NULL || path == NULL) return 0;
    if (path[0] != '/') {
        if (getcwd(resolved, sizeof resolved) == NULL || strlen(resolved) + strlen(path) + 2 > sizeof resolved) return 0;
        path = strcat(strcat(resolved, "/"), path);
    }
    return strncmp(path, folder, strlen(folder)) == 0;
}

static int is_open_under(int handle) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_under(path);
}

static void step(char letter) {
    static ssize_t (*real_write)(int, const void *, size_t);
    static int (*real_open)(const char *, int, ...);
    const char *at = getenv("KILL_AT"), *log = getenv("KILL_LOG");
    if (real_write == NULL) real_write = dlsym(RTLD_NEXT, "write");
    if (real_open == NULL) real_open = dlsym(RTLD_NEXT, "open");
    count++;
    if (log != NULL) {
        if (logged < 0) logged = real_open(log, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
        if (real_write(logged, &letter, 1) != 1) _exit(98);
    }
    if (at != NULL && atoi(at) == count) _exit(97);
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (real == NULL) real = dlsym(RTLD_NEXT, #name)

static int opened(const char *name, int at, const char *path, int flags, mode_t mode) {
    static int (*real)(int, const char *, int, ...);
    (void)name;
    if (real == NULL) real = dlsym(RTLD_NEXT, "openat");
    if ((flags & (O_CREAT | O_TRUNC)) && is_under(path)) step('o');
    return real(at, path, flags, mode);
}

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & O_CREAT) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }

int open(const char *path, int flags, ...) { MODE(flags) return opened("open", AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return opened("open64", AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags) return opened("openat", at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags) return opened("openat64", at, path, flags, mode); }

ssize_t write(int handle, const void *bytes, size_t size) {
    REAL(ssize_t, write, int, const void *, size_t);
    if (is_open_under(handle)) {
        const char *half = getenv("KILL_HALF");
        if (half != NULL && atoi(half) == count + 1 && size > 1) {
            if (real(handle, bytes, size / 2) < 0) _exit(98);
            _exit(97);
        }
        step(size > 1 ? 'w' : 'b');
    }
    return real(handle, bytes, size);
}

#define PWRITE(name, offset_type) \
    ssize_t name(int handle, const void *bytes, size_t size, offset_type offset) { \
        REAL(ssize_t, name, int, const void *, size_t, offset_type); \
        if (is_open_under(handle)) { \
            const char *half = getenv("KILL_HALF"); \
            if (half != NULL && atoi(half) == count + 1 && size > 1) { \
                if (real(handle, bytes, size / 2, offset) < 0) _exit(98); \
                _exit(97); \
            } \
            step(size > 1 ? 'p' : 'b'); \
        } \
        return real(handle, bytes, size, offset); \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define ON_A_HANDLE(name, letter) \
    int name(int handle) { \
        REAL(int, name, int); \
        if (is_open_under(handle)) step(letter); \
        return real(handle); \
    }
ON_A_HANDLE(fsync, 'f')
ON_A_HANDLE(fdatasync, 'f')

#define TRUNCATE(name, size_type) \
    int name(int handle, size_type size) { \
        REAL(int, name, int, size_type); \
        if (is_open_under(handle)) step('t'); \
        return real(handle, size); \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *);
    if (is_under(to)) step('r');
    return real(from, to);
}

int link(const char *from, const char *to) {
    REAL(int, link, const char *, const char *);
    if (is_under(to)) step('l');
    return real(from, to);
}

int renameat(int before, const char *from, int after, const char *to) {
    REAL(int, renameat, int, const char *, int, const char *);
    if (is_under(to)) step('r');
    return real(before, from, after, to);
}

int linkat(int before, const char *from, int after, const char *to, int flags) {
    REAL(int, linkat, int, const char *, int, const char *, int);
    if (is_under(to)) step('l');
    return real(before, from, after, to, flags);
}

int unlinkat(int at, const char *path, int flags) {
    REAL(int, unlinkat, int, const char *, int);
    if (is_under(path)) step('u');
    return real(at, path, flags);
}

int unlink(const char *path) {
    REAL(int, unlink, const char *);
    if (is_under(path)) step('u');
    return real(path);
}

int mkdir(const char *path, mode_t mode) {
    REAL(int, mkdir, const char *, mode_t);
    if (is_under(path)) step('m');
    return real(path, mode);
}

int rmdir(const char *path) {
    REAL(int, rmdir, const char *);
    if (is_under(path)) step('d');
    return real(path);
}
