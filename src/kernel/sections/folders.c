/* The folders of sections, sets and rules, read as a whole. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "kernel/sections/section.h"
#include "kernel/metrics/text_file.h"

struct loading {
	struct sections *sections;
	struct error *err;
};

const struct section *sections_find(const struct sections *s, const char *id)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcasecmp(s->items[i].id, id) == 0)
			return &s->items[i];
	return NULL;
}

const struct section_set *sections_find_set(const struct sections *s, const char *name)
{
	for (size_t i = 0; i < s->set_count; i++) {
		if (strcasecmp(s->sets[i].name, name) == 0)
			return &s->sets[i];
		for (size_t k = 0; k < s->sets[i].alias_count; k++)
			if (strcasecmp(s->sets[i].aliases[k], name) == 0)
				return &s->sets[i];
	}
	return NULL;
}

int section_in_set(const struct section *s, const char *set)
{
	for (size_t i = 0; i < s->set_count; i++)
		if (strcasecmp(s->sets[i], set) == 0)
			return 1;
	return 0;
}

static int add_section(void *context, const char *path)
{
	struct loading *l = context;
	struct sections *all = l->sections;
	char *text;
	size_t size;
	int r;

	if (!LIST_ROOM(all->items, all->count))
		return error_set(l->err, ENOMEM, "Not enough memory");
	TRY(text_file_read(path, &text, &size, l->err));
	r = section_parse(&all->items[all->count], path, text, size, l->err);
	free(text);
	if (r < 0)
		return r;
	if (sections_find(all, all->items[all->count].id))
		section_release(&all->items[all->count]);
	else
		all->count++;
	return 0;
}

static int add_set_file(void *context, const char *path)
{
	struct loading *l = context;
	struct sections *all = l->sections;
	char *text;
	size_t size;
	int r;

	if (!LIST_ROOM(all->sets, all->set_count))
		return error_set(l->err, ENOMEM, "Not enough memory");
	TRY(text_file_read(path, &text, &size, l->err));
	r = section_set_parse(&all->sets[all->set_count], path, text, size, l->err);
	free(text);
	if (r < 0)
		return r;
	if (sections_find_set(all, all->sets[all->set_count].name))
		section_set_release(&all->sets[all->set_count]);
	else
		all->set_count++;
	return 0;
}

static const struct written_rule *find_rule(const struct sections *s, const char *id)
{
	for (size_t i = 0; i < s->rule_count; i++)
		if (strcasecmp(s->rules[i].id, id) == 0)
			return &s->rules[i];
	return NULL;
}

static int add_rule(void *context, const char *path)
{
	struct loading *l = context;
	struct sections *all = l->sections;
	char *text;
	size_t size;
	int r;

	if (!LIST_ROOM(all->rules, all->rule_count))
		return error_set(l->err, ENOMEM, "Not enough memory");
	TRY(text_file_read(path, &text, &size, l->err));
	r = written_rule_parse(&all->rules[all->rule_count], path, text, size, l->err);
	free(text);
	if (r < 0)
		return r;
	if (find_rule(all, all->rules[all->rule_count].id))
		written_rule_release(&all->rules[all->rule_count]);
	else
		all->rule_count++;
	return 0;
}

static int compare_rules(const void *a, const void *b)
{
	const struct written_rule *x = a, *y = b;

	return x->order != y->order ? (x->order > y->order) - (x->order < y->order) : strcmp(x->id, y->id);
}

static int compare_sections(const void *a, const void *b)
{
	const struct section *x = a, *y = b;

	return x->order != y->order ? (x->order > y->order) - (x->order < y->order) : strcmp(x->id, y->id);
}

static int compare_sets(const void *a, const void *b)
{
	const struct section_set *x = a, *y = b;

	return x->order != y->order ? (x->order > y->order) - (x->order < y->order) : strcmp(x->name, y->name);
}

int sections_load(struct sections *ret, const char *const *folders, size_t folder_count, struct error *err)
{
	struct loading l = { ret, err };
	int r = 0;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; r >= 0 && i < folder_count; i++) {
		r = text_each_file(folders[i], ".section", add_section, &l);
		if (r == -ENOENT) {
			error_set(err, ENOENT, "The folder %s does not exist", folders[i]);
			break;
		}
		if (r >= 0)
			r = text_each_file(folders[i], ".set", add_set_file, &l);
		if (r >= 0)
			r = text_each_file(folders[i], ".rule", add_rule, &l);
	}
	if (r < 0) {
		sections_release(ret);
		return r;
	}
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_sections);
	if (ret->set_count)
		qsort(ret->sets, ret->set_count, sizeof(*ret->sets), compare_sets);
	if (ret->rule_count)
		qsort(ret->rules, ret->rule_count, sizeof(*ret->rules), compare_rules);
	return 0;
}

void sections_release(struct sections *s)
{
	for (size_t i = 0; i < s->count; i++)
		section_release(&s->items[i]);
	for (size_t i = 0; i < s->set_count; i++)
		section_set_release(&s->sets[i]);
	for (size_t i = 0; i < s->rule_count; i++)
		written_rule_release(&s->rules[i]);
	free(s->items);
	free(s->sets);
	free(s->rules);
	memset(s, 0, sizeof(*s));
}
