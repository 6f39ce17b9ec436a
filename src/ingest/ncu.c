#include "ingest/ncu.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/input/csv.h"
#include "ingest/rows/number_map.h"
#include "ingest/rows/sink.h"

/* Columns that say which kernel a row is of; all others of the raw page are metrics. */
/* clang-format off */
enum column {
	NCU_ID, NCU_PID, NCU_PROCESS_NAME, NCU_HOST, NCU_KERNEL, NCU_CONTEXT, NCU_STREAM, NCU_BLOCK, NCU_GRID, NCU_DEVICE,
	NCU_CC, NCU_TIME, NCU_PUSHED, NCU_STARTED,
	/* Of the details page. */
	NCU_SECTION, NCU_METRIC, NCU_UNIT, NCU_VALUE, NCU_RULE, NCU_RULE_TYPE, NCU_RULE_TEXT, NCU_GAIN_TYPE, NCU_GAIN,
	NCU_COLUMNS
};

static const char *const column_names[] = {
	"ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device",
	"CC", "Kernel Time", "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
	"Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg", "Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name", "Rule Type",
	"Rule Description", "Estimated Speedup Type", "Estimated Speedup",
};
/* clang-format on */

struct metric {
	uint64_t name, unit; /* string ids; name 0: no metric */
};

struct ncu {
	struct sink sink;
	struct csv csv;
	size_t places[NCU_COLUMNS]; /* + 1; 0: there is none */
	struct metric *metrics;     /* by column */
	size_t width;               /* cells of the heading; 0: none was met */
	int may_be_units;           /* the row behind the heading */
	struct nsys_map processes;  /* pid + 1: uid */
	uint64_t process_count;
	uint64_t result;          /* id of the kernel at hand */
	int64_t number, pid;      /* of it */
	int64_t ranges;           /* NVTX ranges so far */
	uint64_t odd;             /* lines that are no rows */
	char point;               /* of numbers: '.', or ',' where the locale has it so */
	int is_looking;           /* for the point; nothing is written */
	int has_point, has_comma; /* numbers were met that have it so */
	struct ncu_result *reported;
};

static size_t byte_order_mark(const char *text, size_t len)
{
	return len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

int ncu_is_table(const char *text, size_t len)
{
	static const char *const headings[] = { "\"ID\",\"", "ID,Process ID," };
	const char *end = text + len, *next;

	text += byte_order_mark(text, len);
	for (; text < end; text = next) {
		next = memchr(text, '\n', (size_t)(end - text));
		next = next ? next + 1 : end;
		for (unsigned i = 0; i < 2; i++)
			if ((size_t)(end - text) >= strlen(headings[i]) && memcmp(text, headings[i], strlen(headings[i])) == 0)
				return 1;
	}
	return 0;
}

/* Numbers with or without marks between thousands: commas, or points where `point` is a comma. 0: none; 1: whole; 2: other. */
static int parse_ncu_number(const char *text, size_t len, char point, int64_t *ret_whole, double *ret_real)
{
	char plain[64], *end, mark = point == '.' ? ',' : '.';
	size_t n = 0;
	int digits = -1, has_point = 0; /* digits since the last mark; -1: there was none */

	if (len == 0 || len >= sizeof(plain))
		return 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == mark) {
			if (has_point || i == 0 || (digits >= 0 && digits != 3))
				return 0;
			digits = 0;
			continue;
		}
		if (digits >= 0 && !has_point && text[i] != point && ++digits > 3)
			return 0;
		has_point |= text[i] == point;
		if (text[i] != point && !strchr("0123456789+-eE", text[i]))
			return 0;
		plain[n++] = text[i] == point ? '.' : text[i];
	}
	if (digits >= 0 && digits != 3)
		return 0;
	plain[n] = '\0';
	errno = 0;
	*ret_whole = strtoll(plain, &end, 10);
	if (!*end && end != plain && errno == 0)
		return 1;
	*ret_real = strtod(plain, &end);
	return !*end && end != plain && isfinite(*ret_real) ? 2 : 0;
}

static const struct csv_cell *get_ncu_cell(const struct ncu *n, enum column column)
{
	static const struct csv_cell none = { "", 0 };

	return n->places[column] && n->places[column] <= n->csv.count ? &n->csv.cells[n->places[column] - 1] : &none;
}

static uint64_t intern_ncu_cell(struct ncu *n, const struct csv_cell *c)
{
	return c->len ? report_string(n->sink.writer, c->text, c->len) : 0;
}

static int put_ncu_number(const struct csv_cell *c, int64_t *values, uint32_t *present, unsigned column)
{
	double real;

	if (parse_ncu_number(c->text, c->len, '.', &values[column], &real) != 1)
		return 0;
	*present |= SINK_BIT(column);
	return 1;
}

static void put_ncu_text(struct ncu *n, const struct csv_cell *c, int64_t *values, uint32_t *present, unsigned column)
{
	values[column] = (int64_t)intern_ncu_cell(n, c);
	*present |= values[column] ? SINK_BIT(column) : 0;
}

/* "(256, 1, 1)" or "256, 1, 1" */
static void put_ncu_triple(const struct csv_cell *c, int64_t *values, uint32_t *present, unsigned column)
{
	const char *at = c->text + (c->text[0] == '(');
	char *end;

	for (unsigned i = 0; i < 3; i++, at = end + (*end == ',')) {
		errno = 0;
		values[column + i] = strtoll(at, &end, 10);
		if (end == at || errno)
			return;
		*present |= SINK_BIT(column + i);
	}
}

static uint64_t find_ncu_process(struct ncu *n)
{
	int64_t v[TABLE_MAX_COLUMNS], pid;
	uint32_t present = 0;
	uint64_t uid;

	if (!put_ncu_number(get_ncu_cell(n, NCU_PID), v, &present, COLUMN_PROCESS_PID))
		return 0;
	pid = v[COLUMN_PROCESS_PID];
	uid = nsys_map_find(&n->processes, pid);
	if (uid)
		return uid;
	uid = ++n->process_count;
	if (nsys_map_put(&n->processes, pid, uid) < 0)
		n->sink.result = -ENOMEM;
	v[COLUMN_PROCESS_UID] = (int64_t)uid;
	v[COLUMN_PROCESS_INNER_PID] = pid;
	v[COLUMN_PROCESS_START] = 0;
	v[COLUMN_PROCESS_ORIGIN] = 0;
	put_ncu_text(n, get_ncu_cell(n, NCU_PROCESS_NAME), v, &present, COLUMN_PROCESS_NAME);
	sink_row(&n->sink, TABLE_PROCESS, v,
		 present | SINK_BIT(COLUMN_PROCESS_UID) | SINK_BIT(COLUMN_PROCESS_INNER_PID) | SINK_BIT(COLUMN_PROCESS_START) |
			 SINK_BIT(COLUMN_PROCESS_ORIGIN));
	return uid;
}

#define RANGE_FIELDS 6 /* behind a range's name */
#define DEFAULT_DOMAIN "<default domain>"

static void range_row(struct ncu *n, enum kernel_metric_kind kind, int64_t thread, const char *domain, size_t domain_len, const char *name,
		      size_t name_len)
{
	uint32_t present = SINK_BIT(COLUMN_KERNEL_METRIC_RESULT) | SINK_BIT(COLUMN_KERNEL_METRIC_KIND) |
			   SINK_BIT(COLUMN_KERNEL_METRIC_INSTANCE) | SINK_BIT(COLUMN_KERNEL_METRIC_TEXT);
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };

	v[COLUMN_KERNEL_METRIC_RESULT] = (int64_t)n->result;
	v[COLUMN_KERNEL_METRIC_KIND] = kind;
	v[COLUMN_KERNEL_METRIC_INSTANCE] = n->ranges++;
	v[COLUMN_KERNEL_METRIC_TEXT] = (int64_t)report_string(n->sink.writer, name, name_len);
	v[COLUMN_KERNEL_METRIC_INTEGER] = thread;
	present |= kind == KERNEL_METRIC_PUSHED ? SINK_BIT(COLUMN_KERNEL_METRIC_INTEGER) : 0;
	if (domain_len && (domain_len != strlen(DEFAULT_DOMAIN) || memcmp(domain, DEFAULT_DOMAIN, domain_len) != 0)) {
		v[COLUMN_KERNEL_METRIC_NAME] = (int64_t)report_string(n->sink.writer, domain, domain_len);
		present |= SINK_BIT(COLUMN_KERNEL_METRIC_NAME);
	}
	sink_row(&n->sink, TABLE_KERNEL_METRIC, v, present);
}

/* domain:name:none:none:none:none:none:none, where the name may have colons. */
static void put_ncu_range(struct ncu *n, enum kernel_metric_kind kind, int64_t thread, const char *text, const char *end)
{
	const char *colon = memchr(text, ':', (size_t)(end - text)), *name_end = end;

	for (int i = 0; i < RANGE_FIELDS && name_end; i++)
		name_end = memrchr(text, ':', (size_t)(name_end - text));
	if (colon && name_end && name_end > colon)
		range_row(n, kind, thread, text, (size_t)(colon - text), colon + 1, (size_t)(name_end - colon - 1));
}

/* Texts in quotes: of pushed ranges behind the number of the thread, of started ones each with a number and a colon. */
static void put_ncu_ranges(struct ncu *n, const struct csv_cell *c, enum kernel_metric_kind kind)
{
	const char *end = c->text + c->len, *at = memchr(c->text, '"', c->len), *close, *colon;
	int64_t thread = strtoll(c->text, NULL, 10);

	while (at && at + 1 < end) {
		close = memmem(at + 1, (size_t)(end - at - 1), "\" ", 2);
		close = close ? close : end[-1] == '"' && end - 1 > at ? end - 1 : end;
		colon = kind == KERNEL_METRIC_STARTED ? memchr(at + 1, ':', (size_t)(close - at - 1)) : at;
		if (colon)
			put_ncu_range(n, kind, thread, colon + 1, close);
		at = close < end ? memchr(close + 1, '"', (size_t)(end - close - 1)) : NULL;
	}
}

static void begin_result(struct ncu *n)
{
	uint32_t present = SINK_BIT(COLUMN_KERNEL_RESULT_ID) | SINK_BIT(COLUMN_KERNEL_RESULT_NUMBER);
	uint64_t process = find_ncu_process(n);
	int64_t v[TABLE_MAX_COLUMNS];
	const char *point;
	char *end;

	v[COLUMN_KERNEL_RESULT_ID] = (int64_t)++n->result;
	v[COLUMN_KERNEL_RESULT_NUMBER] = n->number;
	v[COLUMN_KERNEL_RESULT_PROCESS] = (int64_t)process;
	present |= process ? SINK_BIT(COLUMN_KERNEL_RESULT_PROCESS) : 0;
	put_ncu_text(n, get_ncu_cell(n, NCU_HOST), v, &present, COLUMN_KERNEL_RESULT_HOST);
	put_ncu_text(n, get_ncu_cell(n, NCU_KERNEL), v, &present, COLUMN_KERNEL_RESULT_NAME);
	put_ncu_number(get_ncu_cell(n, NCU_CONTEXT), v, &present, COLUMN_KERNEL_RESULT_CONTEXT);
	put_ncu_number(get_ncu_cell(n, NCU_STREAM), v, &present, COLUMN_KERNEL_RESULT_STREAM);
	put_ncu_number(get_ncu_cell(n, NCU_DEVICE), v, &present, COLUMN_KERNEL_RESULT_DEVICE);
	put_ncu_triple(get_ncu_cell(n, NCU_GRID), v, &present, COLUMN_KERNEL_RESULT_GRID_X);
	put_ncu_triple(get_ncu_cell(n, NCU_BLOCK), v, &present, COLUMN_KERNEL_RESULT_BLOCK_X);
	point = strchr(get_ncu_cell(n, NCU_CC)->text, '.');
	if (point) {
		v[COLUMN_KERNEL_RESULT_MAJOR] = strtol(get_ncu_cell(n, NCU_CC)->text, &end, 10);
		v[COLUMN_KERNEL_RESULT_MINOR] = strtol(point + 1, NULL, 10);
		present |= end == point ? SINK_BIT(COLUMN_KERNEL_RESULT_MAJOR) | SINK_BIT(COLUMN_KERNEL_RESULT_MINOR) : 0;
	}
	sink_row(&n->sink, TABLE_KERNEL_RESULT, v, present);
	put_ncu_ranges(n, get_ncu_cell(n, NCU_PUSHED), KERNEL_METRIC_PUSHED);
	put_ncu_ranges(n, get_ncu_cell(n, NCU_STARTED), KERNEL_METRIC_STARTED);
	n->reported->kernels++;
}

static void put_ncu_value(struct ncu *n, int64_t *v, uint32_t *present, const char *text, size_t len)
{
	int64_t whole;
	double real;
	int kind = parse_ncu_number(text, len, n->point, &whole, &real);

	if (kind == 1) {
		v[COLUMN_KERNEL_METRIC_INTEGER] = whole;
		*present |= SINK_BIT(COLUMN_KERNEL_METRIC_INTEGER);
	} else if (kind == 2) {
		memcpy(&v[COLUMN_KERNEL_METRIC_REAL], &real, sizeof(real));
		*present |= SINK_BIT(COLUMN_KERNEL_METRIC_REAL);
	} else if (len) {
		v[COLUMN_KERNEL_METRIC_TEXT] = (int64_t)report_string(n->sink.writer, text, len);
		*present |= SINK_BIT(COLUMN_KERNEL_METRIC_TEXT);
	}
}

static void trim(const char **text, size_t *len)
{
	while (*len && **text == ' ')
		(*text)++, (*len)--;
	while (*len && (*text)[*len - 1] == ' ')
		(*len)--;
}

/* "12 (3; 9)" or "12 (0: 3; 1: 9)": where the list begins; 0: there is none. */
static size_t instances_of(const char *text, size_t len, char point)
{
	const char *open = len && text[len - 1] == ')' ? memchr(text, '(', len) : NULL;
	int64_t whole;
	double real;
	size_t before;

	if (!open || open == text)
		return 0;
	before = (size_t)(open - text);
	trim(&text, &before);
	return parse_ncu_number(text, before, point, &whole, &real) ? (size_t)(open - text) + 1 : 0;
}

static void put_instances(struct ncu *n, const int64_t *of, uint32_t shared, const char *text, size_t len)
{
	const char *end = text + len, *next, *value, *colon;
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;
	size_t rest;

	memcpy(v, of, sizeof(v));
	for (int64_t i = 0; text < end; i++, text = next) {
		next = memchr(text, ';', (size_t)(end - text));
		rest = (size_t)((next ? next : end) - text);
		next = next ? next + 1 : end;
		present = shared | SINK_BIT(COLUMN_KERNEL_METRIC_INSTANCE);
		v[COLUMN_KERNEL_METRIC_INSTANCE] = i;
		value = text;
		colon = memrchr(text, ':', rest);
		if (colon) {
			size_t label_len = (size_t)(colon - text);

			trim(&value, &label_len);
			v[COLUMN_KERNEL_METRIC_LABEL] = (int64_t)report_string(n->sink.writer, value, label_len);
			present |= SINK_BIT(COLUMN_KERNEL_METRIC_LABEL);
			rest -= (size_t)(colon + 1 - text);
			value = colon + 1;
		}
		trim(&value, &rest);
		put_ncu_value(n, v, &present, value, rest);
		sink_row(&n->sink, TABLE_KERNEL_METRIC, v, present);
	}
}

static void put_metric(struct ncu *n, uint64_t section, uint64_t name, uint64_t unit, const struct csv_cell *c)
{
	uint32_t shared = SINK_BIT(COLUMN_KERNEL_METRIC_RESULT) | SINK_BIT(COLUMN_KERNEL_METRIC_KIND) | SINK_BIT(COLUMN_KERNEL_METRIC_NAME),
		 present;
	size_t list = instances_of(c->text, c->len, n->point), len = list ? list - 1 : c->len;
	const char *text = c->text;
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };

	v[COLUMN_KERNEL_METRIC_RESULT] = (int64_t)n->result;
	v[COLUMN_KERNEL_METRIC_KIND] = KERNEL_METRIC_VALUE;
	v[COLUMN_KERNEL_METRIC_SECTION] = (int64_t)section;
	v[COLUMN_KERNEL_METRIC_NAME] = (int64_t)name;
	v[COLUMN_KERNEL_METRIC_UNIT] = (int64_t)unit;
	shared |= section ? SINK_BIT(COLUMN_KERNEL_METRIC_SECTION) : 0;
	shared |= unit ? SINK_BIT(COLUMN_KERNEL_METRIC_UNIT) : 0;
	present = shared;
	trim(&text, &len);
	put_ncu_value(n, v, &present, text, len);
	sink_row(&n->sink, TABLE_KERNEL_METRIC, v, present);
	if (list)
		put_instances(n, v, shared, c->text + list, c->len - list - 1);
}

static void put_rule(struct ncu *n)
{
	uint32_t present = SINK_BIT(COLUMN_KERNEL_METRIC_RESULT) | SINK_BIT(COLUMN_KERNEL_METRIC_KIND);
	int64_t v[TABLE_MAX_COLUMNS] = { 0 }, whole;
	double gain;
	int kind = parse_ncu_number(get_ncu_cell(n, NCU_GAIN)->text, get_ncu_cell(n, NCU_GAIN)->len, n->point, &whole, &gain);

	v[COLUMN_KERNEL_METRIC_RESULT] = (int64_t)n->result;
	v[COLUMN_KERNEL_METRIC_KIND] = KERNEL_METRIC_RULE;
	put_ncu_text(n, get_ncu_cell(n, NCU_SECTION), v, &present, COLUMN_KERNEL_METRIC_SECTION);
	put_ncu_text(n, get_ncu_cell(n, NCU_RULE), v, &present, COLUMN_KERNEL_METRIC_NAME);
	put_ncu_text(n, get_ncu_cell(n, NCU_RULE_TYPE), v, &present, COLUMN_KERNEL_METRIC_LABEL);
	put_ncu_text(n, get_ncu_cell(n, NCU_RULE_TEXT), v, &present, COLUMN_KERNEL_METRIC_TEXT);
	put_ncu_text(n, get_ncu_cell(n, NCU_GAIN_TYPE), v, &present, COLUMN_KERNEL_METRIC_UNIT);
	if (kind) {
		gain = kind == 1 ? (double)whole : gain;
		memcpy(&v[COLUMN_KERNEL_METRIC_REAL], &gain, sizeof(gain));
		present |= SINK_BIT(COLUMN_KERNEL_METRIC_REAL);
	}
	sink_row(&n->sink, TABLE_KERNEL_METRIC, v, present);
}

static int read_heading(struct ncu *n)
{
	struct csv *c = &n->csv;
	unsigned known;

	memset(n->places, 0, sizeof(n->places));
	free(n->metrics);
	n->metrics = calloc(c->count, sizeof(*n->metrics));
	if (!n->metrics)
		return -ENOMEM;
	n->width = c->count;
	n->may_be_units = 1;
	n->pid = n->number = -1;
	for (size_t i = 0; i < c->count; i++) {
		for (known = 0; known < NCU_COLUMNS && strcmp(c->cells[i].text, column_names[known]) != 0; known++)
			;
		if (known < NCU_COLUMNS)
			n->places[known] = i + 1;
		else
			n->metrics[i].name = intern_ncu_cell(n, &c->cells[i]);
	}
	return 0;
}

static void read_units(struct ncu *n)
{
	for (size_t i = 0; i < n->csv.count && i < n->width; i++)
		n->metrics[i].unit = intern_ncu_cell(n, &n->csv.cells[i]);
}

static void raw_row(struct ncu *n)
{
	for (size_t i = 0; i < n->csv.count && i < n->width && !n->sink.result; i++)
		if (n->metrics[i].name)
			put_metric(n, 0, n->metrics[i].name, n->metrics[i].unit, &n->csv.cells[i]);
}

static void details_row(struct ncu *n)
{
	if (get_ncu_cell(n, NCU_METRIC)->len)
		put_metric(n, intern_ncu_cell(n, get_ncu_cell(n, NCU_SECTION)), intern_ncu_cell(n, get_ncu_cell(n, NCU_METRIC)),
			   intern_ncu_cell(n, get_ncu_cell(n, NCU_UNIT)), get_ncu_cell(n, NCU_VALUE));
	if (get_ncu_cell(n, NCU_RULE)->len)
		put_rule(n);
}

/* ncu ends a row of the details page that is no rule's behind its value. */
static int has_all_cells(const struct ncu *n)
{
	return n->csv.count == n->width ||
	       (n->places[NCU_METRIC] && n->places[NCU_VALUE] && n->csv.count < n->width && n->csv.count >= n->places[NCU_VALUE]);
}

/* "12.345" may be twelve and a bit or twelve thousand: only numbers that can be read in one way tell. */
static void look_at_numbers(struct ncu *n)
{
	const struct csv_cell *c = n->csv.cells;
	int64_t whole;
	double real;
	int by_point, by_comma;

	for (size_t i = 0; i < n->csv.count && i < n->width; i++) {
		if (!n->metrics[i].name && i + 1 != n->places[NCU_VALUE])
			continue;
		by_point = parse_ncu_number(c[i].text, c[i].len, '.', &whole, &real) != 0;
		by_comma = parse_ncu_number(c[i].text, c[i].len, ',', &whole, &real) != 0;
		n->has_point |= by_point && !by_comma;
		n->has_comma |= by_comma && !by_point;
	}
}

/* One row per kernel, or, on the details page, rows of one kernel behind each other. */
static void take_ncu_row(struct ncu *n)
{
	int64_t number, pid = -1;
	double real;

	if (n->may_be_units && n->csv.count == n->width && !get_ncu_cell(n, NCU_ID)->len) {
		read_units(n);
		n->may_be_units = 0;
		return;
	}
	n->may_be_units = 0;
	if (!has_all_cells(n) || parse_ncu_number(get_ncu_cell(n, NCU_ID)->text, get_ncu_cell(n, NCU_ID)->len, '.', &number, &real) != 1) {
		n->odd += n->csv.count > 1 || n->csv.cells[0].len > 0;
		return;
	}
	if (n->is_looking) {
		look_at_numbers(n);
		return;
	}
	parse_ncu_number(get_ncu_cell(n, NCU_PID)->text, get_ncu_cell(n, NCU_PID)->len, '.', &pid, &real);
	if (!n->places[NCU_METRIC] || number != n->number || pid != n->pid) {
		n->number = number;
		n->pid = pid;
		begin_result(n);
	}
	if (n->places[NCU_METRIC])
		details_row(n);
	else
		raw_row(n);
}

/* What ncu and the program print may stand before, between and behind the rows. */
static int is_chatter(const struct ncu *n)
{
	const struct csv *c = &n->csv;
	size_t left = (size_t)(c->end - c->at);

	if (left >= 2 && memcmp(c->at, "==", 2) == 0)
		return 1;
	if (n->width || (left >= 5 && memcmp(c->at, "\"ID\",", 5) == 0) || (left >= 3 && memcmp(c->at, "ID,", 3) == 0))
		return 0;
	return 1;
}

/* "12", or "" before units, or another heading. A quote in what a program prints would else take the rows behind it. */
static int begins_row(const struct csv *c)
{
	const char *at = c->at, *end = c->end;
	int is_quoted = *at == '"';

	at += is_quoted;
	if (end - at >= 2 && memcmp(at, "ID", 2) == 0)
		at += 2;
	while (at < end && (strchr("0123456789", *at) || (is_quoted && *at == ',')) && *at)
		at++;
	return at + is_quoted < end && (!is_quoted || *at++ == '"') && *at == ',';
}

static int read_ncu_table(struct ncu *n)
{
	int r = 0;

	while (r >= 0 && !n->sink.result && !(n->is_looking && n->has_point)) {
		if (n->csv.at < n->csv.end && is_chatter(n)) {
			csv_skip_line(&n->csv);
			continue;
		}
		if (n->csv.at < n->csv.end && !begins_row(&n->csv)) {
			n->odd += !strchr("\r\n", *n->csv.at);
			csv_skip_line(&n->csv);
			continue;
		}
		r = csv_next(&n->csv);
		if (r <= 0)
			break;
		if (n->csv.count > 1 && strcmp(n->csv.cells[0].text, "ID") == 0)
			r = read_heading(n);
		else
			take_ncu_row(n);
	}
	return r;
}

static void finish_ncu_report(struct ncu *n)
{
	sink_meta(&n->sink, "sonde_version", SONDE_VERSION);
	sink_meta(&n->sink, "imported", "ncu-csv");
	if (n->csv.trouble) {
		n->reported->trouble = n->csv.trouble;
	} else if (!n->width) {
		n->reported->trouble = "it has no header line of a table of ncu ('ncu --csv --page raw' writes one)";
	}
	n->reported->line = n->csv.line;
	if (n->reported->trouble)
		sink_diagnose(&n->sink, 3, "Line %zu: %s. What comes before is in this report, the rest is not.", n->reported->line,
			      n->reported->trouble);
	if (n->odd)
		sink_diagnose(&n->sink, 2, "%llu lines between the rows are not rows of the table and are left out.",
			      (unsigned long long)n->odd);
	sink_finish(&n->sink);
}

static void find_point(struct ncu *n, const char *text, size_t len)
{
	n->is_looking = 1;
	csv_begin(&n->csv, text, len);
	read_ncu_table(n);
	csv_release(&n->csv);
	n->is_looking = 0;
	n->point = n->has_comma && !n->has_point ? ',' : '.';
	n->width = n->odd = 0;
}

int ncu_import(const char *text, size_t len, struct report_writer *writer, struct ncu_result *ret, struct error *err)
{
	struct ncu n = { .reported = ret, .pid = -1, .number = -1 };
	size_t mark = byte_order_mark(text, len);
	int r;

	*ret = (struct ncu_result){ 0 };
	text += mark;
	len -= mark;
	sink_begin(&n.sink, writer);
	find_point(&n, text, len);
	csv_begin(&n.csv, text, len);
	r = read_ncu_table(&n);
	if (r == -ENOMEM)
		n.sink.result = r;
	if (!n.sink.result)
		finish_ncu_report(&n);
	r = n.sink.result;
	free(n.metrics);
	nsys_map_release(&n.processes);
	csv_release(&n.csv);
	sink_release(&n.sink);
	return r < 0 ? error_set_errno(err, -r, "The report cannot be written") : 0;
}
