/* A filesystem that keeps no locks. */
#include <errno.h>
int flock(int descriptor, int operation) { errno = ENOLCK; return -1; }
