/* Reads scripts. */
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const action_words[] = {
#define ACTION(NAME, word, who) word,
#include "script_actions.def"
#undef ACTION
};

static const struct {
	const char *word;
	int64_t usual;
} keys[] = {
#define KEY(NAME, word, usual) { word, usual },
#include "script_keys.def"
#undef KEY
};

static void fail(const char *what, const char *word)
{
	fprintf(stderr, "script: %s: %s\n", what, word);
	exit(90);
}

static void *grown(void *array, size_t count, size_t size)
{
	if (count & (count - 1))
		return array;
	array = realloc(array, (count ? 2 * count : 1) * size);
	if (!array)
		fail("no memory", "");
	return array;
}

static struct script_section *add_section(struct script *script, const char *name)
{
	struct script_section *section;

	script->sections = grown(script->sections, script->count, sizeof(*script->sections));
	section = &script->sections[script->count++];
	memset(section, 0, sizeof(*section));
	snprintf(section->name, sizeof(section->name), "%s", name);
	return section;
}

static void read_pair(struct script_line *line, char *word, char *equals)
{
	*equals = '\0';
	if (!strcmp(word, "api") || !strcmp(word, "inner")) {
		*(word[0] == 'a' ? &line->api : &line->inner) = strdup(equals + 1);
		return;
	}
	for (size_t i = 0; i < KEY_COUNT; i++)
		if (!strcmp(keys[i].word, word)) {
			line->values[i] = (int64_t)strtoull(equals + 1, NULL, 0);
			return;
		}
	fail("no such key", word);
}

static void read_line(struct script_section *section, char *text)
{
	char *state, *word = strtok_r(text, " \n", &state);
	struct script_line *line;
	size_t action = 0;

	if (!word)
		return;
	section->lines = grown(section->lines, section->count, sizeof(*section->lines));
	line = &section->lines[section->count++];
	memset(line, 0, sizeof(*line));
	line->text = "";
	while (action < ACTION_COUNT && strcmp(action_words[action], word))
		action++;
	if (action == ACTION_COUNT)
		fail("no such action", word);
	line->action = (enum script_action)action;
	for (size_t i = 0; i < KEY_COUNT; i++)
		line->values[i] = keys[i].usual;
	while ((word = strtok_r(NULL, " \n", &state))) {
		char *equals = strchr(word, '=');

		if (equals)
			read_pair(line, word, equals);
		else
			line->text = strdup(word);
	}
}

static void match_repeats(struct script_section *section)
{
	size_t open[16], depth = 0;

	for (size_t i = 0; i < section->count; i++) {
		if (section->lines[i].action == ACTION_REPEAT) {
			if (depth == 16)
				fail("repeats too deep", section->name);
			open[depth++] = i;
		} else if (section->lines[i].action == ACTION_END) {
			if (!depth)
				fail("end without repeat", section->name);
			section->lines[i].partner = open[--depth];
			section->lines[open[depth]].partner = i;
		}
	}
	if (depth)
		fail("repeat without end", section->name);
}

void script_read(struct script *script, const char *path)
{
	struct script_section *section;
	char *text = NULL;
	size_t size = 0;
	FILE *file = fopen(path, "re");

	if (!file)
		fail("cannot be read", path);
	memset(script, 0, sizeof(*script));
	section = add_section(script, "main");
	while (getline(&text, &size, file) > 0) {
		char name[32];

		if (text[0] == '#' || !strncmp(text, "cupti ", 6))
			continue;
		if (sscanf(text, "thread %31s", name) == 1)
			section = add_section(script, name);
		else
			read_line(section, text);
	}
	free(text);
	fclose(file);
	for (size_t i = 0; i < script->count; i++)
		match_repeats(&script->sections[i]);
}

const struct script_section *script_find(const struct script *script, const char *name)
{
	for (size_t i = 0; i < script->count; i++)
		if (!strcmp(script->sections[i].name, name))
			return &script->sections[i];
	fail("no such section", name);
	return NULL;
}
