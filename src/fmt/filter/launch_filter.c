#include "fmt/filter/launch_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEXT 4096u

static int is_digits(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

int id_pattern_parse(struct id_pattern *ret, const char *text, char *why, size_t why_size)
{
	memset(ret, 0, sizeof(*ret));
	ret->is_any = !*text;
	ret->is_number = is_digits(text) && strlen(text) < 20;
	if (ret->is_number)
		ret->number = strtoull(text, NULL, 10);
	if (ret->is_any || ret->is_number)
		return 0;
	return name_pattern_regex(&ret->pattern, text, NAME_MATCH_WHOLE, why, why_size);
}

int id_pattern_matches(const struct id_pattern *p, uint64_t id, const char *name)
{
	char digits[24];

	if (p->is_any || p->is_number)
		return p->is_any || p->number == id;
	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)id);
	return name_pattern_matches(&p->pattern, digits) || (name && name_pattern_matches(&p->pattern, name));
}

void id_pattern_release(struct id_pattern *p)
{
	name_pattern_release(&p->pattern);
}

/* Where the invocation begins: behind the last colon, or behind the last ":regex:". */
static char *split_invocation(char *text)
{
	char *colon = strrchr(text, ':'), *at = text, *found = NULL, *next;

	while ((next = strstr(at, ":regex:"))) {
		found = next;
		at = next + 1;
	}
	if (found) {
		*found = '\0';
		return found + strlen(":regex:");
	}
	if (!colon)
		return NULL;
	*colon = '\0';
	return colon + 1;
}

static int parse_fields(struct kernel_id *ret, char *text, char *why, size_t why_size)
{
	char *stream = strchr(text, ':'), *name = stream ? strchr(stream + 1, ':') : NULL, *invocation = NULL;
	int is_regex = name && strncmp(name + 1, "regex:", 6) == 0;

	if (name)
		invocation = split_invocation(name + 1 + (is_regex ? 6 : 0));
	if (!invocation) {
		snprintf(why, why_size, "it must be CONTEXT:STREAM:[regex:]NAME:INVOCATION, with all three colons");
		return -1;
	}
	*stream++ = '\0';
	*name++ = '\0';
	if (id_pattern_parse(&ret->context, text, why, why_size) < 0 || id_pattern_parse(&ret->stream, stream, why, why_size) < 0 ||
	    id_pattern_parse(&ret->invocation, invocation, why, why_size) < 0)
		return -1;
	if (ret->invocation.is_number && ret->invocation.number == 0) {
		snprintf(why, why_size, "invocations are counted from 1");
		return -1;
	}
	ret->has_name = *name != '\0';
	return ret->has_name ? name_pattern_parse(&ret->name, name, why, why_size) : 0;
}

int kernel_id_parse(struct kernel_id *ret, const char *text, char *why, size_t why_size)
{
	char copy[MOST_TEXT + 1];

	memset(ret, 0, sizeof(*ret));
	if (strlen(text) > MOST_TEXT) {
		snprintf(why, why_size, "it is too long");
		return -1;
	}
	strcpy(copy, text);
	if (parse_fields(ret, copy, why, why_size) == 0)
		return 0;
	kernel_id_release(ret);
	return -1;
}

void kernel_id_release(struct kernel_id *id)
{
	id_pattern_release(&id->context);
	id_pattern_release(&id->stream);
	id_pattern_release(&id->invocation);
	name_pattern_release(&id->name);
}

static int parse_yes(const char *text)
{
	static const char *const words[] = { "no", "off", "", "yes", "on" };

	for (int i = 0; i < 5; i++)
		if (strcmp(text, words[i]) == 0)
			return i > 2;
	return -1;
}

int range_numbers_parse(struct range_numbers *ret, const char *text, char *why, size_t why_size)
{
	char copy[MOST_TEXT + 1], *profiler, *nvtx;

	memset(ret, 0, sizeof(*ret));
	snprintf(copy, sizeof(copy), "%s", text);
	profiler = strchr(copy, ':');
	nvtx = profiler ? strchr(profiler + 1, ':') : NULL;
	if (!nvtx || strchr(nvtx + 1, ':')) {
		snprintf(why, why_size, "it must be [yes|no]:[INSTANCES]:[INSTANCES], with both colons");
		return -1;
	}
	*profiler++ = '\0';
	*nvtx++ = '\0';
	ret->restarts = parse_yes(copy);
	if (ret->restarts < 0) {
		snprintf(why, why_size, "'%.40s' is not yes or no", copy);
		return -1;
	}
	if (id_pattern_parse(&ret->profiler, profiler, why, why_size) == 0 && id_pattern_parse(&ret->nvtx, nvtx, why, why_size) == 0)
		return 0;
	range_numbers_release(ret);
	return -1;
}

void range_numbers_release(struct range_numbers *f)
{
	id_pattern_release(&f->profiler);
	id_pattern_release(&f->nvtx);
}

/* One expression of a list. */
struct process_part {
	enum process_choice choice;
	struct name_pattern name;
};

static int parse_process(struct process_part *ret, const char *text, char *why, size_t why_size)
{
	static const char *const words[] = { "", "exclude:", "exclude-tree:" };

	ret->choice = PROCESS_TAKEN;
	for (int i = 1; i < 3; i++)
		if (strncmp(text, words[i], strlen(words[i])) == 0)
			ret->choice = (enum process_choice)i;
	text += strlen(words[ret->choice]);
	if (!*text) {
		snprintf(why, why_size, "a process without a name");
		return -1;
	}
	return name_pattern_parse(&ret->name, text, why, why_size);
}

/* The next one, and what follows in *text; 0 at the end. */
static int next_process(const char **text, struct process_part *ret, char *why, size_t why_size)
{
	size_t size = strcspn(*text, ",");
	char part[MOST_TEXT + 1];

	if (!**text)
		return 0;
	if (size > MOST_TEXT) {
		snprintf(why, why_size, "it is too long");
		return -1;
	}
	memcpy(part, *text, size);
	part[size] = '\0';
	*text += size + ((*text)[size] != '\0');
	return parse_process(ret, part, why, why_size) < 0 ? -1 : 1;
}

int process_filter_check(const char *text, char *why, size_t why_size)
{
	struct process_part part;
	int r;

	while ((r = next_process(&text, &part, why, why_size)) > 0)
		name_pattern_release(&part.name);
	return r;
}

enum process_choice process_filter_choose(const char *text, const char *name, const char *other_name)
{
	enum process_choice otherwise = PROCESS_TAKEN;
	struct process_part part;
	char why[200];
	int matches;

	while (next_process(&text, &part, why, sizeof(why)) > 0) {
		matches = name_pattern_matches(&part.name, name) || (other_name && name_pattern_matches(&part.name, other_name));
		name_pattern_release(&part.name);
		if (matches)
			return part.choice;
		if (part.choice == PROCESS_TAKEN)
			otherwise = PROCESS_PASSED_OVER;
	}
	return otherwise;
}

uint64_t devices_parse(const char *text)
{
	uint64_t devices = 0, number;
	size_t size;

	for (;; text += size + 1) {
		size = strspn(text, "0123456789");
		if (!size || size > 2 || (text[size] && text[size] != ','))
			return 0;
		number = strtoull(text, NULL, 10);
		if (number >= DEVICES_MAX)
			return 0;
		devices |= UINT64_C(1) << number;
		if (!text[size])
			return devices;
	}
}
