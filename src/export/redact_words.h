/* Names that are replaced wherever they stand, and what has the form of an address or an id. Private to the redactor. */
#ifndef SONDE_EXPORT_REDACT_WORDS_H
#define SONDE_EXPORT_REDACT_WORDS_H

#include "base/buf.h"
#include "base/idmap.h"

enum word_kind { WORD_HOST, WORD_USER, WORD_KINDS };

struct private_word {
	char *text;
	size_t len;
	enum word_kind kind;
	uint32_t number;
};

struct private_words {
	struct private_word *items;
	size_t count;
	uint32_t numbers[WORD_KINDS];
	struct idmap addresses, machines, uuids; /* IP, MAC */
};

uint64_t redact_hash(const char *text, size_t len);
int private_words_add(struct private_words *w, enum word_kind kind, const char *text, size_t len);
void private_words_release(struct private_words *w);
/* The text with all of them replaced, behind what is in ret. */
int private_words_replace(struct private_words *w, const char *text, size_t len, struct buf *ret);

#endif
