#ifndef BOOKSYNC_CFILESYSTEM_SHIM_H
#define BOOKSYNC_CFILESYSTEM_SHIM_H

// A rename that never overwrites (glibc hides it behind _GNU_SOURCE, which Swift's importer does not set; macOS has it
// under another name), and extended attributes (glibc's module map leaves them out; macOS asks for more arguments).
#include <sys/types.h>
#include <sys/xattr.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
static inline int booksync_rename_exclusively(int from, const char *old_path, int to, const char *new_path) {
    return (int)syscall(SYS_renameat2, from, old_path, to, new_path, 1 /* RENAME_NOREPLACE */);
}
static inline int booksync_set_attribute(int file, const char *name, const void *value, size_t size) {
    return fsetxattr(file, name, value, size, 0);
}
static inline ssize_t booksync_get_attribute(int file, const char *name, void *value, size_t size) {
    return fgetxattr(file, name, value, size);
}
static inline int booksync_remove_attribute(int file, const char *name) { return fremovexattr(file, name); }
// Begins to write what was written to the file, and waits for nothing: sync_file_range with SYNC_FILE_RANGE_WRITE. It promises nothing.
static inline void booksync_start_sync(int file) { (void)syscall(SYS_sync_file_range, file, 0L, 0L, 2); }
#else
#include <stdio.h>
static inline int booksync_rename_exclusively(int from, const char *old_path, int to, const char *new_path) {
    return renameatx_np(from, old_path, to, new_path, RENAME_EXCL);
}
static inline int booksync_set_attribute(int file, const char *name, const void *value, size_t size) {
    return fsetxattr(file, name, value, size, 0, 0);
}
static inline ssize_t booksync_get_attribute(int file, const char *name, void *value, size_t size) {
    return fgetxattr(file, name, value, size, 0, 0);
}
static inline int booksync_remove_attribute(int file, const char *name) { return fremovexattr(file, name, 0); }
static inline void booksync_start_sync(int file) { (void)file; }
#endif

#endif
