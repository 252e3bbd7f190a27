/* The time of day as a clock shows it that is wrong by so many years: another number of YEARS at each look. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

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

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (now != NULL) *now = precise.tv_sec;
    return precise.tv_sec;
}
