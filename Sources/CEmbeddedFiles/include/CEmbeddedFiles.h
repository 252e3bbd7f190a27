#pragma once
#include <stddef.h>

/// A file of Sources that is embedded in the program. A Swift literal of 200 KB would take half a minute to compile.
struct embedded_file {
    const char *name;
    const unsigned char *bytes;
    size_t size;
};

/// Finds a file by its name without folders; NULL if there is none.
const struct embedded_file *embedded_file(const char *name);
