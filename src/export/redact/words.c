#include "export/redact/words.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "base/sort.h"

#define LONG_WORD 6 /* is found within other words, too */
#define UUID_LENGTH 36
#define MAC_LENGTH 17

uint64_t redact_hash(const char *text, size_t len)
{
	return XXH3_64bits(text, len);
}

/* Names that many have. */
static bool is_common(const char *text, size_t len)
{
	/* clang-format off */
	static const char *const words[] = { "root", "user", "users", "home", "admin", "ubuntu", "debian", "centos", "nobody", "test", "guest", "docker",
					     "runner", "jovyan", "main", "cuda", "localhost", "localhost.localdomain", "127.0.0.1" };
	/* clang-format on */

	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (strlen(words[i]) == len && strncmp(words[i], text, len) == 0)
			return true;
	return len < 2;
}

bool private_words_has(const struct private_words *w, const char *text, size_t len)
{
	return idmap_get(&w->known, redact_hash(text, len)) != IDMAP_NONE;
}

int private_words_add(struct private_words *w, enum word_kind kind, const char *text, size_t len)
{
	char *copy;

	if (is_common(text, len) || len > PRIVATE_MOST || private_words_has(w, text, len))
		return 0;
	copy = strndup(text, len);
	if (!copy || !LIST_ROOM(w->items, w->count) || idmap_put(&w->known, redact_hash(text, len), 1) < 0) {
		free(copy);
		return -ENOMEM;
	}
	w->items[w->count++] = (struct private_word){ .text = copy, .len = len, .kind = kind, .number = ++w->numbers[kind] };
	w->is_sorted = false;
	return 0;
}

void private_words_release(struct private_words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->items[i].text);
	free(w->items);
	idmap_release(&w->known);
	idmap_release(&w->addresses);
	idmap_release(&w->machines);
	idmap_release(&w->uuids);
}

static bool is_word_character(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool begins_with(const char *text, size_t len, const struct private_word *word)
{
	return word->len <= len && memcmp(text, word->text, word->len) == 0;
}

/* Words go before those that begin with them. */
static int compare_words(const void *a, const void *b)
{
	const struct private_word *one = a, *other = b;
	int order = memcmp(one->text, other->text, one->len < other->len ? one->len : other->len);

	return order ? order : one->len < other->len ? -1 : one->len > other->len;
}

static void sort_words(struct private_words *w)
{
	size_t at = 0;

	sort_items(w->items, w->count, sizeof(*w->items), compare_words);
	for (unsigned byte = 0; byte < 257; byte++) {
		while (at < w->count && (unsigned char)w->items[at].text[0] < byte)
			at++;
		w->first[byte] = (uint32_t)at;
	}
	for (uint32_t i = 0; i < w->count; i++) {
		struct private_word *word = &w->items[i];

		for (word->shorter = i; word->shorter && !begins_with(word->text, word->len, &w->items[word->shorter - 1]);)
			word->shorter = w->items[word->shorter - 1].shorter;
	}
	w->is_sorted = true;
}

/* Whatever the text begins with, the last word that does not come behind it begins with, too. */
const struct private_word *private_words_find(struct private_words *w, const char *text, size_t left)
{
	const struct private_word wanted = { .text = (char *)text, .len = left };
	uint32_t from, to, middle;

	if (!w->is_sorted)
		sort_words(w);
	if (!left)
		return NULL;
	for (from = w->first[(unsigned char)*text], to = w->first[(unsigned char)*text + 1]; from < to;) {
		middle = from + (to - from) / 2;
		if (compare_words(&w->items[middle], &wanted) <= 0)
			from = middle + 1;
		else
			to = middle;
	}
	while (from && !begins_with(text, left, &w->items[from - 1]))
		from = w->items[from - 1].shorter;
	return from ? &w->items[from - 1] : NULL;
}

/* The longest that stands there. */
static const struct private_word *word_at(struct private_words *w, const char *text, size_t len, size_t at)
{
	const struct private_word *word = private_words_find(w, text + at, len - at);

	while (word && word->len < LONG_WORD &&
	       ((at > 0 && is_word_character(text[at - 1])) || (at + word->len < len && is_word_character(text[at + word->len]))))
		word = word->shorter ? &w->items[word->shorter - 1] : NULL;
	return word;
}

/* x: a hexadecimal digit; anything else: itself. */
static bool has_form(const char *text, size_t len, const char *form)
{
	for (size_t i = 0; form[i]; i++)
		if (i >= len || (form[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != form[i]))
			return false;
	return true;
}

static uint32_t number_word_hash(struct idmap *map, const char *text, size_t len)
{
	bool ignored;

	return idmap_number(map, redact_hash(text, len), &ignored);
}

static size_t replace_uuid(struct private_words *w, const char *text, size_t left, struct buf *ret)
{
	if (!has_form(text, left, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"))
		return 0;
	buf_printf(ret, "00000000-0000-0000-0000-%012x", number_word_hash(&w->uuids, text, UUID_LENGTH));
	return UUID_LENGTH;
}

static size_t replace_mac(struct private_words *w, const char *text, size_t left, struct buf *ret)
{
	uint32_t number;

	if (!has_form(text, left, "xx:xx:xx:xx:xx:xx") ||
	    (left > MAC_LENGTH && (isxdigit((unsigned char)text[MAC_LENGTH]) || text[MAC_LENGTH] == ':')))
		return 0;
	number = number_word_hash(&w->machines, text, MAC_LENGTH);
	buf_printf(ret, "00:00:00:%02x:%02x:%02x", number >> 16 & 0xff, number >> 8 & 0xff, number & 0xff);
	return MAC_LENGTH;
}

/* Not the machine itself, and nothing that other characters of names or numbers surround. */
static size_t replace_address(struct private_words *w, const char *text, size_t left, struct buf *ret)
{
	size_t len = 0, colons = 0;
	char address[INET6_ADDRSTRLEN];
	unsigned char parsed[sizeof(struct in6_addr)];
	bool is_six;

	while (len < left && len < sizeof(address) && (isxdigit((unsigned char)text[len]) || text[len] == '.' || text[len] == ':'))
		colons += text[len++] == ':';
	is_six = colons > 1;
	if (!is_six) /* a port may follow */
		len = strspn(text, "0123456789.") < len ? strspn(text, "0123456789.") : len;
	while (len > 0 && (text[len - 1] == '.' || (text[len - 1] == ':' && !is_six)))
		len--;
	if (len < 4 || len >= sizeof(address) || (len < left && is_word_character(text[len])))
		return 0;
	memcpy(address, text, len);
	address[len] = '\0';
	if (inet_pton(is_six ? AF_INET6 : AF_INET, address, parsed) != 1 || strncmp(address, "127.", 4) == 0 ||
	    strcmp(address, "0.0.0.0") == 0)
		return 0;
	/* Namespaces of C++ are made of the same characters. */
	if (is_six && !isdigit((unsigned char)text[0]) && strncasecmp(text, "fe80", 4) != 0 && strncasecmp(text, "fd", 2) != 0)
		return 0;
	buf_printf(ret, "ip-%u", number_word_hash(&w->addresses, address, len));
	return len;
}

/* What begins there by its form; the length of it, 0 for nothing. */
static size_t replace_form(struct private_words *w, const char *text, size_t left, char before, struct buf *ret)
{
	size_t taken = 0;

	if (is_word_character(before) || !(isxdigit((unsigned char)text[0]) || text[0] == ':'))
		return 0;
	taken = replace_uuid(w, text, left, ret);
	if (!taken && before != ':')
		taken = replace_mac(w, text, left, ret);
	if (!taken && !strchr(".-:", before))
		taken = replace_address(w, text, left, ret);
	return taken;
}

static size_t replace_word(struct private_words *w, const char *text, size_t len, size_t at, struct buf *ret)
{
	static const char *const names[] = { [WORD_HOST] = "host", [WORD_USER] = "user" };
	const struct private_word *word = word_at(w, text, len, at);

	if (!word)
		return 0;
	buf_printf(ret, "%s-%u", names[word->kind], word->number);
	return word->len;
}

int private_words_replace(struct private_words *w, const char *text, size_t len, struct buf *ret)
{
	CLEANUP(buf_release) struct buf instead = BUF_INIT;
	size_t plain = 0, taken;

	for (size_t at = 0; at < len; at += taken ? taken : 1) {
		taken = replace_form(w, text + at, len - at, at ? text[at - 1] : ' ', &instead);
		if (!taken)
			taken = replace_word(w, text, len, at, &instead);
		if (!taken)
			continue;
		TRY(buf_append(ret, text + plain, at - plain));
		TRY(buf_append(ret, instead.data, instead.len));
		buf_clear(&instead);
		plain = at + taken;
	}
	return buf_append(ret, text + plain, len - plain);
}
