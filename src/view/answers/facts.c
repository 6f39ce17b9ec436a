/* /api/session, /api/diagnostics, /api/findings: small tables of the report. */
#include <errno.h>

#include "base/cleanup.h"
#include "view/request/routes.h"
#include "view/internal.h"
#include "view/request/json_out.h"
#include "view/events/event.h"
#include "view/answers/statistics.h"

/* A page shows no more, and a report may have any number of rows with long texts. */
#define MOST_TEXT (16u << 20)

struct facts {
	struct view_report *r;
	struct json_out j;
	report_row_fn take;
	size_t most;       /* bytes of the answer behind which a list has no more rows */
	uint64_t left_out; /* rows of lists */
};

static void put_fact_text(struct facts *f, int64_t id)
{
	size_t len = 0;
	const char *text = id > 0 ? view_report_text(f->r, (uint64_t)id, &len) : NULL;

	out_text(&f->j, text, len);
}

static void put_text_of(struct facts *f, const char *key, int64_t id)
{
	out_key(&f->j, key);
	put_fact_text(f, id);
}

static void put_time(struct facts *f, const char *key, int64_t time, bool known)
{
	out_key(&f->j, key);
	if (known)
		out_exact(&f->j, time);
	else
		out_null(&f->j);
}

/* The row of a thread, else of a process. */
static void put_row_of(struct facts *f, int64_t thread, int64_t process)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < f->r->row_count; i++) {
		const struct row *row = &f->r->rows[i];

		if (thread && row->kind == ROW_THREAD && row->uid == thread)
			found = i;
		if (process && found == SIZE_MAX && row->kind == ROW_PROCESS && row->uid == process)
			found = i;
	}
	if (found != SIZE_MAX)
		out_put_integer(&f->j, "row", (int64_t)found);
}

static int put_meta_fact(void *context, const int64_t *v, uint32_t present)
{
	struct facts *f = context;

	out_open(&f->j, '[');
	put_fact_text(f, v[COLUMN_META_KEY]);
	put_fact_text(f, v[COLUMN_META_VALUE]);
	out_close(&f->j, ']');
	return f->j.r;
}

static int take_process(void *context, const int64_t *v, uint32_t present)
{
	struct facts *f = context;

	out_open(&f->j, '{');
	out_put_integer(&f->j, "pid", v[COLUMN_PROCESS_PID]);
	put_text_of(f, "name", v[COLUMN_PROCESS_NAME]);
	put_text_of(f, "command", v[COLUMN_PROCESS_CMDLINE]);
	put_time(f, "start", v[COLUMN_PROCESS_START], present >> COLUMN_PROCESS_START & 1);
	put_time(f, "end", v[COLUMN_PROCESS_END], present >> COLUMN_PROCESS_END & 1);
	put_row_of(f, 0, v[COLUMN_PROCESS_UID]);
	out_close(&f->j, '}');
	return f->j.r;
}

/* What the program has printed, as far as it was kept. */
static int take_output(void *context, const int64_t *v, uint32_t present)
{
	struct facts *f = context;
	size_t len = 0;
	const void *data;

	pthread_mutex_lock(&f->r->text_lock);
	data = report_blob_data(f->r->report, (uint64_t)v[COLUMN_OUTPUT_STREAM_BLOB], &len);
	pthread_mutex_unlock(&f->r->text_lock);
	out_open(&f->j, '{');
	put_text_of(f, "name", v[COLUMN_OUTPUT_STREAM_NAME]);
	out_key(&f->j, "text");
	out_text(&f->j, data, len);
	out_close(&f->j, '}');
	return f->j.r;
}

static int take_diagnostic(void *context, const int64_t *v, uint32_t present)
{
	static const char *const sources[] = { "", "agent", "recorder", "reader" };
	struct facts *f = context;

	out_open(&f->j, '{');
	put_time(f, "time", v[COLUMN_DIAGNOSTIC_TIME], present >> COLUMN_DIAGNOSTIC_TIME & 1);
	out_put_integer(&f->j, "severity", v[COLUMN_DIAGNOSTIC_SEVERITY]);
	out_put_text(&f->j, "source", sources[v[COLUMN_DIAGNOSTIC_SOURCE] & 3]);
	put_text_of(f, "text", v[COLUMN_DIAGNOSTIC_TEXT]);
	put_row_of(f, 0, v[COLUMN_DIAGNOSTIC_PROCESS]);
	out_close(&f->j, '}');
	return f->j.r;
}

static int take_loss(void *context, const int64_t *v, uint32_t present)
{
	struct facts *f = context;

	out_open(&f->j, '{');
	put_time(f, "time", v[COLUMN_LOSS_TIME], present >> COLUMN_LOSS_TIME & 1);
	out_put_integer(&f->j, "reason", v[COLUMN_LOSS_REASON]);
	out_put_integer(&f->j, "count", v[COLUMN_LOSS_COUNT]);
	put_row_of(f, v[COLUMN_LOSS_THREAD], v[COLUMN_LOSS_PROCESS]);
	out_close(&f->j, '}');
	return f->j.r;
}

static int take_finding(void *context, const int64_t *v, uint32_t present)
{
	struct facts *f = context;

	out_open(&f->j, '{');
	put_text_of(f, "rule", v[COLUMN_FINDING_RULE]);
	out_put_integer(&f->j, "severity", v[COLUMN_FINDING_SEVERITY]);
	put_time(f, "start", v[COLUMN_FINDING_START], present >> COLUMN_FINDING_START & 1);
	put_time(f, "end", v[COLUMN_FINDING_END], present >> COLUMN_FINDING_END & 1);
	put_time(f, "gain", v[COLUMN_FINDING_GAIN], present >> COLUMN_FINDING_GAIN & 1);
	put_text_of(f, "title", v[COLUMN_FINDING_TITLE]);
	put_text_of(f, "text", v[COLUMN_FINDING_TEXT]);
	put_row_of(f, v[COLUMN_FINDING_THREAD], v[COLUMN_FINDING_PROCESS]);
	out_close(&f->j, '}');
	return f->j.r;
}

static int take_some(void *context, const int64_t *v, uint32_t present)
{
	struct facts *f = context;

	f->left_out += f->j.out->len > f->most;
	return f->j.out->len > f->most ? 0 : f->take(f, v, present);
}

static void put_facts_of_table(struct facts *f, const char *key, enum table_id table, report_row_fn take)
{
	int r;

	out_key(&f->j, key);
	out_open(&f->j, '[');
	f->take = take;
	f->most = f->j.out->len + MOST_TEXT;
	r = report_each_row(f->r->report, table, table_schema(table)->column_count, take_some, f);
	f->j.r = f->j.r < 0 ? f->j.r : r == -ENOMEM ? r : 0;
	out_close(&f->j, ']');
}

static int begin_facts(struct facts *f, struct view *v, struct params *p, struct answer *a, struct error *err)
{
	TRY(view_asked_report(v, p, &f->r, err));
	TRY(params_all_used(p, err));
	f->left_out = 0;
	out_begin(&f->j, &a->body);
	out_open(&f->j, '{');
	return 0;
}

static int finish_facts(struct facts *f)
{
	if (f->left_out)
		out_put_integer(&f->j, "left_out", (int64_t)f->left_out);
	out_close(&f->j, '}');
	return f->j.r;
}

int answer_session(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	struct facts f;

	TRY(begin_facts(&f, v, p, a, err));
	put_facts_of_table(&f, "facts", TABLE_META, put_meta_fact);
	put_facts_of_table(&f, "processes", TABLE_PROCESS, take_process);
	put_facts_of_table(&f, "output", TABLE_OUTPUT_STREAM, take_output);
	return finish_facts(&f);
}

int answer_diagnostics(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	struct facts f;

	TRY(begin_facts(&f, v, p, a, err));
	put_facts_of_table(&f, "diagnostics", TABLE_DIAGNOSTIC, take_diagnostic);
	put_facts_of_table(&f, "losses", TABLE_LOSS, take_loss);
	return finish_facts(&f);
}

int answer_findings(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	struct view_report *report;
	int64_t from, to;
	struct facts f;

	TRY(view_asked_report(v, p, &report, err));
	TRY(param_times(p, report, &from, &to, err));
	TRY(begin_facts(&f, v, p, a, err));
	put_facts_of_table(&f, "findings", TABLE_FINDING, take_finding);
	if (report_row_count(f.r->report, TABLE_FINDING) == 0)
		TRY(stats_put_instead(&f.j, f.r, from, to, err));
	return finish_facts(&f);
}
