/* Writes to the file WRITTEN as soon as a copy has taken its place in the library. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "system-call.h"

static long on_system_call(long number, const long a[6]) {
    long result = next_system_call(number, a);
    const char *written = getenv("WRITTEN");
    if (number == SYS_renameat2 && written && strstr((const char *)a[1], "/work/")) {
        FILE *file = fopen(written, "r+");
        if (file) { fputs("mine", file); fclose(file); }
    }
    return result;
}
