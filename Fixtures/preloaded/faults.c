// Has the Nth system call of a kind fail, or kills the process at it, where it concerns what lies below a folder.
// To be preloaded (LD_PRELOAD). FAULT_BELOW: the folder. FAULT_CALL: write, fsync, rename, ftruncate, open, mkdir, fcntl.
// FAULT_AT: which one, from 1 on; 0 for none. FAULT_ERROR: the number of the error; 0 kills. FAULT_REPORT: a file into
// which the number of calls is written at the end. FAULT_FOLDERS: set where every sync of a folder fails with the error.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "system-call.h"

static atomic_long calls;
static const char *below, *kind;
static long at, error;

__attribute__((constructor)) static void begin(void) {
    below = getenv("FAULT_BELOW");
    kind = getenv("FAULT_CALL");
    if (getenv("FAULT_AT")) at = atol(getenv("FAULT_AT"));
    if (getenv("FAULT_ERROR")) error = atol(getenv("FAULT_ERROR"));
}

__attribute__((destructor)) static void end(void) {
    const char *report = getenv("FAULT_REPORT");
    FILE *file = report ? fopen(report, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld\n", (long)calls);
    fclose(file);
}

static int is_below(const char *path) {
    return below && path && strncmp(path, below, strlen(below)) == 0;
}

static int is_file_below(int descriptor) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static int is_path_below(int folder, const char *path) {
    return path && path[0] == '/' ? is_below(path) : folder == AT_FDCWD ? 0 : is_file_below(folder);
}

// Whether this call is to fail; errno is set then.
static int fails(const char *call, int concerns) {
    if (!concerns || !kind || strcmp(kind, call) != 0) return 0;
    if (atomic_fetch_add(&calls, 1) + 1 != at) return 0;
    if (error == 0) kill(getpid(), SIGKILL);
    errno = (int)error;
    return 1;
}

#define NEXT(name) \
    static __typeof__(&name) next; \
    if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int file, const void *bytes, size_t count) {
    NEXT(write);
    return fails("write", is_file_below(file)) ? -1 : next(file, bytes, count);
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    NEXT(pwrite);
    return fails("write", is_file_below(file)) ? -1 : next(file, bytes, count, offset);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    NEXT(pwrite64);
    return fails("write", is_file_below(file)) ? -1 : next(file, bytes, count, offset);
}
int fsync(int file) {
    NEXT(fsync);
    struct stat facts;
    if (getenv("FAULT_FOLDERS") && is_file_below(file) && fstat(file, &facts) == 0 && S_ISDIR(facts.st_mode)) {
        errno = (int)error;
        return -1;
    }
    return fails("fsync", is_file_below(file)) ? -1 : next(file);
}
int fdatasync(int file) {
    NEXT(fdatasync);
    return fails("fsync", is_file_below(file)) ? -1 : next(file);
}
int ftruncate(int file, off_t length) {
    NEXT(ftruncate);
    return fails("ftruncate", is_file_below(file)) ? -1 : next(file, length);
}
int ftruncate64(int file, off64_t length) {
    NEXT(ftruncate64);
    return fails("ftruncate", is_file_below(file)) ? -1 : next(file, length);
}
int rename(const char *from, const char *to) {
    NEXT(rename);
    return fails("rename", is_below(to)) ? -1 : next(from, to);
}
int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    NEXT(renameat);
    return fails("rename", is_path_below(to_folder, to)) ? -1 : next(from_folder, from, to_folder, to);
}
int mkdir(const char *path, mode_t mode) {
    NEXT(mkdir);
    return fails("mkdir", is_below(path)) ? -1 : next(path, mode);
}
int mkdirat(int folder, const char *path, mode_t mode) {
    NEXT(mkdirat);
    return fails("mkdir", is_path_below(folder, path)) ? -1 : next(folder, path, mode);
}

// renameat2 has no function of its own here.
static long on_system_call(long number, const long a[6]) {
    if (number == SYS_renameat2 && fails("rename", is_path_below((int)a[2], (const char *)a[3]))) return -1;
    return next_system_call(number, a);
}

#define OPEN(name, first, pass, concerns) \
    int name(first const char *path, int flags, ...) { \
        NEXT(name); \
        mode_t mode = 0; \
        if (flags & (O_CREAT | __O_TMPFILE)) { \
            va_list list; \
            va_start(list, flags); \
            mode = va_arg(list, mode_t); \
            va_end(list); \
        } \
        return fails("open", concerns) ? -1 : next(pass path, flags, mode); \
    }
#define NOTHING
#define FOLDER int folder,
#define PASS_FOLDER folder,
OPEN(open, NOTHING, NOTHING, is_below(path))
OPEN(open64, NOTHING, NOTHING, is_below(path))
OPEN(openat, FOLDER, PASS_FOLDER, is_path_below(folder, path))
OPEN(openat64, FOLDER, PASS_FOLDER, is_path_below(folder, path))

// A lock is always given back: the kernel has nothing to refuse there, only a process may die at it. A fault that falls on such a
// call meets the next one that may be refused.
static atomic_int is_put_off;
static int fails_locking(int file, int command, void *argument) {
    int is_release = error != 0 && (command == F_SETLK || command == F_SETLKW) && argument
        && ((struct flock *)argument)->l_type == F_UNLCK;
    int concerns = is_file_below(file);
    int is_due = fails("fcntl", concerns) || (concerns && atomic_exchange(&is_put_off, 0));
    if (is_due && is_release) atomic_store(&is_put_off, 1);
    if (is_due && !is_release) errno = (int)error;
    return is_due && !is_release;
}

#define FCNTL(name) \
    int name(int file, int command, ...) { \
        NEXT(name); \
        va_list list; \
        va_start(list, command); \
        void *argument = va_arg(list, void *); \
        va_end(list); \
        return fails_locking(file, command, argument) ? -1 : next(file, command, argument); \
    }
FCNTL(fcntl)
FCNTL(fcntl64)
