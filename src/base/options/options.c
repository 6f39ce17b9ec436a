#include "base/options/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text/nearest.h"
#include "base/options/store.h"

/* One walk over argv. */
struct walk {
	const struct option_table *table;
	int argc;
	char **argv;
	int at;
	void *fields;
	struct options_parsed *parsed;
	struct error *err;
};

static void *keep_owned(struct options_parsed *parsed, size_t count, size_t size)
{
	void **more = realloc(parsed->owned, (parsed->owned_count + 1) * sizeof(*more));
	void *memory;

	if (!more)
		return NULL;
	parsed->owned = more;
	memory = calloc(count, size);
	if (memory)
		parsed->owned[parsed->owned_count++] = memory;
	return memory;
}

void options_release(struct options_parsed *parsed)
{
	size_t i;

	for (i = 0; i < parsed->owned_count; i++)
		free(parsed->owned[i]);
	free(parsed->owned);
	*parsed = (struct options_parsed)OPTIONS_PARSED_INIT;
}

static bool has_option_name(const struct option_spec *spec, const char *name, size_t len)
{
	const char *aliases = spec->aliases, *piece;
	size_t piece_len;

	if (strlen(spec->name) == len && memcmp(spec->name, name, len) == 0)
		return true;
	while ((piece_len = option_next_value(&aliases, &piece)))
		if (piece_len == len && memcmp(piece, name, len) == 0)
			return true;
	return false;
}

const struct option_spec *options_find(const struct option_table *table, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < table->count; i++)
		if (has_option_name(&table->specs[i], name, len))
			return &table->specs[i];
	return NULL;
}

static bool is_option_prefix(const struct option_spec *spec, const char *name, size_t len)
{
	const char *aliases = spec->aliases, *piece;
	size_t piece_len;

	if (spec->flags & OPTION_HIDDEN || !len)
		return false;
	if (strncmp(spec->name, name, len) == 0)
		return true;
	while ((piece_len = option_next_value(&aliases, &piece)))
		if (piece_len > len && memcmp(piece, name, len) == 0)
			return true;
	return false;
}

static const struct option_spec *find_letter(const struct option_table *table, char letter)
{
	size_t i;

	for (i = 0; i < table->count; i++)
		if (letter && table->specs[i].letter == letter)
			return &table->specs[i];
	return NULL;
}

const struct option_use *options_find_use(const struct options_parsed *parsed, const char *name)
{
	size_t i;

	for (i = parsed->use_count; i > 0; i--)
		if (strcmp(parsed->uses[i - 1].spec->name, name) == 0)
			return &parsed->uses[i - 1];
	return NULL;
}

static int fail_options_memory(struct error *err)
{
	return error_set(err, ENOMEM, "Out of memory while reading the options.");
}

static int reserve_option_texts(struct walk *w, const struct option_spec *spec)
{
	struct option_texts *texts = (void *)((char *)w->fields + spec->offset);

	if (spec->type != OPTION_TEXTS || texts->items)
		return 0;
	/* Each use takes at least one word, so that many can come. */
	texts->items = keep_owned(w->parsed, (size_t)w->argc + 1, sizeof(*texts->items));
	return texts->items ? 0 : fail_options_memory(w->err);
}

static int use_option(struct walk *w, const struct option_spec *spec, const char *text)
{
	struct option_use *use = &w->parsed->uses[w->parsed->use_count++];
	struct option_value value = { NULL, 0, 0 };
	int r = option_read(spec, text, &value, w->err);

	use->spec = spec;
	use->value = text;
	if (r < 0 || spec->state != OPTION_BUILT)
		return r;
	r = reserve_option_texts(w, spec);
	if (r == 0)
		option_store(spec, &value, w->fields);
	return r;
}

/* Of a list the first piece counts: what is wrong with the others is said later. */
static bool is_value(const struct option_spec *spec, const char *word)
{
	size_t length = spec->flags & OPTION_COMMAS ? strcspn(word, ",") : strlen(word);

	return option_match(option_values(spec), word, length) >= 0;
}

/* The option's value is what follows it, if anything does. */
static int use_with_next(struct walk *w, const struct option_spec *spec)
{
	const char *next = w->at + 1 < w->argc ? w->argv[w->at + 1] : NULL;

	if (spec->bare && (!next || !is_value(spec, next)))
		return use_option(w, spec, spec->bare);
	if (spec->type == OPTION_BOOL && (!next || option_match("true|false", next, strlen(next)) < 0))
		return use_option(w, spec, "true");
	if (!next)
		return error_set(w->err, EINVAL, "--%s needs a value.", spec->name);
	w->at++;
	return use_option(w, spec, next);
}

static int unknown_long(struct walk *w, const char *name, size_t len)
{
	char word[96], hint[160];
	const char *aliases, *piece;
	struct nearest nearest;
	size_t i, piece_len;

	snprintf(word, sizeof(word), "%.*s", (int)len, name);
	nearest_begin(&nearest, word);
	nearest_offer(&nearest, "help", 4);
	for (i = 0; i < w->table->count; i++) {
		nearest_offer(&nearest, w->table->specs[i].name, strlen(w->table->specs[i].name));
		aliases = w->table->specs[i].aliases;
		while ((piece_len = option_next_value(&aliases, &piece)))
			nearest_offer(&nearest, piece, piece_len);
	}
	return error_set(w->err, EINVAL, "Unknown option --%s.%s", word, nearest_hint(&nearest, "--", hint, sizeof(hint)));
}

/* The option whose name begins so: there must be one, and one only. */
static int find_beginning(struct walk *w, const char *name, size_t len, const struct option_spec **ret)
{
	size_t i;

	*ret = NULL;
	for (i = 0; i < w->table->count; i++) {
		if (!is_option_prefix(&w->table->specs[i], name, len))
			continue;
		if (*ret)
			return error_set(w->err, EINVAL, "--%.*s may be --%s or --%s; write more of it.", (int)len, name, (*ret)->name,
					 w->table->specs[i].name);
		*ret = &w->table->specs[i];
	}
	return *ret ? 0 : unknown_long(w, name, len);
}

static int parse_long(struct walk *w, const char *name)
{
	const char *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct option_spec *spec = options_find(w->table, name, len);
	int r = 0;

	if (!spec && len == 4 && memcmp(name, "help", 4) == 0) {
		w->parsed->help = true;
		w->parsed->help_tag = equals ? equals + 1 : NULL;
		return 0;
	}
	if (!spec)
		r = find_beginning(w, name, len, &spec);
	if (r < 0)
		return r;
	return equals ? use_option(w, spec, equals + 1) : use_with_next(w, spec);
}

/* "-fo value" is "-f -o value". */
static bool is_bundle(struct walk *w, const struct option_spec *spec, const char *rest)
{
	return (spec->type == OPTION_BOOL || spec->bare) && !is_value(spec, rest) && find_letter(w->table, rest[0]);
}

/* "-o value", "-ovalue" or "-o=value". */
static int parse_letter(struct walk *w, const char *text)
{
	const struct option_spec *spec = find_letter(w->table, text[0]);

	if (!spec && text[0] == 'h' && !text[1]) {
		w->parsed->help = true;
		return 0;
	}
	if (!spec && options_find(w->table, text, strcspn(text, "=")))
		return error_set(w->err, EINVAL, "Unknown option -%s. Did you mean --%s?", text, text);
	if (!spec)
		return error_set(w->err, EINVAL, "Unknown option -%c; --help lists the options.", text[0]);
	if (!text[1])
		return use_with_next(w, spec);
	if (!is_bundle(w, spec, text + 1))
		return use_option(w, spec, text + 1 + (text[1] == '='));
	TRY(use_option(w, spec, spec->bare ? spec->bare : "true"));
	return parse_letter(w, text + 1);
}

static int apply_defaults(struct walk *w)
{
	struct option_value value = { NULL, 0, 0 };
	const struct option_spec *spec;
	size_t i;

	for (i = 0; i < w->table->count; i++) {
		spec = &w->table->specs[i];
		if (spec->state != OPTION_BUILT || !spec->initial)
			continue;
		TRY(option_read(spec, spec->initial, &value, w->err));
		option_store(spec, &value, w->fields);
	}
	return 0;
}

static int begin_option_walk(struct walk *w)
{
	size_t room = (size_t)w->argc + 1;

	/* Each letter of a word may be an option. */
	for (int i = 0; i < w->argc; i++)
		room += w->argv[i][0] == '-' && w->argv[i][1] != '-' ? strlen(w->argv[i]) : 0;
	w->parsed->uses = keep_owned(w->parsed, room, sizeof(*w->parsed->uses));
	w->parsed->words = keep_owned(w->parsed, room, sizeof(*w->parsed->words));
	if (!w->parsed->uses || !w->parsed->words)
		return fail_options_memory(w->err);
	return apply_defaults(w);
}

static void take_words(struct walk *w)
{
	for (; w->at < w->argc; w->at++)
		w->parsed->words[w->parsed->word_count++] = w->argv[w->at];
}

static int walk_options(struct walk *w, enum options_order order)
{
	const char *word;
	int r = 0;

	for (; r == 0 && w->at < w->argc && !w->parsed->help; w->at++) {
		word = w->argv[w->at];
		if (word[0] != '-' || !word[1]) {
			if (order == OPTIONS_THEN_WORDS)
				break;
			w->parsed->words[w->parsed->word_count++] = w->argv[w->at];
		} else if (strcmp(word, "--") == 0) {
			w->at++;
			break;
		} else if (word[1] == '-') {
			r = parse_long(w, word + 2);
		} else {
			r = parse_letter(w, word + 1);
		}
	}
	return r;
}

int options_parse(const struct option_table *table, enum options_order order, int argc, char **argv, void *fields,
		  struct options_parsed *ret, struct error *err)
{
	struct options_parsed parsed = OPTIONS_PARSED_INIT;
	struct walk w = { table, argc, argv, 0, fields, &parsed, err };
	int r = begin_option_walk(&w);

	if (r == 0)
		r = walk_options(&w, order);
	if (r < 0) {
		options_release(&parsed);
		return r;
	}
	if (!parsed.help)
		take_words(&w);
	*ret = parsed;
	return 0;
}
