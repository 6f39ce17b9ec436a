#include "fmt/filter/frame_filter.h"

#include <stdio.h>
#include <string.h>

#include "base/text/path.h"

#define PART_MAX 512u
#define REGEX "regex:"

static int parse_part(struct frame_filter *ret, enum frame_part part, const char *text, size_t size, int is_regex, char *why,
		      size_t why_size)
{
	int has_own = size >= strlen(REGEX) && strncmp(text, REGEX, strlen(REGEX)) == 0;
	char copy[PART_MAX + sizeof(REGEX)];

	if (!size)
		return 0;
	if (size >= PART_MAX) {
		snprintf(why, why_size, "a part of it is longer than %u bytes", PART_MAX - 1);
		return -1;
	}
	snprintf(copy, sizeof(copy), "%s%.*s", is_regex && !has_own ? REGEX : "", (int)size, text);
	ret->is_given[part] = 1;
	if (name_pattern_parse(&ret->parts[part], copy, why, why_size) == 0)
		return 0;
	ret->is_given[part] = 0;
	return -1;
}

int frame_filter_parse(struct frame_filter *ret, const char *text, char *why, size_t why_size)
{
	int is_regex = strncmp(text, REGEX, strlen(REGEX)) == 0, r = 0;
	unsigned part;
	size_t size;

	memset(ret, 0, sizeof(*ret));
	text += is_regex ? strlen(REGEX) : 0;
	for (part = 0; part < FRAME_PARTS && r == 0; part++) {
		size = part + 1 < FRAME_PARTS ? strcspn(text, "@") : strlen(text);
		r = parse_part(ret, (enum frame_part)part, text, size, is_regex, why, why_size);
		text += size + (text[size] == '@');
	}
	if (r == 0 && !ret->is_given[FRAME_MODULE] && !ret->is_given[FRAME_FILE] && !ret->is_given[FRAME_FUNCTION]) {
		snprintf(why, why_size, "it is MODULE@FILE@FUNCTION, of which two may be empty");
		r = -1;
	}
	if (r < 0)
		frame_filter_release(ret);
	return r;
}

/* libtorch.so.2, libtorch.so, libtorch; train.py, train. */
static int module_matches(const struct name_pattern *p, const char *module)
{
	char name[PART_MAX];
	char *dot;

	snprintf(name, sizeof(name), "%s", path_name(module));
	while (!name_pattern_matches(p, name)) {
		dot = strrchr(name, '.');
		if (!dot || dot == name)
			return 0;
		*dot = '\0';
	}
	return 1;
}

int frame_filter_matches(const struct frame_filter *f, const char *module, const char *file, const char *function)
{
	const char *texts[FRAME_PARTS] = { module, file, function };

	for (unsigned i = 0; i < FRAME_PARTS; i++) {
		const char *text = texts[i];

		if (!f->is_given[i])
			continue;
		if (!text || !*text)
			return 0;
		if (name_pattern_matches(&f->parts[i], text) ||
		    (i != FRAME_FUNCTION && name_pattern_matches(&f->parts[i], path_name(text))))
			continue;
		if (i != FRAME_MODULE || !module_matches(&f->parts[i], text))
			return 0;
	}
	return 1;
}

void frame_filter_release(struct frame_filter *f)
{
	for (unsigned i = 0; i < FRAME_PARTS; i++)
		if (f->is_given[i])
			name_pattern_release(&f->parts[i]);
	memset(f, 0, sizeof(*f));
}
