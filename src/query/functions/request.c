#include "query/functions/request.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/text/nearest.h"
#include "query/engine/call_values.h"
#include "query/index/stack_tree.h"
#include "query/engine/view_values.h"

static int unknown_table(struct query *q, const char *name, struct error *err)
{
	struct nearest nearest;
	char hint[160];

	nearest_begin(&nearest, name);
	for (unsigned i = 0; i < mapped_table_count; i++)
		nearest_offer(&nearest, mapped_tables[i].name, strlen(mapped_tables[i].name));
	for (unsigned i = 0; i < q->natives.count; i++)
		nearest_offer(&nearest, q->natives.tables[i].name, strlen(q->natives.tables[i].name));
	for (unsigned i = 0; i < call_table_count; i++)
		nearest_offer(&nearest, call_tables[i]->name, strlen(call_tables[i]->name));
	for (unsigned i = 0; i < view_table_count; i++)
		nearest_offer(&nearest, view_tables[i]->name, strlen(view_tables[i]->name));
	return error_set(err, EINVAL, "There is no table '%s'.%s", name, nearest_hint(&nearest, "", hint, sizeof(hint)));
}

int request_column(const struct mapped_table *table, const char *name, size_t len, struct error *err)
{
	struct nearest nearest;
	char word[64], hint[160];
	int column;

	if (len >= sizeof(word))
		len = sizeof(word) - 1;
	memcpy(word, name, len);
	word[len] = '\0';
	column = mapped_column_find(table, word);
	if (column >= 0)
		return column;
	nearest_begin(&nearest, word);
	for (unsigned i = 0; i < table->column_count; i++) {
		const char *known = table->columns[i].short_name ? table->columns[i].short_name : table->columns[i].name;

		nearest_offer(&nearest, known, strlen(known));
	}
	return error_set(err, EINVAL, "%s has no column '%s'.%s", table->name, word, nearest_hint(&nearest, "", hint, sizeof(hint)));
}

static int parse_keys(struct request *request, const char *keys, struct error *err)
{
	size_t len;
	int column;

	while (*keys) {
		keys += strspn(keys, " ,");
		len = strcspn(keys, " ,");
		if (len == 0)
			break;
		if (request->key_count == REQUEST_MAX_KEYS)
			return error_set(err, EINVAL, "At most %d key columns can be given", REQUEST_MAX_KEYS);
		column = request_column(request->table, keys, len - (keys[len - 1] == '#'), err);
		if (column < 0)
			return column;
		request->folded |= (uint8_t)((keys[len - 1] == '#') << request->key_count);
		request->keys[request->key_count++] = (uint8_t)column;
		keys += len;
	}
	return 0;
}

static int parse_comparison(const char **text)
{
	static const struct {
		const char *sign;
		enum comparison comparison;
	} signs[] = {
		{ "<=", COMPARE_LE }, { ">=", COMPARE_GE }, { "!=", COMPARE_NE }, { "<>", COMPARE_NE },
		{ "==", COMPARE_EQ }, { "=", COMPARE_EQ },  { "<", COMPARE_LT },  { ">", COMPARE_GT },
	};

	*text += strspn(*text, " ");
	for (size_t i = 0; i < COUNT_OF(signs); i++)
		if (strncmp(*text, signs[i].sign, strlen(signs[i].sign)) == 0) {
			*text += strlen(signs[i].sign);
			return signs[i].comparison;
		}
	return -1;
}

static int parse_condition(struct request *request, const char **text, struct error *err)
{
	size_t len = strcspn(*text, " <>=!");
	struct condition c;
	const char *begin = *text;
	char *end;
	int found = request_column(request->table, *text, len, err);

	if (found < 0)
		return found;
	if (strncmp(request->table->columns[found].declaration, "INTEGER", 7) != 0)
		return error_set(err, EINVAL, "The filter compares numbers; column %s has none", request->table->columns[found].name);
	c.column = (uint8_t)found;
	*text += len;
	found = parse_comparison(text);
	c.comparison = (uint8_t)found;
	errno = 0;
	c.value = strtoll(*text, &end, 0);
	if (found < 0 || end == *text || errno)
		return error_set(err, EINVAL, "Cannot read the filter at '%s': write column op number, joined by 'and'", begin);
	*text = end;
	request->conditions[request->condition_count++] = c;
	return 0;
}

int request_parse_filter(struct request *request, const char *filter, struct error *err)
{
	request->condition_count = 0;
	for (; filter && *filter;) {
		filter += strspn(filter, " ,");
		if (strncasecmp(filter, "and ", 4) == 0)
			filter += 4;
		filter += strspn(filter, " ");
		if (!*filter)
			break;
		if (request->condition_count == SCAN_MAX_CONDITIONS)
			return error_set(err, EINVAL, "The filter has too many conditions");
		TRY(parse_condition(request, &filter, err));
	}
	return 0;
}

int request_parse(struct request *ret, struct query *q, const char *table, const char *keys, const char *filter, struct error *err)
{
	struct stack_tree *ignored;

	memset(ret, 0, sizeof(*ret));
	if (!table)
		return error_set(err, EINVAL, "No table was named");
	ret->table = query_table(q, table);
	if (!ret->table)
		return unknown_table(q, table, err);
	if (ret->table->shows_frames && stack_tree_of(q, &ignored) < 0)
		return error_set(err, ENOMEM, "Not enough memory for the frames of the report");
	TRY(parse_keys(ret, keys ? keys : "", err));
	return request_parse_filter(ret, filter, err);
}

uint64_t request_group_count(const struct request *request, struct query *q)
{
	uint64_t group_count = 0;

	for (unsigned i = 0; i < request->table->source_count; i++)
		group_count += report_group_count(q->report, request->table->sources[i].table);
	return group_count;
}

void request_group(const struct request *request, struct query *q, uint64_t nth, unsigned *ret_source, size_t *ret_group)
{
	unsigned source = 0;
	uint64_t groups = report_group_count(q->report, request->table->sources[0].table);

	while (nth >= groups) {
		nth -= groups;
		groups = report_group_count(q->report, request->table->sources[++source].table);
	}
	*ret_source = source;
	*ret_group = (size_t)nth;
}

int request_needs_row_check(const struct scan *s)
{
	const struct mapped_source *source = &s->table->sources[s->source];
	uint8_t convert;

	if (source->filter != FILTER_NONE || s->q->scope)
		return 1;
	for (unsigned i = 0; i < s->condition_count; i++) {
		convert = mapped_cell(s->table, s->source, s->conditions[i].column)->convert;
		if (convert != CONVERT_CONSTANT && convert < CONVERT_TRACK)
			return 1;
	}
	return 0;
}
