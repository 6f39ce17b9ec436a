#include "kernel/source/compared_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/path.h"
#include "base/sort.h"

#define MOST_KEY 4096

static bool is_same_code(const struct kernel_source *a, const struct kernel_source *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->items[i].pc != b->items[i].pc || strcmp(a->items[i].function, b->items[i].function) != 0 ||
		    strcmp(a->items[i].sass, b->items[i].sass) != 0)
			return false;
	return true;
}

int kernel_source_mean(struct kernel_source *ret, const struct source_book *book, const int64_t *results, size_t count)
{
	size_t metrics = book->metric_count, added = 1;
	struct kernel_source other;
	int r = count ? kernel_source_of(ret, book, results[0]) : 0;

	if (!count)
		*ret = (struct kernel_source){ .book = book };
	for (size_t i = 1; r >= 0 && i < count; i++) {
		r = kernel_source_of(&other, book, results[i]);
		if (r < 0)
			break;
		if (is_same_code(ret, &other)) {
			for (size_t v = 0; v < ret->count * metrics; v++)
				ret->values[v] += other.values[v];
			added++;
		}
		kernel_source_release(&other);
	}
	if (r < 0) {
		if (count > 1)
			kernel_source_release(ret);
		return r;
	}
	for (size_t v = 0; v < ret->count * metrics; v++)
		ret->values[v] /= (double)added;
	return 0;
}

/* A file may lie elsewhere in the other report. */
static bool has_text(const struct source_book *b, const char *file)
{
	for (size_t i = 0; i < b->file_count; i++)
		if (b->files[i].text && !b->files[i].code && strcmp(path_name(b->files[i].name), path_name(file)) == 0)
			return true;
	return false;
}

/* An item by what makes it the same as another. */
struct known {
	char *key;
	size_t item;
};

struct naming {
	const struct source_book *other;
	bool is_instruction;
	bool is_ptx;
};

static const char *ptx_line(const struct source_book *b, const struct source_item *item, size_t *ret_len)
{
	const struct source_file *f = source_book_ptx(b, item->code, item->file);
	const char *at = f ? f->text : NULL, *end = f ? f->text + f->size : NULL;

	for (uint32_t line = 1; at && line < item->line; line++) {
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	*ret_len = at ? strcspn(at, "\n") : 0;
	return at;
}

static char *make_item_key(const struct naming *n, const struct source_book *b, const struct source_item *item)
{
	const char *text = NULL, *function = n->is_instruction ? item->function : "";
	char key[MOST_KEY], pc[16] = "";
	size_t len = 0;

	if (n->is_ptx)
		text = ptx_line(b, item, &len);
	else if (item->line && has_text(n->other, item->file))
		text = source_book_line(b, item->file, item->line, &len);
	while (len && (*text == ' ' || *text == '\t')) {
		text++;
		len--;
	}
	/* Without its text, an instruction is known by its place alone. */
	if (n->is_instruction && !*item->sass)
		snprintf(pc, sizeof(pc), "%u", item->pc);
	if (text)
		snprintf(key, sizeof(key), "%s\n%s\n%s\n%s\n%s\n%.*s", function, path_name(item->file), item->sass, pc, item->inlined,
			 (int)len, text);
	else
		snprintf(key, sizeof(key), "%s\n%s\n%s\n%s\n%s\n#%u", function, path_name(item->file), item->sass, pc, item->inlined,
			 item->line);
	return strdup(key);
}

static int compare_known_keys(const void *a, const void *b)
{
	const struct known *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : (x->item > y->item) - (x->item < y->item);
}

static void release_known_items(struct known *all, size_t count)
{
	for (size_t i = 0; all && i < count; i++)
		free(all[i].key);
	free(all);
}

/* In the order of their keys; NULL: no memory. Calls are part of a line's key where lines are told apart by them, not of an instruction's. */
static struct known *sort_known_lines(const struct kernel_source *s, const struct naming *n)
{
	struct known *all = calloc(s->count + 1, sizeof(*all));

	for (size_t i = 0; all && i < s->count; i++) {
		struct source_item item = s->items[i];

		if (n->is_instruction)
			item.inlined = "";
		all[i] = (struct known){ make_item_key(n, s->book, &item), i };
		if (all[i].key)
			continue;
		release_known_items(all, i);
		return NULL;
	}
	if (all)
		sort_items(all, s->count, sizeof(*all), compare_known_keys);
	return all;
}

static int match(struct kernel_source *now, const struct kernel_source *before, struct naming n)
{
	struct known *a, *b;

	now->before = before;
	n.other = before->book;
	a = sort_known_lines(now, &n);
	n.other = now->book;
	b = sort_known_lines(before, &n);
	for (size_t i = 0, k = 0; a && b && i < now->count && k < before->count;) {
		int order = strcmp(a[i].key, b[k].key);

		if (!order)
			now->items[a[i].item].before = &before->items[b[k].item];
		i += order <= 0;
		k += order >= 0;
	}
	release_known_items(a, now->count);
	release_known_items(b, before->count);
	return a && b ? 0 : -ENOMEM;
}

int kernel_source_match(struct kernel_source *now, const struct kernel_source *before, enum source_key key)
{
	return match(now, before, (struct naming){ .is_ptx = key == SOURCE_IN_PTX });
}

int kernel_source_match_instructions(struct kernel_source *now, const struct kernel_source *before)
{
	return match(now, before, (struct naming){ .is_instruction = true });
}
