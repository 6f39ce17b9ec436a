#include "base/text/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define WORD_MAX 80

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned least = a < b ? a : b;

	return least < c ? least : c;
}

static int same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

unsigned edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned rows[3][WORD_MAX + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2], *spare;
	size_t i, j;

	if (a_len > WORD_MAX || b_len > WORD_MAX)
		return WORD_MAX * 2;
	for (j = 0; j <= b_len; j++)
		last[j] = (unsigned)j;
	for (i = 1; i <= a_len; i++) {
		row[0] = (unsigned)i;
		for (j = 1; j <= b_len; j++) {
			row[j] = min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + !same_letter(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]) &&
			    before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		spare = before;
		before = last;
		last = row;
		row = spare;
	}
	return last[b_len];
}

void nearest_begin(struct nearest *n, const char *word)
{
	n->word = word;
	n->best[0] = '\0';
	n->cost = ~0u;
}

/* A word that begins a name is more likely an abbreviation of it than a misspelling
 * of another: whole parts left out ("gpu-metrics" for "gpu-metrics-devices") cost
 * nothing, letters missing at the end a third. */
static int is_word_letter(char c)
{
	return isalnum((unsigned char)c);
}

/* Whether the word stands in the name between its parts: "kern_sum" in "cuda_gpu_kern_sum". */
static int has_parts(const char *word, size_t word_len, const char *name, size_t len)
{
	for (size_t i = 0; word_len >= 3 && i + word_len <= len; i++)
		if (strncasecmp(word, name + i, word_len) == 0 && (i == 0 || !is_word_letter(name[i - 1])) &&
		    (i + word_len == len || !is_word_letter(name[i + word_len])))
			return 1;
	return 0;
}

static unsigned cost_of(const char *word, const char *name, size_t len)
{
	size_t word_len = strlen(word);

	if (word_len >= 2 && word_len < len && strncasecmp(word, name, word_len) == 0)
		return name[word_len] == '-' ? 0 : (unsigned)(len - word_len + 2) / 3;
	/* One letter that is wrong is likelier; of several such names the one offered first is as good as any. */
	if (word_len < len && has_parts(word, word_len, name, len))
		return 2;
	return edit_distance(word, word_len, name, len);
}

void nearest_offer(struct nearest *n, const char *name, size_t len)
{
	unsigned cost = cost_of(n->word, name, len);

	if (!len || cost >= n->cost || len >= sizeof(n->best))
		return;
	n->cost = cost;
	memcpy(n->best, name, len);
	n->best[len] = '\0';
}

const char *nearest_hint(const struct nearest *n, const char *prefix, char *buffer, size_t size)
{
	size_t word_len = strlen(n->word), best_len = strlen(n->best);
	size_t longest = word_len > best_len ? word_len : best_len;

	/* With as many edits as letters the words have nothing in common. */
	if (!best_len || n->cost >= longest)
		return "";
	snprintf(buffer, size, " Did you mean %s%s?", prefix, n->best);
	return buffer;
}
