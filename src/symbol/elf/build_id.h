/* Build-ids as texts: hexadecimal, as in reports and in the names of files. */
#ifndef SONDE_SYMBOL_ELF_BUILD_ID_H
#define SONDE_SYMBOL_ELF_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_LIMIT 64 /* bytes; longer ones are none */
#define BUILD_ID_TEXT_SIZE (2 * BUILD_ID_LIMIT + 1)

/* Its bytes; 0 when the text (which may be NULL) is none. `ret` has room for BUILD_ID_LIMIT. */
size_t build_id_from_text(const char *text, uint8_t *ret);
/* `ret` has room for BUILD_ID_TEXT_SIZE; empty for one that is too long. */
void build_id_to_text(const uint8_t *bytes, size_t size, char *ret);

#endif
