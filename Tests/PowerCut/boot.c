// Another boot id for a program (LD_PRELOAD): opening the kernel's boot id opens the file named by $BOOT_ID instead. Recordings
// are made with it, so that the runs after a simulated power cut see a new boot.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FILE *fopen(const char *path, const char *mode) {
    static FILE *(*original)(const char *, const char *);
    if (original == NULL) *(void **)&original = dlsym(RTLD_NEXT, "fopen");
    const char *other = getenv("BOOT_ID");
    if (other != NULL && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0) path = other;
    return original(path, mode);
}
