#ifndef BOOKSYNC_CLIBXML2_SHIM_H
#define BOOKSYNC_CLIBXML2_SHIM_H

// libxml2's headers would pull in ICU's, which clash with the ones Foundation brings.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/HTMLparser.h>
#include <libxml/xmlwriter.h>

// Converts the encodings that documents come in; part of the C library.
#include <iconv.h>

// xmlFree is a mutable global function pointer, which Swift 6 does not let through.
static inline void booksync_xml_free(void *pointer) { xmlFree(pointer); }

#endif
