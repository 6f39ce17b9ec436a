/* Ranges of a report chosen by name, and steps found among them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text/nearest.h"
#include "base/sort.h"
#include "query/functions/fold.h"
#include "query/functions/group.h"
#include "query/engine/scope_internal.h"
#include "query/engine/scope_text.h"

/* What a name is known to be. */
enum { NAME_NEW, NAME_OTHER, NAME_MEANT };

#define FAMILIES_MAX 4096u
#define NEAREST_MAX 3

struct search {
	struct query *q;
	struct scope_ranges *found;
	uint8_t *names; /* NAME_* by string id */
	uint64_t name_limit;
	const struct range_filter *filter; /* NULL: steps */
	struct group_table families;       /* steps: by folded name and domain */
	struct fold_memo *memo;
	/* What comes nearest, when nothing was found. */
	int suggesting;
	struct {
		char text[160];
		unsigned cost;
	} nearest[NEAREST_MAX];
};

static const char *domain_name(struct query *q, const int64_t *track, size_t *ret_len)
{
	const int64_t *domain = NULL;

	if (track[TRACK_KIND] != TRACK_GENERIC)
		domain = index_find_last(&q->index.domains, track + TRACK_DOMAIN, 1);
	return domain && domain[DOMAIN_NAME] ? query_text(q, domain[DOMAIN_NAME], ret_len) : NULL;
}

/* Whether ranges of the track may be chosen at all. */
static int track_counts(const struct search *s, const int64_t *track)
{
	const char *domain;
	size_t len = 0;

	if (!track || (track[TRACK_KIND] != TRACK_NVTX_PUSHPOP && track[TRACK_KIND] != TRACK_NVTX_STARTEND &&
		       (track[TRACK_KIND] != TRACK_GENERIC || !track[TRACK_THREAD])))
		return 0;
	if (!s->filter || s->suggesting)
		return 1;
	domain = domain_name(s->q, track, &len);
	if (!s->filter->domain)
		return !domain;
	return pattern_matches(s->filter->domain, domain ? domain : "", len);
}

static int is_meant_name(struct search *s, int64_t name)
{
	const char *text;
	size_t len;

	if (name <= 0 || (uint64_t)name >= s->name_limit)
		return 0;
	if (s->names[name] == NAME_NEW) {
		text = query_text(s->q, name, &len);
		s->names[name] = text && pattern_matches(s->filter->name, text, len) ? NAME_MEANT : NAME_OTHER;
	}
	return s->names[name] == NAME_MEANT;
}

/* Ranges of the GPU's side of an annotation are not what a thread did. */
static int is_of_gpu(struct query *q, int64_t class)
{
	size_t len;
	const char *text = class ? query_text(q, class, &len) : NULL;

	return text && strncmp(text, "gpu_", 4) == 0;
}

static int add_scope_range(struct scope_ranges *list, const struct scope_range *range)
{
	if (!ARRAY_ROOM(list->ranges, list->count, list->cap, 1))
		return -ENOMEM;
	list->ranges[list->count++] = *range;
	return 0;
}

/* Families are numbered as they come; a name is of one in each domain. */
static int find_family(struct search *s, const int64_t *track, int64_t name, uint32_t *ret)
{
	const int64_t *domain = index_find_last(&s->q->index.domains, track + TRACK_DOMAIN, 1);
	int64_t key[REQUEST_MAX_KEYS] = { name, domain && track[TRACK_KIND] != TRACK_GENERIC ? domain[DOMAIN_NAME] : 0 };
	size_t found = 0;

	TRY(s->memo ? 0 : -ENOMEM);
	TRY(fold_id_again(s->q, s->memo, &key[0]));
	TRY(first_text_id(s->q, &key[1]));
	if (s->families.count < FAMILIES_MAX)
		TRY(group_table_find(&s->families, key, 0, &found));
	*ret = (uint32_t)found;
	return 0;
}

static int take_step(struct search *s, const int64_t *track, struct scope_range *range)
{
	struct name_number number;
	const char *text;
	size_t len;

	if (range->name <= 0 || (uint64_t)range->name >= s->name_limit || s->names[range->name] == NAME_OTHER)
		return 0;
	text = query_text(s->q, range->name, &len);
	if (!text || !name_number_find(text, len, &number)) {
		s->names[range->name] = NAME_OTHER;
		return 0;
	}
	range->number = number.value;
	TRY(find_family(s, track, range->name, &range->family));
	return add_scope_range(s->found, range);
}

static int already_named(const struct search *s, const char *text)
{
	for (unsigned i = 0; i < NEAREST_MAX; i++)
		if (strcmp(s->nearest[i].text, text) == 0)
			return 1;
	return 0;
}

static void suggest(struct search *s, const int64_t *track, int64_t name)
{
	const char *domain, *text;
	char whole[160];
	size_t len, domain_len = 0, at = NEAREST_MAX;
	unsigned cost;

	if (name <= 0 || (uint64_t)name >= s->name_limit || s->names[name] == NAME_MEANT)
		return;
	s->names[name] = NAME_MEANT;
	text = query_text(s->q, name, &len);
	if (!text)
		return;
	domain = domain_name(s->q, track, &domain_len);
	snprintf(whole, sizeof(whole), "%.*s%s%.*s", (int)(len < 80 ? len : 80), text, domain ? "@" : "",
		 domain ? (int)(domain_len < 60 ? domain_len : 60) : 0, domain ? domain : "");
	cost = edit_distance(s->filter->name, strnlen(s->filter->name, 80), text, len < 80 ? len : 80);
	if (already_named(s, whole))
		return;
	while (at > 0 && (!s->nearest[at - 1].text[0] || cost < s->nearest[at - 1].cost))
		at--;
	if (at == NEAREST_MAX)
		return;
	memmove(&s->nearest[at + 1], &s->nearest[at], (NEAREST_MAX - 1 - at) * sizeof(s->nearest[0]));
	memcpy(s->nearest[at].text, whole, sizeof(whole));
	s->nearest[at].cost = cost;
}

enum { PART_START, PART_END, PART_NAME, PART_FLAGS, PART_END_THREAD, PART_CLASS, PART_COUNT };

static int take_scope_row(struct search *s, const int64_t *track, int64_t *const *parts, uint32_t row)
{
	int open = (parts[PART_FLAGS][row] & SLICE_OPEN) != 0;
	struct scope_range range = { .start = parts[PART_START][row],
				     .end = open ? INT64_MAX : parts[PART_END][row],
				     .process = track[TRACK_PROCESS],
				     .name = parts[PART_NAME][row],
				     .thread = parts[PART_END_THREAD][row] ? 0 : track[TRACK_THREAD] };

	if (track[TRACK_KIND] == TRACK_GENERIC && is_of_gpu(s->q, parts[PART_CLASS][row]))
		return 0;
	if (s->suggesting) {
		suggest(s, track, range.name);
		return 0;
	}
	if (!s->filter)
		return take_step(s, track, &range);
	return is_meant_name(s, range.name) ? add_scope_range(s->found, &range) : 0;
}

static int search_group(struct search *s, size_t group, const int64_t *track)
{
	static const uint8_t columns[] = { COLUMN_SLICE_START, COLUMN_SLICE_END,        COLUMN_SLICE_NAME,
					   COLUMN_SLICE_FLAGS, COLUMN_SLICE_END_THREAD, COLUMN_SLICE_CLASS };
	uint32_t rows = report_group(s->q->report, TABLE_SLICE, group)->rows;
	int64_t *values = malloc((size_t)rows * PART_COUNT * sizeof(*values) + 1), *parts[PART_COUNT];
	int r = values ? 0 : -ENOMEM;

	for (unsigned i = 0; r >= 0 && i < PART_COUNT; i++) {
		parts[i] = values + (size_t)i * rows;
		r = report_column(s->q->report, TABLE_SLICE, group, columns[i], parts[i], NULL);
	}
	for (uint32_t row = 0; r >= 0 && row < rows; row++)
		r = take_scope_row(s, track, parts, row);
	free(values);
	if (r == -EBADMSG) {
		atomic_fetch_add(&s->q->damaged, 1);
		return 0;
	}
	return r;
}

static int search_report(struct search *s)
{
	const int64_t *track;
	int r = 0;

	if (!s->names) {
		s->name_limit = report_string_limit(s->q->report);
		s->names = calloc(s->name_limit + 1, 1);
	}
	if (!s->names)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < report_group_count(s->q->report, TABLE_SLICE); i++) {
		track = index_find(&s->q->index.tracks, report_group(s->q->report, TABLE_SLICE, i)->track);
		if (track_counts(s, track))
			r = search_group(s, i, track);
	}
	return r;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct scope_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void keep_indices(struct scope_ranges *found, const struct number_list *indices)
{
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++)
		if (number_list_has(indices, i))
			found->ranges[kept++] = found->ranges[i];
	found->count = kept;
}

static int say_none(struct search *s, const char *text, struct error *err)
{
	char hint[600] = "";
	size_t len = 0;

	memset(s->names, 0, s->name_limit);
	s->suggesting = 1;
	if (search_report(s) < 0 || !s->nearest[0].text[0])
		return error_set(err, ENOENT, "No range is '%s': the report has no ranges", text);
	for (unsigned i = 0; i < NEAREST_MAX && s->nearest[i].text[0]; i++)
		len += (size_t)snprintf(hint + len, sizeof(hint) - len, "%s'%s'", i ? ", " : "", s->nearest[i].text);
	return error_set(err, ENOENT, "No range is '%s'. The nearest are %s", text, hint);
}

static int select_scope_ranges(struct search *s, const char *text, struct error *err)
{
	size_t all = s->found->count;

	if (all == 0)
		return say_none(s, text, err);
	sort_items(s->found->ranges, all, sizeof(*s->found->ranges), compare_ranges);
	if (s->filter->has_indices)
		keep_indices(s->found, &s->filter->indices);
	if (s->found->count == 0)
		return error_set(err, ENOENT, "Ranges '%s' have the indices 0 to %zu; '%s' selects none", s->filter->name, all - 1, text);
	return 0;
}

static void release_search(struct search *s)
{
	free(s->names);
	free(s->memo);
	group_table_release(&s->families);
}

int scope_find_ranges(struct query *q, const char *text, struct scope_ranges *ret, struct error *err)
{
	struct range_filter filter;
	struct search s = { .q = q, .found = ret, .filter = &filter };
	int r = range_filter_parse(&filter, text, err);

	if (r >= 0) {
		r = search_report(&s);
		r = r < 0 ? error_set(err, -r, "Not enough memory for the ranges of the report") : select_scope_ranges(&s, text, err);
	}
	release_search(&s);
	range_filter_release(&filter);
	return r;
}

/* Steps: numbered ranges come in families; the one is meant that covers most of the main threads' time. */
struct family {
	int64_t main_time;
	int64_t time;
	int is_step;
};

static int is_main_thread(struct query *q, const struct scope_range *range)
{
	const int64_t *process = index_find(&q->index.processes, range->process);
	const int64_t *thread = index_find(&q->index.threads, range->thread);

	return process && thread && process[PROCESS_PID] == thread[THREAD_TID];
}

static int64_t length_of(const struct scope_range *range)
{
	return range->end > range->start && range->end < INT64_MAX ? range->end - range->start : 0;
}

static int64_t add_scope_time(int64_t a, int64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static void measure(struct search *s, struct family *families)
{
	for (size_t i = 0; i < s->found->count; i++) {
		const struct scope_range *range = &s->found->ranges[i];
		struct family *family = &families[range->family];
		struct name_number number;
		size_t len;
		const char *text = query_text(s->q, range->name, &len);

		family->is_step = name_number_find(text, len, &number) && name_is_step(text, number.first);
		family->time = add_scope_time(family->time, length_of(range));
		if (is_main_thread(s->q, range))
			family->main_time = add_scope_time(family->main_time, length_of(range));
	}
}

static int is_better(const struct family *a, const struct family *b)
{
	if (a->is_step != b->is_step)
		return a->is_step;
	if (a->main_time != b->main_time)
		return a->main_time > b->main_time;
	return a->time > b->time;
}

/* The name with N in place of the number, and the numbers there are. */
static void describe_range_family(struct search *s, uint32_t family, char *note, size_t size)
{
	const int64_t domain_id = s->families.groups[family].key[1];
	uint64_t least = UINT64_MAX, largest = 0;
	size_t len = 0, domain_len = 0, steps = 0;
	const char *name = "", *domain = domain_id ? query_text(s->q, domain_id, &domain_len) : NULL;
	struct name_number number = { 0 };

	for (size_t i = 0; i < s->found->count; i++) {
		const struct scope_range *range = &s->found->ranges[i];

		if (range->family != family)
			continue;
		if (steps++ == 0)
			name = query_text(s->q, range->name, &len);
		least = range->number < least ? range->number : least;
		largest = range->number > largest ? range->number : largest;
	}
	name_number_find(name, len, &number);
	snprintf(note, size, "Steps are the %zu ranges '%.*sN%s%.*s', numbered %llu to %llu", steps,
		 (int)(number.first < 100 ? number.first : 100), name, domain ? "@" : "",
		 domain ? (int)(domain_len < 60 ? domain_len : 60) : 0, domain ? domain : "", (unsigned long long)least,
		 (unsigned long long)largest);
}

static void keep_steps(struct search *s, uint32_t family, int main_only, const struct number_list *numbers)
{
	struct scope_ranges *found = s->found;
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++) {
		struct scope_range *range = &found->ranges[i];

		if (range->family != family || !number_list_has(numbers, range->number) || (main_only && !is_main_thread(s->q, range)))
			continue;
		found->ranges[kept++] = *range;
	}
	found->count = kept;
}

static int choose_steps(struct search *s, const char *text, const struct number_list *numbers, char *note, size_t note_size,
			struct error *err)
{
	struct family *families = calloc(s->families.count + 1, sizeof(*families));
	uint32_t best = 0;
	int main_only;

	if (!families)
		return error_set(err, ENOMEM, "Not enough memory for the ranges of the report");
	measure(s, families);
	for (uint32_t i = 1; i < s->families.count; i++)
		if (is_better(&families[i], &families[best]))
			best = i;
	main_only = families[best].main_time > 0;
	free(families);
	if (s->found->count == 0)
		return error_set(err, ENOENT, "No steps were found: the report has no ranges with a number, such as 'step 12'");
	describe_range_family(s, best, note, note_size);
	keep_steps(s, best, main_only, numbers);
	if (s->found->count == 0)
		return error_set(err, ENOENT, "%s; none of them is in '%s'", note, text);
	sort_items(s->found->ranges, s->found->count, sizeof(*s->found->ranges), compare_ranges);
	return 0;
}

int scope_find_steps(struct query *q, const char *text, struct scope_ranges *ret, char *note, size_t note_size, struct error *err)
{
	struct number_list *numbers = malloc(sizeof(*numbers));
	struct search s = { .q = q, .found = ret, .memo = calloc(1, sizeof(*s.memo)) };
	int r = numbers ? number_list_parse(numbers, text, "the steps", err) : error_set(err, ENOMEM, "Not enough memory");

	if (r >= 0) {
		r = search_report(&s);
		r = r < 0 ? error_set(err, -r, "Not enough memory for the ranges of the report") :
			    choose_steps(&s, text, numbers, note, note_size, err);
	}
	/* Everything that goes on in a process during a step is part of it: backward passes run on threads of their own. */
	for (size_t i = 0; i < ret->count; i++)
		ret->ranges[i].thread = 0;
	release_search(&s);
	free(numbers);
	return r;
}

static int is_named_step(struct query *q, const struct scope_range *range)
{
	struct name_number number;
	size_t len;
	const char *text = query_text(q, range->name, &len);

	return text && name_number_find(text, len, &number) && name_is_step(text, number.first);
}

int query_steps(struct query *q, struct query_step **ret, size_t *ret_count)
{
	static const struct number_list all = { .spans = { { 0, UINT64_MAX } }, .count = 1 };
	struct scope_ranges found = { 0 };
	struct search s = { .q = q, .found = &found, .memo = calloc(1, sizeof(*s.memo)) };
	char note[256];
	int r = search_report(&s);

	*ret_count = 0;
	if (r >= 0)
		r = choose_steps(&s, "", &all, note, sizeof(note), NULL);
	*ret = calloc(found.count + 1, sizeof(**ret));
	for (size_t i = 0; r >= 0 && *ret && i < found.count; i++) {
		const struct scope_range *range = &found.ranges[i];

		if (range->end < INT64_MAX && is_named_step(q, range))
			(*ret)[(*ret_count)++] = (struct query_step){ range->start,  range->end,  range->process,
								      range->thread, range->name, range->number };
	}
	release_search(&s);
	free(found.ranges);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return *ret ? 0 : -ENOMEM;
}
