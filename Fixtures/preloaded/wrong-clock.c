/* The time of day as a clock shows it that is wrong by so many years: another number of YEARS at each look. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "day.h"

static long error(void) {
    static int looks;
    const char *years = getenv("YEARS");
    if (years == NULL) return 0;
    int count = 1;
    for (const char *at = years; *at; at++) count += *at == ',';
    int wanted = (__atomic_fetch_add(&looks, 1, __ATOMIC_RELAXED) & 0xffff) % count;
    for (; wanted > 0; years++) wanted -= *years == ',';
    return strtol(years, NULL, 10) * 31557600L;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += error();
    return result;
}
