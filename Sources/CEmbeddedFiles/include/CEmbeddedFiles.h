#pragma once
#include <stddef.h>

/// A file of Sources that is part of the program. As a literal of Swift's, one of 200 KB takes half a minute to compile.
struct embedded_file {
    const char *name;
    const unsigned char *bytes;
    size_t size;
};

/// By its name without folders; NULL when the program has no such file.
const struct embedded_file *embedded_file(const char *name);
