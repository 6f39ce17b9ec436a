/* Names with their numbers folded: layer_12_ffn and layer_7_ffn are both layer_#_ffn. */
#ifndef SONDE_QUERY_FUNCTIONS_FOLD_H
#define SONDE_QUERY_FUNCTIONS_FOLD_H

#include <stddef.h>
#include <stdint.h>

struct query;

/* Ids asked about last: names repeat. Zeroes to begin with. */
struct fold_memo {
	struct {
		int64_t id;
		int64_t folded;
	} entries[1024];
};

/* Writes at most len characters, in place if need be; returns how many. */
size_t fold_text(const char *text, size_t len, char *ret);
/* Replaces a string id by the one of its folded text; 0 where there is no text. -ENOMEM. */
int fold_id(struct query *q, int64_t *id);
int fold_id_again(struct query *q, struct fold_memo *memo, int64_t *id);

#endif
