#include "export/redact/redact.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/idmap.h"
#include "base/text/json_text.h"
#include "base/macros.h"
#include "export/redact/text.h"
#include "fmt/tables.h"

#define REDACTED "redacted"
#define MOST_TEXTS (UINT64_C(1) << 32)

struct redaction {
	struct report *report;
	struct redactor *redactor;
	uint8_t *roles; /* enum text_role of each string id */
	uint64_t limit;
	struct idmap dropped_blobs;
	struct buf text, blob;
	struct report_part by_time;
	int failed;
};

static enum text_role role_of(const struct column_schema *column)
{
	return column->roles & ROLE_WORD    ? TEXT_KEPT :
	       column->roles & ROLE_HOST    ? TEXT_HOST :
	       column->roles & ROLE_PATH    ? TEXT_PATH :
	       column->roles & ROLE_COMMAND ? TEXT_LINE :
	       column->roles & ROLE_PROSE   ? TEXT_PROSE :
	       column->roles & ROLE_INLINED ? TEXT_INLINED :
					      TEXT_NAME;
}

/* Facts that are left out: a path or the environment, in Sonde's words or nsys's. */
static bool drops_fact(const char *key)
{
	static const char *const parts[] = { "environment", "ENVIRONMENT", "WORKING_DIR", "SYSTEM_ENV", "EXPORT_USER", "_PATH", "_FILE" };

	for (size_t i = 0; i < COUNT_OF(parts); i++)
		if (strstr(key, parts[i]))
			return true;
	return strcmp(key, "cwd") == 0 || strcmp(key, "output") == 0 || strcmp(key, "CAPTURE_OUTPUT") == 0 || strcmp(key, REDACTED) == 0;
}

static enum text_role role_of_fact(const char *key)
{
	if (drops_fact(key))
		return TEXT_UNUSED;
	if (strcmp(key, "command") == 0 || strcmp(key, "command_line") == 0)
		return TEXT_WORDS;
	return strcmp(key, "host") == 0 || strcasestr(key, "hostname") || strcmp(key, "EXPORT_HOST") == 0 ? TEXT_HOST : TEXT_PROSE;
}

static const char *get_report_text(struct redaction *x, int64_t id)
{
	const char *text = report_text(x->report, (uint64_t)id, NULL);

	return text ? text : "";
}

/* A text with several uses is treated as the strictest of them asks for. */
static void use_text(struct redaction *x, int64_t id, enum text_role role)
{
	if ((uint64_t)id < x->limit && x->roles[id] < role)
		x->roles[id] = (uint8_t)role;
}

static int take_fact(void *context, const int64_t *v, uint32_t present)
{
	struct redaction *x = context;

	if (!(present >> COLUMN_META_KEY & 1) || drops_fact(get_report_text(x, v[COLUMN_META_KEY])))
		return 0;
	use_text(x, v[COLUMN_META_KEY], TEXT_KEPT);
	if (present >> COLUMN_META_VALUE & 1)
		use_text(x, v[COLUMN_META_VALUE], role_of_fact(get_report_text(x, v[COLUMN_META_KEY])));
	return 0;
}

static bool drops_table(unsigned table)
{
	return table == TABLE_OUTPUT_STREAM || table == TABLE_KERNEL_FILE;
}

static int take_column(struct redaction *x, const struct table_schema *schema, size_t group, unsigned column, int64_t *values,
		       uint8_t *nulls)
{
	const struct report_group *g = report_group(x->report, schema->id, group);
	enum text_role role = role_of(&schema->columns[column]);
	int r;

	if (!(g->present >> column & 1))
		return 0;
	r = report_column(x->report, schema->id, group, column, values, nulls);
	for (uint32_t i = 0; r == 0 && i < g->rows; i++)
		if (!nulls[i])
			use_text(x, values[i], role);
	return r == -EBADMSG ? 0 : r;
}

/* Which text is used as what. */
static int take_table(struct redaction *x, const struct table_schema *schema)
{
	uint32_t most = 0;
	int64_t *values;
	uint8_t *nulls;
	int r = 0;

	for (size_t i = 0; i < report_group_count(x->report, schema->id); i++)
		most = report_group(x->report, schema->id, i)->rows > most ? report_group(x->report, schema->id, i)->rows : most;
	if (!most)
		return 0;
	values = calloc(most, sizeof(*values));
	nulls = calloc(most, 1);
	for (unsigned c = 0; values && nulls && r == 0 && c < schema->column_count; c++)
		for (size_t i = 0; schema->columns[c].type == COLUMN_TYPE_STR && r == 0 && i < report_group_count(x->report, schema->id);
		     i++)
			r = take_column(x, schema, i, c, values, nulls);
	r = values && nulls ? r : -ENOMEM;
	free(values);
	free(nulls);
	return r;
}

static int take_roles(struct redaction *x)
{
	int r = report_each_row(x->report, TABLE_META, COLUMN_META_VALUE + 1, take_fact, x);

	for (unsigned table = 1; table < TABLE_ID_LIMIT && r == 0; table++) {
		const struct table_schema *schema = table_schema(table);

		if (schema && table != TABLE_META && table != TABLE_LOD && !drops_table(table))
			r = take_table(x, schema);
	}
	return r;
}

/* The home of a path below /home, and whose it is. */
static int add_home(struct redaction *x, const char *path)
{
	static const char *const tops[] = { "/home/", "/Users/" };
	char home[256];

	for (size_t i = 0; i < COUNT_OF(tops); i++) {
		size_t top = strlen(tops[i]), name = strcspn(path + (strncmp(path, tops[i], top) == 0 ? top : strlen(path)), "/");

		if (name == 0 || top + name >= sizeof(home))
			continue;
		memcpy(home, path, top + name);
		home[top + name] = '\0';
		TRY(redactor_add_user(x->redactor, home + top));
		return redactor_add_folder(x->redactor, home);
	}
	return 0;
}

static int add_own_folder(struct redaction *x, const char *path, bool of_user)
{
	const char *slash = strrchr(path, '/');
	int r = redactor_add_folder(x->redactor, path);

	return r < 0 || !of_user || !slash ? r : redactor_add_user(x->redactor, slash + 1);
}

static int add_variable(struct redaction *x, const char *variable)
{
	const char *value = strchr(variable, '=');
	size_t name = value ? (size_t)(value - variable) : 0;

	if (!value)
		return 0;
	if ((name == 4 && strncmp(variable, "HOME", 4) == 0))
		return add_own_folder(x, value + 1, true);
	if ((name == 4 && strncmp(variable, "USER", 4) == 0) || (name == 7 && strncmp(variable, "LOGNAME", 7) == 0))
		return redactor_add_user(x->redactor, value + 1);
	if (name == 8 && strncmp(variable, "HOSTNAME", 8) == 0)
		return redactor_add_host(x->redactor, value + 1);
	return name == 3 && strncmp(variable, "PWD", 3) == 0 ? add_own_folder(x, value + 1, false) : 0;
}

static int add_environment(struct redaction *x, const char *list)
{
	struct buf variable = BUF_INIT;
	int r = 0;

	while (r >= 0 && (list = json_next_text(list, &variable)))
		r = add_variable(x, buf_cstr(&variable));
	buf_release(&variable);
	return r;
}

/* The folder that a file lies in. */
static int add_folder_of(struct redaction *x, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash && slash > path ? strndup(path, (size_t)(slash - path)) : NULL;
	int r = folder ? redactor_add_folder(x->redactor, folder) : 0;

	free(folder);
	return r;
}

static int take_private_fact(void *context, const int64_t *v, uint32_t present)
{
	struct redaction *x = context;
	const char *key = get_report_text(x, v[COLUMN_META_KEY]), *value = get_report_text(x, v[COLUMN_META_VALUE]);

	if (!(present >> COLUMN_META_VALUE & 1))
		return 0;
	if (strcmp(key, "environment") == 0)
		return add_environment(x, value);
	if (strcmp(key, "cwd") == 0 || strstr(key, "WORKING_DIR"))
		return add_own_folder(x, value, false);
	if (strcmp(key, "output") == 0)
		return add_folder_of(x, value);
	if (strstr(key, "EXPORT_USER"))
		return redactor_add_user(x->redactor, value);
	if (strstr(key, "ENVIRONMENT_VARIABLE"))
		return add_variable(x, value);
	return 0;
}

/* What is to be replaced in all texts. */
static int take_words(struct redaction *x)
{
	int r = report_each_row(x->report, TABLE_META, COLUMN_META_VALUE + 1, take_private_fact, x);

	for (uint64_t id = 1; id < x->limit && r == 0; id++) {
		if (x->roles[id] == TEXT_HOST)
			r = redactor_add_host(x->redactor, get_report_text(x, (int64_t)id));
		else if (x->roles[id] == TEXT_PATH)
			r = add_home(x, get_report_text(x, (int64_t)id));
	}
	return r;
}

static bool keeps_redacted_event(void *context, int64_t start, int64_t end)
{
	const struct redaction *x = context;

	return x->by_time.keeps(x->by_time.context, start, end);
}

static bool keeps_redacted_row(void *context, enum table_id table, int64_t *values, uint32_t present)
{
	struct redaction *x = context;

	if (table == TABLE_META)
		return !(present >> COLUMN_META_KEY & 1) || !drops_fact(get_report_text(x, values[COLUMN_META_KEY]));
	return !drops_table(table);
}

static int drop_blob(struct redaction *x, int64_t id)
{
	return idmap_put(&x->dropped_blobs, (uint64_t)id, 1);
}

static int drop_output(void *context, const int64_t *v, uint32_t present)
{
	return present >> COLUMN_OUTPUT_STREAM_BLOB & 1 ? drop_blob(context, v[COLUMN_OUTPUT_STREAM_BLOB]) : 0;
}

static int drop_source(void *context, const int64_t *v, uint32_t present)
{
	return present >> COLUMN_KERNEL_FILE_TEXT & 1 ? drop_blob(context, v[COLUMN_KERNEL_FILE_TEXT]) : 0;
}

static bool keeps_blob(void *context, uint64_t id)
{
	const struct redaction *x = context;

	return idmap_get(&x->dropped_blobs, id) == IDMAP_NONE;
}

static const char *new_text(void *context, uint64_t id, const char *text, size_t *size)
{
	struct redaction *x = context;
	enum text_role role = id < x->limit ? (enum text_role)x->roles[id] : TEXT_UNUSED;
	int r;

	if (role == TEXT_UNUSED)
		return NULL;
	buf_clear(&x->text);
	r = redactor_text(x->redactor, role, text, *size, &x->text);
	if (r < 0) {
		x->failed = r;
		return NULL;
	}
	*size = x->text.len;
	return buf_cstr(&x->text);
}

static const void *new_blob(void *context, uint64_t id, const void *data, size_t size)
{
	struct redaction *x = context;

	(void)id;
	buf_clear(&x->blob);
	if (buf_append(&x->blob, data, size) < 0) {
		x->failed = -ENOMEM;
		return NULL;
	}
	redactor_blob(x->redactor, x->blob.data, size);
	return x->blob.data;
}

/* Says of itself what it is. */
static int add_kept_rows(void *context, struct report_writer *w)
{
	const int64_t values[] = { (int64_t)report_string(w, REDACTED, strlen(REDACTED)), (int64_t)report_string(w, "1", 1), 1, 1 };
	struct report_track *facts = report_track(w, TABLE_META, 0);

	(void)context;
	return facts && values[0] && values[1] ? report_append(facts, values, 15) : -ENOMEM;
}

bool is_redacted(struct report *r)
{
	return report_meta(r, REDACTED) != NULL;
}

static int look_through(struct redaction *x)
{
	TRY(take_roles(x));
	TRY(take_words(x));
	TRY(report_each_row(x->report, TABLE_OUTPUT_STREAM, COLUMN_OUTPUT_STREAM_BLOB + 1, drop_output, x));
	return report_each_row(x->report, TABLE_KERNEL_FILE, COLUMN_KERNEL_FILE_TEXT + 1, drop_source, x);
}

int redaction_begin(struct redaction **ret, struct report *r, struct report_part *part, struct error *err)
{
	struct redaction *x = calloc(1, sizeof(*x));
	int rc = -ENOMEM;

	if (x) {
		x->report = r;
		x->limit = report_string_limit(r);
		x->redactor = redactor_new();
		x->roles = x->limit < MOST_TEXTS ? calloc(x->limit, 1) : NULL;
	}
	if (x && x->redactor && x->roles)
		rc = look_through(x);
	if (rc < 0) {
		redaction_end(x);
		return error_set_errno(err, -rc, "The report cannot be read");
	}
	x->by_time = *part;
	part->keeps = keeps_redacted_event;
	part->keeps_row = keeps_redacted_row;
	part->keeps_blob = keeps_blob;
	part->new_text = new_text;
	part->new_blob = new_blob;
	part->adds = add_kept_rows;
	part->context = x;
	*ret = x;
	return 0;
}

int redaction_end(struct redaction *x)
{
	int failed = x ? x->failed : 0;

	if (!x)
		return 0;
	redactor_free(x->redactor);
	free(x->roles);
	idmap_release(&x->dropped_blobs);
	buf_release(&x->text);
	buf_release(&x->blob);
	free(x);
	return failed;
}
