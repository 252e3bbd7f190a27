#ifndef BOOKSYNC_CRENAME_SHIM_H
#define BOOKSYNC_CRENAME_SHIM_H

// A rename that never overwrites. glibc hides it behind _GNU_SOURCE, which Swift's importer does not set; macOS has it
// under another name.
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
static inline int booksync_rename_exclusively(int from, const char *old_path, int to, const char *new_path) {
    return (int)syscall(SYS_renameat2, from, old_path, to, new_path, 1 /* RENAME_NOREPLACE */);
}
#else
#include <stdio.h>
static inline int booksync_rename_exclusively(int from, const char *old_path, int to, const char *new_path) {
    return renameatx_np(from, old_path, to, new_path, RENAME_EXCL);
}
#endif

#endif
