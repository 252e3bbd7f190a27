#ifndef BOOKSYNC_CZLIB_SHIM_H
#define BOOKSYNC_CZLIB_SHIM_H

#include <zlib.h>

#endif
