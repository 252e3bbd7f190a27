/* What else tells the time of day, by the clock_gettime of the library that includes this. */
#include <sys/time.h>
#include <time.h>

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
