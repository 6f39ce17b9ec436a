#include "stats/has_data.h"

#include <stdio.h>
#include <string.h>

#include "query/slice_class.h"

#define OF_CLASS "class "
#define OWN_TABLE "sonde_"
#define OF_RANGE "range "

/* The next of "A | B"; false behind the last. */
static bool next_of(const char **at, char *ret, size_t size)
{
	size_t len;

	*at += strspn(*at, " |");
	len = strcspn(*at, "|");
	if (len == 0)
		return false;
	snprintf(ret, size, "%.*s", (int)len, *at);
	*at += len;
	for (len = strlen(ret); len > 0 && ret[len - 1] == ' '; len--)
		ret[len - 1] = '\0';
	return true;
}

/* Our own tables can be asked even where they have no rows. */
static bool has_rows(struct query *q, const struct table_schema *table)
{
	const struct report *r = query_report(q);

	return report_group_count(r, table->id) + report_absent_count(r, table->id) > 0;
}

static bool has_required_data(struct query *q, const char *what)
{
	const struct table_schema *own = NULL;

	if (strncmp(what, OF_CLASS, strlen(OF_CLASS)) == 0)
		return query_has_class(q, what + strlen(OF_CLASS));
	if (strncmp(what, OF_RANGE, strlen(OF_RANGE)) == 0)
		return query_has_range(q, what + strlen(OF_RANGE));
	if (strncmp(what, OWN_TABLE, strlen(OWN_TABLE)) == 0)
		own = table_schema_by_name(what + strlen(OWN_TABLE));
	return own ? has_rows(q, own) : query_has_table(q, what);
}

bool report_file_has_data(const struct report_file *file, struct query *q)
{
	const char *at = file->requires ? file->requires : "";
	bool any = false, found = false;
	char what[128];

	while (!found && next_of(&at, what, sizeof(what))) {
		any = true;
		found = has_required_data(q, what);
	}
	return found || !any;
}

bool report_file_is_of_imports(const struct report_file *file)
{
	const char *at = file->requires ? file->requires : "";
	bool any = false;
	char what[128];

	while (next_of(&at, what, sizeof(what))) {
		any = true;
		if (strncmp(what, OF_CLASS, strlen(OF_CLASS)) != 0)
			return false;
	}
	return any;
}
