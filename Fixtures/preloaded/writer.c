/* Writes to the file WRITTEN as soon as a copy has taken its place in the library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

long syscall(long number, ...) {
    static long (*next)(long, ...);
    if (!next) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    long result = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    const char *written = getenv("WRITTEN");
    if (number == SYS_renameat2 && written && strstr((const char *)a[1], "/work/")) {
        FILE *file = fopen(written, "r+");
        if (file) { fputs("mine", file); fclose(file); }
    }
    return result;
}
