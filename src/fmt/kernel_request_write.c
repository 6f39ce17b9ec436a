/* Only the command line writes requests: libsonde-cuda.so is without this. */
#include <errno.h>
#include <string.h>

#include "fmt/kernel_request.h"

static int put_request_text(FILE *file, const char *word, const char *text)
{
	if (strchr(text, '\n'))
		return -EINVAL;
	fprintf(file, "%s %s\n", word, text);
	return 0;
}

static int put_request_list(FILE *file, const char *word, const struct kernel_request_list *list)
{
	int r = 0;

	for (size_t i = 0; i < list->count && r == 0; i++)
		r = put_request_text(file, word, list->items[i]);
	return r;
}

static void put_choice(FILE *file, const struct kernel_request_word *w, int choice)
{
	const char *at = w->choices;

	while (choice-- > 0)
		at += strcspn(at, "|") + 1;
	fprintf(file, "%s %.*s\n", w->word, (int)strcspn(at, "|"), at);
}

static void put_bytes(FILE *file, const char *word, const struct kernel_request_bytes *bytes)
{
	if (!bytes->size)
		return;
	fprintf(file, "%s ", word);
	for (size_t i = 0; i < bytes->size; i++)
		fprintf(file, "%02x", bytes->data[i]);
	fputc('\n', file);
}

static int put_word(FILE *file, const struct kernel_request_word *w, const void *field)
{
	switch (w->kind) {
	case REQUEST_TEXT: return *(const char *const *)field ? put_request_text(file, w->word, *(const char *const *)field) : 0;
	case REQUEST_TEXTS:
	case REQUEST_LIST: return put_request_list(file, w->word, field);
	case REQUEST_INTEGER: fprintf(file, "%s %d\n", w->word, *(const int *)field); break;
	case REQUEST_NUMBER: fprintf(file, "%s %llu\n", w->word, (unsigned long long)*(const uint64_t *)field); break;
	case REQUEST_CHOICE: put_choice(file, w, *(const int *)field); break;
	case REQUEST_BYTES: put_bytes(file, w->word, field);
	}
	return 0;
}

/* Words of the request, or of a part. */
static int put_request_words(FILE *file, const void *base, int is_part)
{
	int r = 0;

	for (const struct kernel_request_word *w = kernel_request_words; w < kernel_request_words + kernel_request_word_count && r == 0;
	     w++)
		if (w->is_of_part == is_part)
			r = put_word(file, w, (const char *)base + w->offset);
	return r;
}

int kernel_request_write(FILE *file, const struct kernel_request *request)
{
	int r = put_request_words(file, request, 0);

	for (size_t i = 0; i < request->part_count && r == 0; i++) {
		fprintf(file, KERNEL_REQUEST_PART " %zu\n", i);
		r = put_request_words(file, &request->parts[i], 1);
	}
	return r == 0 && ferror(file) ? -EIO : r;
}
