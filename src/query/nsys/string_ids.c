/* StringIds: the strings of the report by their ids, found directly; but those that only describe the recording (sonde_meta).
 * Contents of captured output streams are blobs; they have ids above those of the strings. So have texts of the reader
 * and places in code that have no name: what is shown for them is made here. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/engine/function.h"
#include "query/internal.h"
#include "query/index/stack_tree.h"
#include "query/engine/view_values.h"

/* Joins ask for the same few names again and again: those found last are at hand. A power of two. */
#define TEXTS_AT_HAND 64u

/* Numbers in rising order. */
struct id_set {
	uint64_t *ids;
	size_t count, cap;
};

struct string_vtab {
	struct function_vtab function;
	struct id_set apart;   /* strings that are left out */
	struct id_set outputs; /* ids of contents */
};

struct found_text {
	uint64_t id;
	const char *text;
	size_t len;
};

struct string_cursor {
	sqlite3_vtab_cursor base;
	struct found_text found[TEXTS_AT_HAND];
	uint64_t id;
	uint64_t end; /* one past the last id to show */
	int by_id;    /* only one is asked for */
	int at_end;
	size_t output;   /* contents come behind the strings, */
	int then_labels; /* then texts of the reader, then places in code */
	int then_places;
	int by_value; /* only those with this text */
	struct buf value;
	const char *text; /* of the current one */
	size_t len;
	struct buf place; /* holds it when it was made */
};

enum { STRING_ALL, STRING_BY_ID, STRING_BY_VALUE };

const char *query_text(struct query *q, int64_t id, size_t *ret_len)
{
	const char *word = view_word_text(id);

	if (word) {
		*ret_len = strlen(word);
		return word;
	}
	return id >= STRING_ID_MADE ? cuda_made_text(q->index.cuda, id, ret_len) : report_text(q->report, (uint64_t)id, ret_len);
}

static int add_id(struct id_set *set, uint64_t id)
{
	if (!ARRAY_ROOM(set->ids, set->count, set->cap, 1))
		return -ENOMEM;
	set->ids[set->count++] = id;
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int has_id(const struct id_set *set, uint64_t id)
{
	return set->count && bsearch(&id, set->ids, set->count, sizeof(id), compare_ids) != NULL;
}

static int take_meta_ids(void *context, const int64_t *values, uint32_t present)
{
	struct id_set *apart = context;
	int r = 0;

	if (!(present >> COLUMN_META_APART & 1) || values[COLUMN_META_APART] != 1)
		return 0;
	if (present >> COLUMN_META_KEY & 1)
		r = add_id(apart, (uint64_t)values[COLUMN_META_KEY]);
	if (r >= 0 && present >> COLUMN_META_VALUE & 1)
		r = add_id(apart, (uint64_t)values[COLUMN_META_VALUE]);
	return r;
}

static int take_output(void *context, const int64_t *values, uint32_t present)
{
	struct string_vtab *v = context;

	if (!(present >> COLUMN_OUTPUT_STREAM_BLOB & 1))
		return 0;
	return add_id(&v->outputs, report_string_limit(v->function.q->report) + (uint64_t)values[COLUMN_OUTPUT_STREAM_BLOB]);
}

static void sort_set(struct id_set *set)
{
	size_t kept = 0;

	if (set->count)
		qsort(set->ids, set->count, sizeof(*set->ids), compare_ids);
	for (size_t i = 0; i < set->count; i++)
		if (i == 0 || set->ids[i] != set->ids[i - 1])
			set->ids[kept++] = set->ids[i];
	set->count = kept;
}

/* 0, or -ENOMEM; what is damaged is told of where it is shown. */
static int load_sets(struct string_vtab *v)
{
	struct report *report = v->function.q->report;
	int r = report_each_row(report, TABLE_META, COLUMN_META_APART + 1, take_meta_ids, &v->apart);

	if (r != -ENOMEM)
		r = report_each_row(report, TABLE_OUTPUT_STREAM, COLUMN_OUTPUT_STREAM_BLOB + 1, take_output, v);
	sort_set(&v->apart);
	sort_set(&v->outputs);
	return r == -ENOMEM ? r : 0;
}

static int string_disconnect(sqlite3_vtab *base)
{
	struct string_vtab *v = (struct string_vtab *)base;

	free(v->apart.ids);
	free(v->outputs.ids);
	return vtab_disconnect(base);
}

static int string_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	char *declaration = nsys_declaration(NSYS_StringIds, "x");
	int r = declaration ? vtab_connect(db, declaration, sizeof(struct string_vtab), ret) : SQLITE_NOMEM;

	sqlite3_free(declaration);
	if (r != SQLITE_OK)
		return r;
	((struct function_vtab *)*ret)->q = aux;
	if (load_sets((struct string_vtab *)*ret) >= 0)
		return SQLITE_OK;
	string_disconnect(*ret);
	*ret = NULL;
	return SQLITE_NOMEM;
}

static int is_text_wanted(sqlite3_index_info *info, int i)
{
	return info->aConstraint[i].usable && info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ && info->aConstraint[i].iColumn == 1 &&
	       !sqlite3_vtab_in(info, i, -1) && sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
}

static int string_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct query *q = ((struct function_vtab *)base)->q;
	double rows = (double)report_string_limit(q->report);

	for (int i = 0; i < info->nConstraint; i++) {
		if (!info->aConstraint[i].usable || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ ||
		    info->aConstraint[i].iColumn > 0)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->aConstraintUsage[i].omit = 1;
		info->idxNum = STRING_BY_ID;
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
		info->estimatedRows = 1;
		info->estimatedCost = 1;
		return SQLITE_OK;
	}
	info->idxNum = STRING_ALL;
	info->estimatedRows = (sqlite3_int64)rows;
	info->estimatedCost = rows + 10;
	for (int i = 0; i < info->nConstraint && info->idxNum == STRING_ALL; i++) {
		if (!is_text_wanted(info, i))
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->idxNum = STRING_BY_VALUE;
		info->estimatedRows = 1;
		info->estimatedCost = rows / 2 + 10; /* all are compared, but here */
	}
	/* Ids come in order. */
	info->orderByConsumed = info->nOrderBy == 1 && info->aOrderBy[0].iColumn <= 0 && !info->aOrderBy[0].desc;
	return SQLITE_OK;
}

static int string_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	return cursor_open(ret, sizeof(struct string_cursor));
}

static int string_close(sqlite3_vtab_cursor *base)
{
	buf_release(&((struct string_cursor *)base)->place);
	buf_release(&((struct string_cursor *)base)->value);
	free(base);
	return SQLITE_OK;
}

static struct query *query_of(sqlite3_vtab_cursor *base)
{
	return ((struct function_vtab *)base->pVtab)->q;
}

static const char *place_text(struct string_cursor *c, size_t *ret_len)
{
	struct query *q = query_of(&c->base);
	struct stack_tree *tree;

	buf_clear(&c->place);
	if (report_row_count(q->report, TABLE_FRAME) == 0 || stack_tree_of(q, &tree) < 0 ||
	    code_string_text(q, tree, (int64_t)c->id, &c->place) <= 0)
		return NULL;
	*ret_len = c->place.len;
	return buf_cstr(&c->place);
}

static const char *get_string_text(struct string_cursor *c, size_t *ret_len)
{
	const struct string_vtab *v = (const struct string_vtab *)c->base.pVtab;
	struct query *q = v->function.q;
	uint64_t limit = report_string_limit(q->report);

	if (has_id(&v->apart, c->id))
		return NULL;
	if (c->id < limit || (c->id >= (uint64_t)STRING_ID_MADE && c->id < (uint64_t)STRING_ID_VIEW))
		return query_text(q, (int64_t)c->id, ret_len);
	if (c->id >= (uint64_t)STRING_ID_FRAME)
		return place_text(c, ret_len);
	return has_id(&v->outputs, c->id) ? report_blob_data(q->report, c->id - limit, ret_len) : NULL;
}

static int begin_places(struct string_cursor *c)
{
	struct query *q = query_of(&c->base);
	struct stack_tree *tree;

	if (!c->then_places || report_row_count(q->report, TABLE_FRAME) == 0 || stack_tree_of(q, &tree) < 0)
		return 0;
	c->then_places = 0;
	c->id = (uint64_t)STRING_ID_FRAME;
	c->end = c->id + tree->function_count;
	return 1;
}

static int begin_output(struct string_cursor *c)
{
	const struct id_set *outputs = &((const struct string_vtab *)c->base.pVtab)->outputs;

	if (c->output == outputs->count)
		return 0;
	c->id = outputs->ids[c->output++];
	c->end = c->id + 1;
	return 1;
}

static int begin_labels(struct string_cursor *c)
{
	if (!c->then_labels)
		return 0;
	c->then_labels = 0;
	c->id = (uint64_t)STRING_ID_MADE;
	c->end = (uint64_t)cuda_made_end(query_of(&c->base)->index.cuda);
	return 1;
}

static int is_shown_string(struct string_cursor *c)
{
	c->text = get_string_text(c, &c->len);
	return c->text && (!c->by_value || (c->len == c->value.len && (c->len == 0 || memcmp(c->text, c->value.data, c->len) == 0)));
}

static void skip_others(struct string_cursor *c)
{
	do {
		while (c->id < c->end && !is_shown_string(c))
			c->id++;
	} while (c->id >= c->end && (begin_output(c) || begin_labels(c) || begin_places(c)));
	c->at_end = c->id >= c->end;
}

static void find_one(struct string_cursor *c, sqlite3_value *id)
{
	struct found_text *found;

	c->at_end = 1;
	if (sqlite3_value_numeric_type(id) != SQLITE_INTEGER || sqlite3_value_int64(id) < 0)
		return;
	c->id = (uint64_t)sqlite3_value_int64(id);
	found = &c->found[c->id % TEXTS_AT_HAND];
	if (!found->text || found->id != c->id) {
		found->text = get_string_text(c, &found->len);
		found->id = c->id;
	}
	c->text = found->text;
	c->len = found->len;
	c->at_end = !c->text;
	/* One that was made is gone with the next. */
	if (c->id >= (uint64_t)STRING_ID_FRAME)
		found->text = NULL;
}

/* What is not a text is left to SQLite. 0, or -ENOMEM. */
static int take_string_value(struct string_cursor *c, sqlite3_value *value)
{
	const void *text;

	c->by_value = sqlite3_value_type(value) == SQLITE_TEXT;
	buf_clear(&c->value);
	if (!c->by_value)
		return 0;
	text = sqlite3_value_text(value);
	return text ? buf_append(&c->value, text, (size_t)sqlite3_value_bytes(value)) : -ENOMEM;
}

static int string_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct string_cursor *c = (struct string_cursor *)base;

	c->by_id = plan == STRING_BY_ID;
	if (c->by_id) {
		find_one(c, argv[0]);
		return SQLITE_OK;
	}
	c->by_value = 0;
	if (plan == STRING_BY_VALUE && take_string_value(c, argv[0]) < 0)
		return SQLITE_NOMEM;
	c->id = 0;
	c->end = report_string_limit(query_of(base)->report);
	c->output = 0;
	c->then_labels = c->then_places = 1;
	skip_others(c);
	return SQLITE_OK;
}

static int string_next(sqlite3_vtab_cursor *base)
{
	struct string_cursor *c = (struct string_cursor *)base;

	if (c->by_id) {
		c->at_end = 1;
		return SQLITE_OK;
	}
	c->id++;
	skip_others(c);
	return SQLITE_OK;
}

static int string_eof(sqlite3_vtab_cursor *base)
{
	return ((struct string_cursor *)base)->at_end;
}

static int string_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct string_cursor *c = (struct string_cursor *)base;

	if (column == 0)
		sqlite3_result_int64(context, (sqlite3_int64)c->id);
	else if (c->len <= INT_MAX)
		sqlite3_result_text(context, c->text, (int)c->len, c->text == c->place.data ? SQLITE_TRANSIENT : SQLITE_STATIC);
	return SQLITE_OK;
}

static int string_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = (sqlite3_int64)((struct string_cursor *)base)->id;
	return SQLITE_OK;
}

/* clang-format off */
const sqlite3_module string_ids_module = {
	.iVersion = 1, .xCreate = string_connect, .xConnect = string_connect, .xBestIndex = string_best_index,
	.xDisconnect = string_disconnect, .xDestroy = string_disconnect, .xOpen = string_open,
	.xClose = string_close, .xFilter = string_filter, .xNext = string_next, .xEof = string_eof,
	.xColumn = string_column, .xRowid = string_rowid,
};
/* clang-format on */

static const char *strings_name(struct query *q, unsigned i)
{
	return i == 0 ? nsys_declared[NSYS_StringIds].name : NULL;
}

static int make_strings(struct query *q, unsigned i)
{
	return listed_create(q, report_string_limit(q->report) > 1, strings_name(q, 0), "sonde_strings");
}

const struct listed_family string_family = { strings_name, make_strings };
