/* Also runs in the target: no memory of its own. */
#include "fmt/kernel_request.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

const struct kernel_request_word kernel_request_words[] = {
#define WORD(kind, word, field) { word, NULL, offsetof(struct kernel_request, field), REQUEST_##kind, 0 },
#define CHOICE(word, field, words) { word, words, offsetof(struct kernel_request, field), REQUEST_CHOICE, 0 },
#define PART_WORD(kind, word, field) { word, NULL, offsetof(struct kernel_wanted, field), REQUEST_##kind, 1 },
#include "fmt/kernel_request.def"
};
const size_t kernel_request_word_count = COUNT_OF(kernel_request_words);

struct reading {
	struct kernel_request *request;
	const char **room;
	size_t used, most;
};

/* No list is interrupted by another. */
static int take_item(struct reading *r, struct kernel_request_list *list, size_t most, const char *value)
{
	if (r->used == r->most || list->count == most || (list->count && list->items + list->count != r->room + r->used))
		return -1;
	if (!list->count)
		list->items = r->room + r->used;
	r->room[r->used++] = value;
	list->count++;
	return 0;
}

static int take_request_number(uint64_t *ret, const char *value)
{
	char *end;

	*ret = strtoull(value, &end, 10);
	return *value >= '0' && *value <= '9' && !*end ? 0 : -1;
}

static int take_integer(int *ret, const char *value)
{
	int is_negative = *value == '-';
	uint64_t number;

	if (take_request_number(&number, value + is_negative) < 0 || number > INT_MAX)
		return -1;
	*ret = is_negative ? -(int)number : (int)number;
	return 0;
}

static int take_choice(int *ret, const char *choices, const char *value)
{
	size_t size = strlen(value), len;

	for (*ret = 0;; ++*ret) {
		len = strcspn(choices, "|");
		if (len == size && memcmp(choices, value, size) == 0)
			return 0;
		if (!choices[len])
			return -1;
		choices += len + 1;
	}
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* In place. */
static int take_bytes(struct kernel_request_bytes *ret, char *value)
{
	size_t size = strlen(value) / 2;
	int high, low;

	if (value[2 * size])
		return -1;
	for (size_t i = 0; i < size; i++) {
		high = digit(value[2 * i]);
		low = digit(value[2 * i + 1]);
		if (high < 0 || low < 0)
			return -1;
		value[i] = (char)(high << 4 | low);
	}
	*ret = (struct kernel_request_bytes){ (const uint8_t *)value, size };
	return 0;
}

static int take_request_value(struct reading *r, const struct kernel_request_word *w, void *field, char *value)
{
	switch (w->kind) {
	case REQUEST_TEXT: *(const char **)field = value; return 0;
	case REQUEST_TEXTS: return take_item(r, field, KERNEL_REQUEST_TEXTS, value);
	case REQUEST_LIST: return take_item(r, field, KERNEL_REQUEST_LIST, value);
	case REQUEST_INTEGER: return take_integer(field, value);
	case REQUEST_NUMBER: return take_request_number(field, value);
	case REQUEST_CHOICE: return take_choice(field, w->choices, value);
	case REQUEST_BYTES: return take_bytes(field, value);
	}
	return -1;
}

static int begin_part(struct kernel_request *r, const char *value)
{
	uint64_t number;

	if (take_request_number(&number, value) < 0 || number != r->part_count || number == KERNEL_REQUEST_PARTS)
		return -1;
	r->part_count++;
	return 0;
}

static int take_request_line(struct reading *r, const char *word, char *value)
{
	struct kernel_request *request = r->request;
	char *base;

	if (strcmp(word, KERNEL_REQUEST_PART) == 0)
		return begin_part(request, value);
	for (const struct kernel_request_word *w = kernel_request_words; w < kernel_request_words + kernel_request_word_count; w++) {
		if (strcmp(word, w->word) != 0)
			continue;
		if (w->is_of_part && !request->part_count)
			return -1;
		base = w->is_of_part ? (char *)&request->parts[request->part_count - 1] : (char *)request;
		return take_request_value(r, w, base + w->offset, value);
	}
	return -1;
}

int kernel_request_read(struct kernel_request *ret, char *text, const char **room, size_t room_count, char *why, size_t why_size)
{
	struct reading r = { ret, room, 0, room_count };
	char *line, *next, *value;

	memset(ret, 0, sizeof(*ret));
	for (line = text; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		value = strchr(line, ' ');
		if (value)
			*value++ = '\0';
		if (!value || take_request_line(&r, line, value) < 0) {
			snprintf(why, why_size, "a request of another version of Sonde: '%.60s'", line);
			return -1;
		}
	}
	return 0;
}

size_t kernel_request_metrics_before(const struct kernel_request *request, size_t part)
{
	size_t count = 0;

	for (size_t i = 0; i < part; i++)
		count += request->parts[i].metrics.count;
	return count;
}
