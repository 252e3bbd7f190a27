/* Gives the library that includes this every call of syscall(2) with its arguments: it defines `on_system_call`, and goes on with
   `next_system_call`. */
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>

static long on_system_call(long number, const long a[6]);

static long next_system_call(long number, const long a[6]) {
    static long (*next)(long, ...);
    if (!next) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

long syscall(long number, ...) {
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    return on_system_call(number, a);
}
