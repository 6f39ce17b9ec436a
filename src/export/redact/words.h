/* Names that are replaced wherever they stand, and what has the form of an address or an id. Private to the redactor. */
#ifndef SONDE_EXPORT_REDACT_WORDS_H
#define SONDE_EXPORT_REDACT_WORDS_H

#include "base/buf.h"
#include "base/idmap.h"

enum word_kind { WORD_HOST, WORD_USER, WORD_KINDS };

#define PRIVATE_MOST 4096 /* bytes of one; none that is longer is replaced */

struct private_word {
	char *text;
	size_t len;
	enum word_kind kind;
	uint32_t number;
	uint32_t shorter; /* once they are sorted: the longest that this one begins with, plus 1 */
};

struct private_words {
	struct private_word *items;
	size_t count;
	bool is_sorted;      /* by their bytes, as they are looked up */
	uint32_t first[257]; /* the first that begins with a byte, or with a larger one */
	uint32_t numbers[WORD_KINDS];
	struct idmap known, addresses, machines, uuids; /* hashes of the words; IP, MAC */
};

uint64_t redact_hash(const char *text, size_t len);
int private_words_add(struct private_words *w, enum word_kind kind, const char *text, size_t len);
bool private_words_has(const struct private_words *w, const char *text, size_t len);
void private_words_release(struct private_words *w);
/* The longest that stands at the beginning of a text; NULL: none does. */
const struct private_word *private_words_find(struct private_words *w, const char *text, size_t left);
/* The text with all of them replaced, behind what is in ret. */
int private_words_replace(struct private_words *w, const char *text, size_t len, struct buf *ret);

#endif
